package chart

import (
	"github.com/headgate-dev/headgate/chart/internal/document"
)

// Manifest is an object as it is written, with where it comes from.
type Manifest struct {
	// Object is the object: maps, slices, strings, bools, int64, uint64 and float64.
	Object map[string]any
	// Path is the path of its construct, and At the line of Go that made it.
	Path string
	At   Position

	// ordered is the object with the keys of its patches at the end, as patches added them; nil without patches.
	ordered *document.Map
}

// APIVersion of the object.
func (m Manifest) APIVersion() string { return text(m.Object, "apiVersion") }

// Kind of the object.
func (m Manifest) Kind() string { return text(m.Object, "kind") }

// Name of the object.
func (m Manifest) Name() string { return text(m.metadata(), "name") }

// Namespace of the object; empty if it has none.
func (m Manifest) Namespace() string { return text(m.metadata(), "namespace") }

// YAML is the object as it is written.
func (m Manifest) YAML() []byte { return YAML(m) }

func (m Manifest) metadata() map[string]any {
	metadata, _ := m.Object["metadata"].(map[string]any)
	return metadata
}

func (m Manifest) document() any {
	if m.ordered != nil {
		return m.ordered
	}
	return m.Object
}

// YAML is objects as a stream of documents. The same objects are the same bytes, and readers of YAML 1.1 and 1.2 read the same.
func YAML(manifests ...Manifest) []byte {
	var stream []byte
	for _, m := range manifests {
		stream = document.Append(stream, m.document())
	}
	return stream
}

func text(m map[string]any, key string) string {
	value, _ := m[key].(string)
	return value
}
