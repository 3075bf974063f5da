package console

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gitserver"
)

// ShownAs is the branch under which the working copy is served beside the one that is checked out: the one that the root names, the
// default branch of the repository first. Where that names none, it is the default branch, if other files name it. It is empty where what is
// checked out is named itself.
func (p Place) ShownAs(catalogue dialect.Catalogue, refs gitserver.References, ours func(url string) bool) (string, error) {
	standard := []string{refs.Default}
	if refs.Default == "" {
		standard = []string{"main", "master"}
	}
	names := branchesOf(revisions(catalogue, p.Objects, ours), refs)
	if slices.Contains(names, refs.Branch) {
		return "", nil
	}
	if branch := among(names, standard); branch != "" {
		return branch, nil
	}
	if len(names) > 0 {
		return commonest(names), nil
	}
	var readers []*unstructured.Unstructured
	for _, d := range catalogue {
		if layouts, finds := d.(dialect.Layouts); finds {
			some, err := layouts.Readers(p.Layout.Repository)
			if err != nil {
				return "", err
			}
			readers = append(readers, some...)
		}
	}
	if names = branchesOf(revisions(catalogue, readers, ours), refs); slices.Contains(names, refs.Branch) {
		return "", nil
	}
	return among(names, standard), nil
}

// branchesOf are the revisions that are likely branches.
func branchesOf(names []string, refs gitserver.References) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !dialect.BranchName(name) || slices.Contains(refs.Tags, name) })
}

// among is the first of some names that is one of others; empty for none.
func among(names, some []string) string {
	if at := slices.IndexFunc(some, func(name string) bool { return slices.Contains(names, name) }); at >= 0 {
		return some[at]
	}
	return ""
}

// commonest is the name that occurs most often, the first of several.
func commonest(names []string) string {
	count := map[string]int{}
	best := names[0]
	for _, name := range names {
		count[name]++
	}
	for _, name := range names {
		if count[name] > count[best] {
			best = name
		}
	}
	return best
}

func revisions(catalogue dialect.Catalogue, objects []*unstructured.Unstructured, ours func(url string) bool) []string {
	var all []string
	for _, d := range catalogue {
		if layouts, finds := d.(dialect.Layouts); finds {
			all = append(all, layouts.Revisions(objects, ours)...)
		}
	}
	return all
}
