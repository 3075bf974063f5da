package appset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/source"
)

// known is what generators are given in tests.
type known struct {
	clusters []settings.Cluster
	trees    map[string]*source.Tree
	failure  error
	asked    *[]string
}

func (k known) Clusters(context.Context) ([]settings.Cluster, error) { return k.clusters, k.failure }

func (k known) Tree(_ context.Context, url, revision, project string) (*source.Tree, string, error) {
	if k.asked != nil {
		*k.asked = append(*k.asked, url+" "+revision+" "+project)
	}
	tree, ok := k.trees[url]
	if !ok {
		return nil, "", fmt.Errorf("there is no repository: %w", k.failure)
	}
	return tree, "0123456789abcdef", k.failure
}

// treeOf makes a tree of a text: lines "-- NAME --" or "-- NAME -> TARGET --", and content behind each.
func treeOf(t *testing.T, text string) *source.Tree {
	t.Helper()
	var files []*source.File
	for part := range strings.SplitSeq("\n"+text, "\n-- ") {
		name, content, found := strings.Cut(part, " --")
		if !found {
			continue
		}
		if from, to, link := strings.Cut(name, " -> "); link {
			files = append(files, source.NewLink(from, to))
			continue
		}
		files = append(files, source.NewFile(name, 0o644, []byte(strings.TrimPrefix(content, "\n")+"\n")))
	}
	tree, err := source.NewTree(files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func objectOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	integers(o.Object)
	return o
}

// setOf makes a set of what its spec says, with a template unless there is one.
func setOf(t testing.TB, spec string) *Set {
	t.Helper()
	o := objectOf(t, "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: apps, namespace: argocd, uid: u-1}")
	said := objectOf(t, spec).Object
	if said["template"] == nil {
		said["template"] = objectOf(t, ordinary).Object
	}
	o.Object["spec"] = said
	set, err := Read(o)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ordinary is a template for sets whose parameters are called name.
const ordinary = `
metadata: {name: '{{.name}}'}
spec:
  project: web
  source: {repoURL: https://example.com/repo, path: '{{.path}}', targetRevision: HEAD}
  destination: {server: https://kubernetes.default.svc, namespace: '{{.name}}'}`

// generated are the names of Applications, or the error.
func generated(t *testing.T, set *Set, facts Facts, options Options) (Generated, []string, string) {
	t.Helper()
	made, err := Generate(t.Context(), set, facts, options)
	if err != nil {
		return made, nil, err.Error()
	}
	var names []string
	for _, app := range made.Applications {
		names = append(names, app.GetName())
	}
	return made, names, ""
}

// parametersOf are the parameters of the first generator of a set, without templates.
func parametersOf(t *testing.T, set *Set, facts Facts, options Options) ([]map[string]any, string) {
	t.Helper()
	g, err := newGeneration(t.Context(), set, facts, options)
	if err != nil {
		return nil, err.Error()
	}
	kinds, err := kindsOf(set.generators[0])
	if err != nil {
		return nil, err.Error()
	}
	sets, err := g.sets(kinds[0], set.generators[0], 0)
	if err != nil {
		return nil, err.Error()
	}
	var all []map[string]any
	for _, set := range sets {
		all = append(all, set.values)
	}
	return all, ""
}
