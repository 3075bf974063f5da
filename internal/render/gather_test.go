package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/source"
)

// forest makes repositories at random: directories that gather files and other directories, and now and then something that
// does not only gather.
type forest struct {
	*rand.Rand
	files map[string]string
	dirs  []string
	named int
	// odd is how often, of a hundred, something is unusual.
	odd int
}

func (f *forest) oddly() bool { return f.IntN(100) < f.odd }

// name is a new one, or one that is there already.
func (f *forest) name() string {
	if f.oddly() && f.named > 0 {
		return fmt.Sprintf("n%d", f.IntN(f.named))
	}
	f.named++
	return fmt.Sprintf("n%d", f.named-1)
}

// object is one document.
func (f *forest) object() string {
	name := f.name()
	switch f.IntN(8) {
	case 0:
		return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s # said\n", name)
	case 1:
		return fmt.Sprintf("kind: Deployment\napiVersion: apps/v1\nmetadata: {name: %s, namespace: %q}\nspec: {template: {spec: {containers: [{name: a, image: 'a:1.10', envFrom: [{configMapRef: {name: n1}}]}]}}}\n", name, f.namespace())
	case 2:
		return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: %s}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: n2}\nsubjects: [{kind: ServiceAccount, name: n3, namespace: x}]\n", name)
	case 3:
		return fmt.Sprintf("apiVersion: example.invalid/v1\nkind: Thing\nmetadata: {name: %s}\nspec: {number: 1.50, big: 12345678901234567890, octal: 0o17, on: yes, none: ~, when: 2001-01-01}\n", name)
	case 4:
		if f.oddly() {
			return fmt.Sprintf("apiVersion: v1\nkind: ConfigMapList\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}]\n", name, f.name())
		}
	case 5:
		if f.oddly() {
			return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, annotations: {config.kubernetes.io/local-config: 'true'}}\n", name)
		}
	case 6:
		if f.oddly() {
			return []string{
				"# nothing\n", "kind: Broken\n", "a: [\n", "- 1\n", fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nitems: [~]\n", name),
				fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec: {template: {spec: {volumes: [{configMap: {name: {a: b}}}], containers: here}}}\n", name),
			}[f.IntN(6)]
		}
	}
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\ndata:\n  script: |\n    one\n    two\n", name, f.namespace())
}

func (f *forest) namespace() string { return []string{"default", "a", "b", `""`}[f.IntN(4)] }

// file is some documents.
func (f *forest) file() string {
	var documents []string
	for range 1 + f.IntN(9) {
		documents = append(documents, f.object())
	}
	text := strings.Join(documents, []string{"---\n", "---   # more\n"}[f.IntN(2)])
	switch f.IntN(6) {
	case 0:
		return "---\n" + text + "---\n"
	case 1:
		return strings.TrimSuffix(text, "\n")
	case 2:
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// directory is a kustomization with what it lists.
func (f *forest) directory(dir string, depth int) {
	f.dirs = append(f.dirs, dir)
	var entries []string
	for i := range 1 + f.IntN(4) {
		if depth > 0 && f.IntN(2) == 0 {
			name := fmt.Sprintf("d%d", i)
			f.directory(path.Join(dir, name), depth-1)
			entries = append(entries, []string{name, "./" + name + "/", name + "/../" + name}[f.IntN(3)])
			continue
		}
		name := fmt.Sprintf("f%d.yaml", i)
		f.files[path.Join(dir, name)] = f.file()
		entries = append(entries, name)
	}
	if f.oddly() {
		entries = append(entries, []string{"missing.yaml", "..", ".", "f0.yaml", strings.Repeat("../", strings.Count(dir, "/")+1) + f.dirs[f.IntN(len(f.dirs))]}[f.IntN(5)])
	}
	listed, _ := json.Marshal(entries)
	text := "resources: " + string(listed) + "\n"
	if f.IntN(2) == 0 {
		text = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: some}\n" + text
	}
	if f.oddly() {
		text += []string{
			"namespace: other\n", "namePrefix: p-\n", "kind: Component\n", "unknown: 1\n", "configMapGenerator: [{name: n1, literals: [a=b]}]\n",
			"labels: [{pairs: {a: b}}]\n", "sortOptions: {order: legacy}\n", "buildMetadata: [originAnnotations]\n",
		}[f.IntN(8)]
	}
	f.files[path.Join(dir, "kustomization.yaml")] = text
}

// built is what came out, as text.
func built(objects []*resource.Resource, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var text bytes.Buffer
	for _, o := range objects {
		data, err := o.MarshalJSON()
		if err != nil {
			return "error: " + err.Error()
		}
		text.Write(append(data, '\n'))
	}
	return text.String()
}

// TestGatherAsTheLibrary compares builds that are divided with builds of everything.
func TestGatherAsTheLibrary(t *testing.T) {
	divided, refused := 0, 0
	for seed := range uint64(300) {
		f := &forest{Rand: rand.New(rand.NewPCG(seed, 1)), files: map[string]string{}, odd: []int{0, 2, 15}[seed%3]}
		f.directory("r", 3)
		var files []*source.File
		for name, text := range f.files {
			files = append(files, source.NewFile(name, 0o644, []byte(text)))
		}
		tree, err := source.NewTree(files)
		if err != nil {
			t.Fatal(err)
		}
		start := func() (*treeFS, *opener) {
			fs := newTreeFS(tree)
			o := &opener{fs: fs, encrypted: map[string]decrypt.Format{}, secrets: map[string]bool{}}
			fs.opened = o.open
			return fs, o
		}
		fs, o := start()
		few, err := fs.gather("/repository/r", o, 3, 0)
		if fs.failure != nil {
			t.Fatalf("seed %d leaves a failure behind: %v", seed, fs.failure)
		}
		whole, o := start()
		all, failed := whole.assemble("/repository/r", o, nil)
		if err != nil {
			refused++
			if !errors.Is(err, errUnusual) {
				t.Errorf("seed %d: %v", seed, err)
			}
			if failed == nil && f.odd == 0 {
				t.Errorf("seed %d only gathers, and was not divided", seed)
			}
			continue
		}
		divided++
		if failed != nil {
			t.Errorf("seed %d: divided, it is built; in one, it fails: %v", seed, failed)
			continue
		}
		if got, want := built(few, nil), built(all.Resources(), nil); got != want {
			t.Errorf("seed %d: divided:\n%s\nin one:\n%s", seed, got, want)
		}
		for question, answer := range whole.reads.seen {
			if fs.reads.seen[question] != answer && strings.HasSuffix(question, ".yaml") {
				t.Errorf("seed %d: %q was not recorded", seed, question)
			}
		}
	}
	if divided < 100 || refused < 50 {
		t.Errorf("%d were divided and %d were not: the test says little", divided, refused)
	}
}

// TestGatherInABuild has a whole build be divided, and one that has an object twice say so.
func TestGatherInABuild(t *testing.T) {
	var one, list strings.Builder
	files := map[string]string{}
	for i := range 2 * leastObjects {
		object := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
		if i%2 == 0 {
			one.WriteString("---\n" + object)
			continue
		}
		files[fmt.Sprintf("c%d.yaml", i)] = object
		fmt.Fprintf(&list, "- c%d.yaml\n", i)
	}
	files["one.yaml"] = one.String()
	build := func(more string) (*Result, error) {
		files["kustomization.yaml"] = "resources:\n- one.yaml\n" + list.String() + more
		var all []*source.File
		for name, text := range files {
			all = append(all, source.NewFile(name, 0o644, []byte(text)))
		}
		tree, err := source.NewTree(all)
		if err != nil {
			t.Fatal(err)
		}
		return New().Build(context.Background(), tree, Options{})
	}
	result, err := build("")
	if err != nil || len(result.Objects) != 2*leastObjects {
		t.Fatalf("%v", err)
	}
	if first, last := result.Objects[1].GetName(), result.Objects[2*leastObjects-1].GetName(); first != "c2" || last != fmt.Sprintf("c%d", 2*leastObjects-1) {
		t.Errorf("the order is another: second %s, last %s", first, last)
	}
	files["again.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c7}\n"
	if _, err := build("- again.yaml\n"); err == nil || !strings.Contains(err.Error(), "already registered id") {
		t.Errorf("an object is there twice: %v", err)
	}
}
