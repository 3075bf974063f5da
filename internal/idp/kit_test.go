package idp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lay writes files below a new directory. A content that begins with -> is the target of a symbolic link, and a name that ends with a slash is that of
// a directory.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, is := strings.CutPrefix(content, "->"); is {
			err = os.Symlink(filepath.FromSlash(target), at)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(at, 0o750)
		} else {
			err = os.WriteFile(at, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// app is a file of an Application with this spec, and appSet one of an ApplicationSet.
func app(name, spec string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec: " + spec + "\n"
}

func appSet(name, spec string) string {
	return strings.Replace(app(name, spec), "kind: Application", "kind: ApplicationSet", 1)
}

// one is the spec of an Application with one source.
func one(address string) string { return `{source: {repoURL: "` + address + `", path: .}}` }

// inputs are the arguments below a directory.
func inputs(t *testing.T, dir string, arguments ...string) []Input {
	t.Helper()
	var all []Input
	for _, argument := range arguments {
		input, err := Find(filepath.Join(dir, filepath.FromSlash(argument)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, input)
	}
	return all
}

// shown is a result in short: packages with their directories, what is overridden, and problems, without the directory of the test.
func shown(r Result, dir string) (packages, overridden, problems []string) {
	relative := func(text string) string {
		return filepath.ToSlash(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
	}
	for _, p := range r.Packages {
		text := p.Name + ":"
		for _, one := range p.Repositories {
			text += " " + one.Name + "=" + relative(one.path())
		}
		packages = append(packages, text)
	}
	for _, o := range r.Overridden {
		overridden = append(overridden, relative(o.Package.File)+" by "+relative(o.By))
	}
	for _, p := range r.Problems {
		problems = append(problems, relative(p.Error()))
	}
	return packages, overridden, problems
}
