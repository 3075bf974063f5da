package document_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

// golden is the folder with what the synth of a cdk8s project wrote; it is no part of the repository.
func golden(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("STACKS_GOLDEN"); dir != "" {
		return dir
	}
	t.Skip("the golden tree of cdk8s is not here; STACKS_GOLDEN names its folder")
	return ""
}

// TestGolden reads every file that cdk8s wrote, and expects the same bytes back: those of a kustomization, which cdk8s does not
// write, as well.
func TestGolden(t *testing.T) {
	files, sorted := 0, 0
	err := filepath.WalkDir(golden(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if diff := cmp.Diff(string(want), string(document.Append(nil, ordered(t, path, want)...))); diff != "" {
			t.Errorf("%s (-cdk8s +headgate):\n%s", path, diff)
		}
		var plain []any
		for _, one := range ordered(t, path, want) {
			plain = append(plain, document.Plain(one))
		}
		if bytes.Equal(want, document.Append(nil, plain...)) {
			sorted++
		} else {
			t.Logf("%s has keys in an order of its own", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 190 {
		t.Errorf("%d files were compared, want the 191 of the tree", files)
	}
	// The three Secrets of kargo-pipelines-credentials and others had labels added by patches.
	if sorted < files*9/10 {
		t.Errorf("%d of %d files are in the order of sorted keys", sorted, files)
	}
	t.Logf("%d files, %d of them with sorted keys", files, sorted)
}

// ordered is the documents of a file with the order of keys that the file has.
func ordered(t *testing.T, path string, data []byte) []any {
	t.Helper()
	var documents []any
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var node yaml.Node
		if err := decoder.Decode(&node); err != nil {
			break
		}
		documents = append(documents, fromNode(t, path, node.Content[0]))
	}
	return documents
}

func fromNode(t *testing.T, path string, node *yaml.Node) any {
	t.Helper()
	switch node.Kind {
	case yaml.MappingNode:
		m, _ := document.New(map[string]any{}).(*document.Map)
		for i := 0; i < len(node.Content); i += 2 {
			m.Set(node.Content[i].Value, fromNode(t, path, node.Content[i+1]))
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, one := range node.Content {
			list = append(list, fromNode(t, path, one))
		}
		return list
	}
	var value any
	if err := node.Decode(&value); err != nil {
		t.Fatalf("%s:%d: %v", path, node.Line, err)
	}
	if number, ok := value.(int); ok {
		return int64(number)
	}
	return value
}
