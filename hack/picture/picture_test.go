package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A drawn picture, as a viewer reads it: the text of each line and the styles in it.
type drawn struct {
	lines, classes []string
	durations      []string
}

// read is an error if the picture is no XML.
func read(data []byte) (drawn, error) {
	var found drawn
	decoder := xml.NewDecoder(strings.NewReader(string(data)))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "text" {
				inText = true
				found.lines = append(found.lines, "")
			}
			for _, a := range token.Attr {
				switch {
				case inText && token.Name.Local == "tspan" && a.Name.Local == "class":
					found.classes = append(found.classes, a.Value)
				case inText && a.Name.Local == "style":
					found.durations = append(found.durations, strings.TrimPrefix(a.Value, "animation-duration:"))
				}
			}
		case xml.EndElement:
			inText = inText && token.Name.Local != "text"
		case xml.CharData:
			if inText {
				found.lines[len(found.lines)-1] += strings.ReplaceAll(string(token), "\u00a0", " ")
			}
		}
	}
}

func TestDraw(t *testing.T) {
	got, err := read(draw("headgate up . --ephemeral --exit-when-ready --simulate", []line{
		{1500 * time.Millisecond, "   1.50s ✓ control plane   <ready> & \x1b[31mwell"},
		{2 * time.Second, "   2.00s ◌ flux-system/" + strings.Repeat("é", 40)},
		{2 * time.Second, ""},
		{3 * time.Second, "✗ plain"},
	}, 40))
	if err != nil {
		t.Fatal(err)
	}
	want := drawn{
		lines: []string{
			"$ headgate up . --ephemeral \\", "> --exit-when-ready --simulate", "   1.50s ✓ control plane   <ready> & [3…", "   2.00s ◌ flux-system/" + strings.Repeat("é", 16) + "…", "", "✗ plain",
		},
		classes:   []string{"prompt", "prompt", "dim", "ok", "dim", "wait", "bad"},
		durations: []string{"1.50s", "2.00s", "2.00s", "3.00s"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(drawn{})); diff != "" {
		t.Errorf("the picture (-want +got):\n%s", diff)
	}
}

func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.svg")
	if err := record(t.Context(), file, 80, []string{"/bin/sh", "-c", "echo first; echo $PWD/second >&2"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"$ sh -c echo first; echo $PWD/second >&2", "first", "second"}, got.lines); diff != "" {
		t.Errorf("the lines (-want +got):\n%s", diff)
	}
	for name, args := range map[string][]string{"fails": {"/bin/sh", "-c", "echo done; exit 3"}, "missing": {"/nonexistent"}, "none": nil} {
		if err := record(t.Context(), file, 80, args); err == nil {
			t.Errorf("a command that %s is no error", name)
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(data) {
		t.Errorf("a command that fails changes the picture (%v)", err)
	}
}

// TestPicture reads the picture of the README: it is of a boot in which everything became ready.
func TestPicture(t *testing.T) {
	data, err := os.ReadFile("../../docs/boot.svg")
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(data)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(got.lines, "\n")
	for _, want := range []string{"$ headgate up examples/layered ", "control plane", "blog", "6 units"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q; run make picture:\n%s", want, text)
		}
	}
}
