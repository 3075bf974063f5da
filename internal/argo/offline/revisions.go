package offline

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Readers are the Applications and ApplicationSets that files below a directory hold.
func (l Layouts) Readers(dir string) ([]*unstructured.Unstructured, error) { return l.Scan(dir) }

// Revisions are those by which Applications, and the generators and templates of ApplicationSets, read repositories whose URLs are ours.
func (Layouts) Revisions(objects []*unstructured.Unstructured, ours func(url string) bool) []string {
	var all []string
	for _, o := range objects {
		if isRoot([]*unstructured.Unstructured{o}) {
			all = append(all, revisionsIn(o.Object["spec"], ours)...)
		}
	}
	return all
}

// revisionsIn are the revisions beside the URLs in a value, however deep they are. Those that a template completes are unknown.
func revisionsIn(value any, ours func(url string) bool) []string {
	var all []string
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			all = append(all, revisionsIn(item, ours)...)
		}
	case map[string]any:
		url, _ := value["repoURL"].(string)
		for _, key := range []string{"targetRevision", "revision"} {
			if revision, is := value[key].(string); is && url != "" && ours(url) && !strings.Contains(revision, "{{") {
				all = append(all, strings.TrimPrefix(revision, "refs/heads/"))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			all = append(all, revisionsIn(value[key], ours)...)
		}
	}
	return all
}
