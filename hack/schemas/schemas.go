// Package schemas writes the file of schemas that chart/schema embeds, from what the releases of Kubernetes publish: the
// OpenAPI document of each, and the values of enums and the defaults of keys that are only in the source which it was generated
// from. Descriptions are left out.
package schemas

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Release is a minor version of Kubernetes, with the directory of the module k8s.io/kubernetes.
type Release struct{ Version, Dir string }

// text is the content of the file: one line that names the versions, then one for each kind and each definition. Each of
// those starts with the versions that it is for, a digit each, so that what several versions share is there once.
type text struct {
	versions []string
	lines    map[string][]bool
}

// Text is the content of the file for some releases.
func Text(releases []Release) ([]byte, error) {
	t := &text{lines: map[string][]bool{}}
	for _, r := range releases {
		t.versions = append(t.versions, r.Version)
	}
	for i, r := range releases {
		if err := t.add(i, r); err != nil {
			return nil, fmt.Errorf("reading Kubernetes %s: %w", r.Version, err)
		}
	}
	return t.bytes(), nil
}

// Compress is the file: no time and no name, so that the same text gives the same bytes.
func Compress(content []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func (t *text) add(release int, r Release) error {
	data, err := os.ReadFile(filepath.Join(r.Dir, "api/openapi-spec/swagger.json"))
	if err != nil {
		return err
	}
	var published document
	if err := json.Unmarshal(data, &published); err != nil {
		return err
	}
	known, err := readFacts(filepath.Join(r.Dir, "pkg/generated/openapi/zz_generated.openapi.go"))
	if err != nil {
		return err
	}
	for _, line := range published.kinds() {
		t.mark(line, release)
	}
	reached := published.reachable()
	for name := range reached {
		definition := slim(name, published.Definitions[name], known[functionOf(name)])
		validated(short(name), definition)
		encoded, err := json.Marshal(definition)
		if err != nil {
			return err
		}
		t.mark("definition "+short(name)+" "+string(encoded), release)
	}
	return nil
}

func (t *text) mark(line string, release int) {
	if t.lines[line] == nil {
		t.lines[line] = make([]bool, len(t.versions))
	}
	t.lines[line][release] = true
}

func (t *text) bytes() []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, "versions", strings.Join(t.versions, " "))
	for _, line := range slices.SortedFunc(maps.Keys(t.lines), func(a, b string) int { return cmp.Compare(a, b) }) {
		for _, in := range t.lines[line] {
			out.WriteByte("01"[b2i(in)])
		}
		out.WriteByte(' ')
		out.WriteString(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
