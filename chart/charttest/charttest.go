// Package charttest tests descriptions: it synthesizes an App in a test, and compares what is written with golden files, which
//
//	go test ./... -update
//
// rewrites. It refuses to write anything but golden files.
package charttest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/chart"
)

// update is read only; tests of a package share the flags of their process.
var update = flag.Bool("update", false, "rewrite golden files")

// Synth synthesizes an App, and ends the test with every mistake if there is one.
func Synth(t testing.TB, app *chart.App) *chart.Result {
	t.Helper()
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Describe synthesizes what a function describes.
func Describe(t testing.TB, settings chart.Settings, describe func(app *chart.App)) *chart.Result {
	t.Helper()
	app := chart.NewApp(settings)
	describe(app)
	return Synth(t, app)
}

// Object is the object of a kind and a name; the test ends if there is none.
func Object(t testing.TB, result *chart.Result, kind, name string) chart.Manifest {
	t.Helper()
	var others []string
	for _, m := range result.Manifests() {
		if m.Kind() == kind && m.Name() == name {
			return m
		}
		others = append(others, m.Kind()+"/"+m.Name())
	}
	t.Fatalf("%s/%s is not among %s", kind, name, strings.Join(others, ", "))
	return chart.Manifest{}
}

// Golden compares all objects with the file testdata/NAME.golden.yaml.
func Golden(t testing.TB, result *chart.Result, name string) {
	t.Helper()
	if err := (golden{path: filepath.Join("testdata", name+".golden.yaml"), update: *update}).compare(result.YAML()); err != nil {
		t.Error(err)
	}
}

// GoldenFiles compares the files of an arrangement with the folder testdata/NAME; files that are only in the folder are differences,
// and -update removes those that it wrote itself.
func GoldenFiles(t testing.TB, result *chart.Result, as chart.Arrangement, name string) {
	t.Helper()
	files, err := result.Files(as)
	if err != nil {
		t.Fatal(err)
	}
	if err := compareFiles(filepath.Join("testdata", name), files, *update); err != nil {
		t.Error(err)
	}
}

func compareFiles(dir string, files []chart.File, update bool) error {
	changes, err := chart.Output{Dir: dir, Check: !update}.Write(files)
	if err != nil || update || changes.None() {
		return err
	}
	said := []string{fmt.Sprintf("%s differs; go test -update rewrites it", dir)}
	for _, name := range changes.Added {
		said = append(said, name+" is missing there")
	}
	for _, name := range changes.Removed {
		said = append(said, name+" is no longer described")
	}
	for _, f := range files {
		for _, name := range changes.Changed {
			if f.Path == name {
				if err := (golden{path: filepath.Join(dir, name)}).compare(f.Data); err != nil {
					said = append(said, err.Error())
				}
			}
		}
	}
	return fmt.Errorf("%s", strings.Join(said, "\n"))
}

// golden is a file with what is expected.
type golden struct {
	path   string
	update bool
}

func (g golden) compare(got []byte) error {
	if g.update {
		if err := os.MkdirAll(filepath.Dir(g.path), 0o750); err != nil {
			return err
		}
		return os.WriteFile(g.path, got, 0o644) //nolint:gosec // golden files are no secret
	}
	want, err := os.ReadFile(g.path)
	if err != nil {
		return fmt.Errorf("reading what is expected: %w; go test -update writes it", err)
	}
	if bytes.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("%s differs (-expected +synthesized); go test -update rewrites it\n%s", g.path, difference(want, got))
}

// around is how many equal lines are shown around those that differ.
const around = 3

// difference is the lines that differ between two texts, with those around them.
func difference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	var lines []string
	add := func(sign string, some []string) {
		for _, line := range some {
			lines = append(lines, sign+line)
		}
	}
	lines = append(lines, fmt.Sprintf("@@ line %d", start+1))
	add(" ", a[max(0, start-around):start])
	add("-", a[start:len(a)-end])
	add("+", b[start:len(b)-end])
	add(" ", a[len(a)-end:min(len(a), len(a)-end+around)])
	return strings.Join(lines, "\n")
}
