package appset

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/source"
)

// BenchmarkPass is a pass over a thousand directories in which nothing changes.
func BenchmarkPass(b *testing.B) {
	var files []*source.File
	for i := range 1000 {
		files = append(files, source.NewFile(fmt.Sprintf("apps/app-%04d/kustomization.yaml", i), 0o644, []byte("x")))
	}
	tree, err := source.NewTree(files)
	if err != nil {
		b.Fatal(err)
	}
	spec := `{goTemplate: true, goTemplateOptions: [missingkey=error], generators: [{git: {repoURL: r, revision: HEAD, directories: [{path: apps/*}]}}],
template: {metadata: {name: '{{.path.basename}}'}, spec: {project: p, source: {repoURL: r, path: '{{.path.path}}'}, destination: {name: c, namespace: '{{.path.basename | lower}}'}}}}`
	set := setOf(b, spec)
	facts := known{trees: map[string]*source.Tree{"r": tree}}
	var existing []*unstructured.Unstructured
	for b.Loop() {
		made, err := Generate(b.Context(), set, facts, Options{})
		if err != nil {
			b.Fatal(err)
		}
		plan, err := MakePlan(b.Context(), set, made, existing, everything())
		if err != nil || len(plan.Update)+len(plan.Delete) > 0 {
			b.Fatal(err, len(plan.Update))
		}
		existing = append(existing, plan.Create...)
	}
	if len(existing) != 1000 || !strings.HasPrefix(existing[0].GetName(), "app-") {
		b.Fatal(len(existing))
	}
}
