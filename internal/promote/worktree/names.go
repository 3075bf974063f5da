package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// ErrRefused is something in a repository or at a path that is not read or written. Trying again does not change it.
var ErrRefused = errors.New("refused")

// Reserved reports whether a part of a path is the name of Git's own data on some file system: ".git" in any case, with dots or spaces behind it, with
// characters that are ignored or folded, as a stream of NTFS or by its short name.
func Reserved(part string) bool {
	for piece := range strings.FieldsFuncSeq(part, func(r rune) bool { return r == '\\' || r == '/' }) {
		piece, _, _ = strings.Cut(visible(norm.NFKC.String(piece)), ":")
		piece = strings.TrimRight(piece, ". ")
		if strings.EqualFold(piece, ".git") || len(piece) > 4 && strings.EqualFold(piece[:4], "git~") {
			return true
		}
	}
	return false
}

// visible is a name without the characters that some file systems ignore.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, name)
}

// folded is the same for names that are one name on a file system which ignores case.
func folded(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(visible(name))))
}

// Straight refuses a path below a root of which a part is a symbolic link, the last one included. What is not there has no links.
func Straight(root *os.Root, name string) error {
	at := ""
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%w: %q is a symbolic link, and nothing is read or written through one", ErrRefused, at)
		}
	}
	return nil
}

// valid refuses the name of an entry of a repository that is not the name of a file.
func valid(name, at string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%w: %q is not the name of a file", ErrRefused, at)
	case Reserved(name):
		return fmt.Errorf("%w: %q has a part that is Git's own", ErrRefused, at)
	case len(at) > maxPath:
		return fmt.Errorf("%w: the path %q... has more than %d bytes", ErrRefused, at[:64], maxPath)
	}
	return nil
}
