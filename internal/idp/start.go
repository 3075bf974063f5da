package idp

import (
	"os"
	"path/filepath"
	"strings"
)

// start is where an input is read: a directory, and the files in it where these are known.
type start struct {
	dir   string
	files []string
}

// startOf finds where an input is read. A directory that has manifests and no file, with a file of its name beside it, is the package of that
// file, as programs of typed charts and cdk8s write it.
func startOf(input Input) start {
	switch input.Kind {
	case File:
		return start{filepath.Dir(input.Path), []string{input.Path}}
	case URL:
		return packageAt(filepath.Join(input.Path, filepath.FromSlash(input.Remote.Path)))
	default:
		return packageAt(filepath.Clean(input.Path))
	}
}

func packageAt(dir string) start {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return start{dir: dir}
	}
	has := false
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".yaml" || ext == ".yml" {
			return start{dir: dir}
		}
		has = has || (e.IsDir() && e.Name() == manifests)
	}
	if !has {
		return start{dir: dir}
	}
	for _, ext := range []string{".yaml", ".yml"} {
		beside := strings.TrimSuffix(dir, string(filepath.Separator)) + ext
		if info, err := os.Lstat(beside); err == nil && info.Mode().IsRegular() {
			return start{filepath.Dir(dir), []string{beside}}
		}
	}
	return start{dir: dir}
}
