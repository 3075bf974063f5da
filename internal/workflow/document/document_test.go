package document

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestCheck checks the files of each archive of testdata together, and compares what is found with what the archive expects.
func TestCheck(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no files in testdata: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			var files []File
			for _, f := range archive.Files[:last] {
				files = append(files, File{f.Name, f.Data})
			}
			findings, checked := Check(files)
			var b strings.Builder
			for _, f := range findings {
				fmt.Fprintln(&b, f)
			}
			fmt.Fprintf(&b, "%d checked\n", checked)
			if *update {
				archive.Files[last].Data = []byte(b.String())
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[last].Data), b.String()); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

// FuzzCheck ends on any file, and names a line of it.
func FuzzCheck(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := strings.Count(string(data), "\n") + 1
		findings, _ := Check([]File{{"x", data}})
		for _, one := range findings {
			if one.Line < 1 || one.Line > lines+1 {
				t.Errorf("%s: the file has %d lines", one, lines)
			}
		}
	})
}
