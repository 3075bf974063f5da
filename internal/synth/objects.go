package synth

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
)

// object is a document of a file that says what it is.
type object struct {
	APIVersion, Kind string
	text             []byte
}

func (o object) group() string {
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return group
}

// kustomization reports whether it is for kustomize, and for no cluster.
func (o object) kustomization() bool { return o.group() == "kustomize.config.k8s.io" }

// eachObject visits the objects of a file, in order.
func eachObject(f chart.File, visit func(object) error) error {
	if !strings.HasSuffix(f.Path, ".yaml") && !strings.HasSuffix(f.Path, ".yml") {
		return nil
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(f.Data)))
	for {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		o := object{text: bytes.TrimPrefix(text, []byte("---\n"))}
		if err == nil {
			err = yaml.Unmarshal(text, &o)
		}
		if err == nil && o.APIVersion != "" && o.Kind != "" {
			err = visit(o)
		}
		if err != nil {
			return err
		}
	}
}

// join appends a document to a stream.
func join(stream, document []byte) []byte {
	if len(stream) > 0 {
		stream = append(stream, "---\n"...)
	}
	return append(stream, document...)
}
