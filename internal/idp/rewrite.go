package idp

import (
	"maps"
	"path"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/idpbuilder/v1alpha1"
)

// The labels of objects of packages, as idpbuilder's users select them.
const (
	// PackageNameLabel has the name of the object.
	PackageNameLabel = v1alpha1.PackageNameLabel
	// PackageTypeLabel tells core packages, which are those of idpbuilder itself, from custom ones.
	PackageTypeLabel = v1alpha1.PackageTypeLabel
	coreType         = "core"
	customType       = "custom"
)

// Rewrites are the URLs of repositories on a server with this base, for Rewrite.
func Rewrites(base string) func(Repository) string {
	return func(r Repository) string { return r.URL(base) }
}

// Rewrite is what is to be applied of a package without problems: its object with the URLs of repositories instead of the addresses, and
// with idpbuilder's labels. The URL comes wherever an address of a directory was. The address of a file, among valueFiles and
// fileParameters, becomes a path: below the source itself if that is the repository which has the file, otherwise below the source that
// others refer to by ref, which is added unless it is there.
func (p Package) Rewrite(url func(Repository) string) *unstructured.Unstructured {
	o := p.Object.DeepCopy()
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[PackageNameLabel], labels[PackageTypeLabel] = o.GetName(), PackageType(o.GetName())
	o.SetLabels(labels)
	spec, _ := o.Object["spec"].(map[string]any)
	urls := map[int]string{}
	for i, r := range p.Repositories {
		urls[i] = url(r)
	}
	replaceAll(spec, func(at occurrence) string {
		to, known := p.places[at.place]
		if !known || at.file {
			return at.address
		}
		return urls[to.repository]
	})
	p.rewriteFiles(spec, urls)
	if template, is := spec["template"].(map[string]any); is {
		inTemplate, _ := template["spec"].(map[string]any)
		p.rewriteFiles(inTemplate, urls)
	}
	return o
}

// PackageType is the value of PackageTypeLabel of the package with a name.
func PackageType(name string) string {
	switch name {
	case "argocd", "gitea", "nginx":
		return coreType
	}
	return customType
}

// rewriteFiles makes paths of the addresses of files in the sources of a spec, whose URLs have been rewritten.
func (p Package) rewriteFiles(spec map[string]any, urls map[int]string) {
	for _, source := range sourcesOf(spec) {
		replaceIn(source["helm"], "helm", "spec.source.helm", func(at occurrence) string {
			to, known := p.places[at.place]
			if !known || !at.file {
				return at.address
			}
			if source["repoURL"] == urls[to.repository] {
				return "/" + to.file
			}
			return path.Join("$"+refTo(spec, urls[to.repository], to.repository), to.file)
		})
	}
}

// refTo is the ref of the source of a repository, which is added if there is none. One source becomes several then.
func refTo(spec map[string]any, url string, index int) string {
	taken := map[any]bool{}
	for _, source := range sourcesOf(spec) {
		if ref, is := source["ref"].(string); is && ref != "" && source["repoURL"] == url {
			return ref
		}
		taken[source["ref"]] = true
	}
	ref := "package" + strconv.Itoa(index)
	for taken[ref] {
		ref += "x"
	}
	several, _ := spec["sources"].([]any)
	if one, is := spec["source"]; is {
		several = append(several, one)
		delete(spec, "source")
	}
	spec["sources"] = append(several, map[string]any{"repoURL": url, "targetRevision": "HEAD", "ref": ref})
	return ref
}
