package scaffold

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	_ "embed"
)

// requirements is the go.mod of the copy: what the SDK needs of the modules that this one requires, at the versions which it is
// built with. A test compares it with go.mod, and writes it with -update.
//
//go:embed sdk.mod
var requirements []byte

// about is a file in the copy that says what it is.
const about = `This directory is a copy of the chart SDK of Headgate %s, which go.mod uses instead of
github.com/headgate-dev/headgate. Do not edit it: "headgate init chart --update" writes it again.

Once the module is published, the copy is not needed any more: delete it and the replace in go.mod, then run
"go get github.com/headgate-dev/headgate@latest".
`

// SDK are the files of a copy of the SDK from its source: the packages without their tests, and a go.mod with only what they need.
func SDK(source fs.FS, version string) ([]File, error) {
	files := []File{
		{Name: "README", Data: fmt.Appendf(nil, about, version)},
		{Name: "go.mod", Data: requirements},
	}
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path.Base(name) == "testdata":
			return fs.SkipDir
		case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := fs.ReadFile(source, name)
		files = append(files, File{Name: name, Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("copying the SDK: %w", err)
	}
	return files, nil
}
