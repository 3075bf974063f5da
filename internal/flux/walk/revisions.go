package walk

import (
	"bytes"
	"cmp"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Readers are the sources and FluxInstances that files below a directory hold.
func (RootFinder) Readers(dir string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	err := files(dir, func(_ string, data []byte) {
		if !bytes.Contains(data, []byte(toolkit.SourceGroup+"/")) && !bytes.Contains(data, []byte(fluxcdv1.GroupVersion.Group+"/")) {
			return
		}
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
			u := &unstructured.Unstructured{}
			if decoder.Decode(&u.Object) != nil {
				return
			}
			if group := u.GroupVersionKind().Group; group == toolkit.SourceGroup || group == fluxcdv1.GroupVersion.Group {
				all = append(all, u)
			}
		}
	})
	return all, err
}

// Revisions are those by which GitRepositories and FluxInstances read repositories whose URLs are ours.
func (RootFinder) Revisions(objects []*unstructured.Unstructured, ours func(url string) bool) []string {
	var all []string
	for _, o := range objects {
		text := func(fields ...string) string {
			value, _, _ := unstructured.NestedString(o.Object, append([]string{"spec"}, fields...)...)
			return value
		}
		switch {
		case o.GroupVersionKind().GroupKind() == toolkit.GitRepositoryKind && ours(text("url")):
			if text("ref", "commit")+text("ref", "semver")+text("ref", "tag") == "" {
				// Without a reference, it is the branch of this name.
				all = append(all, cmp.Or(branchOf(text("ref", "name")), text("ref", "branch"), "master"))
			}
		case o.GetKind() == fluxcdv1.FluxInstanceKind && text("sync", "kind") == sourcev1.GitRepositoryKind && ours(text("sync", "url")):
			all = append(all, branchOf(text("sync", "ref")))
		}
	}
	return all
}

// branchOf is the branch that a reference names; what is not a branch is returned as it is.
func branchOf(reference string) string { return strings.TrimPrefix(reference, "refs/heads/") }
