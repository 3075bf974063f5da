package idp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// credentials are what is before the host in something like a URL.
var credentials = regexp.MustCompile(`//.*@`)

// Find makes an Input of a value of --package: a remote package, a directory or a regular file, in this order. Remote packages have no
// path yet. The error names what the value may be.
func Find(argument string) (Input, error) {
	remote, notRemote := ParseRemote(argument)
	if notRemote == nil {
		return Input{Argument: remote.String(), Kind: URL, Remote: remote}, nil
	}
	if !errors.Is(notRemote, ErrNotRemote) {
		return Input{}, notRemote
	}
	if strings.Contains(argument, "://") {
		return Input{}, fmt.Errorf("finding the package %q: %w", credentials.ReplaceAllString(argument, "//***@"), notRemote)
	}
	at, err := filepath.Abs(argument)
	if err != nil {
		return Input{}, fmt.Errorf("finding the package %q: %w", argument, err)
	}
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Input{}, fmt.Errorf("finding the package %q: there is no such directory or file; %w", argument, notRemote)
	case err != nil:
		return Input{}, fmt.Errorf("finding the package %q: %w", argument, err)
	case info.IsDir():
		return Input{Argument: argument, Kind: Directory, Path: at}, nil
	case info.Mode().IsRegular():
		return Input{Argument: argument, Kind: File, Path: at}, nil
	}
	return Input{}, fmt.Errorf("finding the package %q: it is neither a directory nor a regular file", argument)
}
