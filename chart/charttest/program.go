package charttest

import (
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/chart"
)

// GoldenProgram compares the files that a program writes with the folder testdata/NAME, as GoldenFiles does.
func GoldenProgram(t testing.TB, program chart.Program, name string) {
	t.Helper()
	_, files, err := program.Synth(chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := compareFiles(filepath.Join("testdata", name), files, *update); err != nil {
		t.Error(err)
	}
}
