package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// template is the program of a new module. It is a package of this module too, so that it is compiled, checked and tested with the SDK.
//
//go:embed all:template
var template embed.FS

// moduleFile and moduleSums are the go.mod and the go.sum of a module that uses the SDK as the template does. A test compares them with
// what Go makes of the template, and writes them with -update.
var (
	//go:embed module.mod
	moduleFile []byte
	//go:embed module.sum
	moduleSums []byte
)

// placeholder is the path of the module in the template.
const placeholder = "example.com/charts"

// Module are the files of a new module with a path, for a copy of the SDK or for the published one.
func Module(module string, copied bool) ([]File, error) {
	var files []File
	err := fs.WalkDir(template, "template", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(template, name)
		data = bytes.ReplaceAll(data, []byte(placeholder), []byte(module))
		files = append(files, File{Name: target(strings.TrimPrefix(name, "template/")), Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	if !copied {
		return append(files, File{Name: "go.mod", Data: fmt.Appendf(nil, "module %s\n\n%s\n", module, goLine())}), nil
	}
	return append(files,
		File{Name: "go.mod", Data: bytes.Replace(moduleFile, []byte(placeholder), []byte(module), 1)},
		File{Name: "go.sum", Data: moduleSums},
	), nil
}

// target is the name of a file of the template in a module: those that begin with a dot lie here under a name without it, so that they mean
// nothing here.
func target(name string) string {
	if dir, base := path.Split(name); strings.HasPrefix(base, "dot.") {
		return dir + strings.TrimPrefix(base, "dot")
	}
	return name
}

// goLine is the line of the go.mod that says which Go is needed.
func goLine() string {
	for line := range strings.Lines(string(moduleFile)) {
		if strings.HasPrefix(line, "go ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
