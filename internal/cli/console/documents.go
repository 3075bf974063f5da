package console

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// eachDocument reads the documents of YAML or JSON, counted from one; empty ones are passed over. Whole numbers are int64, as those of
// objects from a cluster. The name is that of the file, for errors.
func eachDocument(name string, in io.Reader, do func(n int, document map[string]any) error) error {
	decoder := utilyaml.NewYAMLOrJSONDecoder(in, 4096)
	for n := 1; ; n++ {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var document map[string]any
		if err == nil && len(raw.Raw) > 0 {
			err = json.Unmarshal(raw.Raw, &document)
		}
		if err == nil && len(document) > 0 {
			err = do(n, document)
		}
		if err != nil {
			return fmt.Errorf("reading %q: document %d: %w", name, n, err)
		}
	}
}

// EachDocumentOf reads those of a file, or of the standard input when it is called "-".
func (g *Globals) EachDocumentOf(name string, do func(n int, document map[string]any) error) error {
	if name == "-" {
		return eachDocument("standard input", g.IO.In, do)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("opening a file of objects: %w", err)
	}
	defer file.Close()
	return eachDocument(name, file, do)
}
