package packages

import (
	"fmt"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// Scheme of addresses that mean a directory beside the file of the Application.
const Scheme = "cnoe://"

// Source is a source of the manifests of a package that lie beside the Application.
func Source(name string) v1alpha1.ApplicationSource {
	return v1alpha1.ApplicationSource{RepoURL: Scheme + path.Join(name, Directory), Path: ".", TargetRevision: "HEAD"}
}

// Ref is a source whose files others take by $REF: those of a package.
func Ref(ref, name string) v1alpha1.ApplicationSource {
	return v1alpha1.ApplicationSource{RepoURL: Scheme + name, Ref: ref, TargetRevision: "HEAD"}
}

// warnings are what is valid and probably a mistake: manifests that no source deploys, and files of values that are not there.
func (p Package) warnings(done Synthesized) []string {
	sources, found := sourcesOf(done)
	if !found {
		return nil
	}
	var all []string
	local, deployed := false, false
	for _, source := range sources {
		rest, is := strings.CutPrefix(source.repoURL, Scheme)
		local = local || is
		deployed = deployed || is && source.ref == "" && path.Join(rest, source.path) == path.Join(p.Name, Directory)
	}
	if done.Manifests != nil && local && !deployed {
		all = append(all, fmt.Sprintf("no source of the Application deploys %s; add one of %s", path.Join(p.Name, Directory), Source(p.Name).RepoURL))
	}
	for _, source := range sources {
		for _, file := range source.valueFiles {
			ref, rest, _ := strings.Cut(strings.TrimPrefix(file, "$"), "/")
			if strings.HasPrefix(file, "$") && p.Values == nil && refers(sources, ref, p.Name) && rest == Values {
				all = append(all, fmt.Sprintf("the values file %s is not in the package; give it values", file))
			}
		}
	}
	return all
}

// refers says that a reference is to the directory of the package.
func refers(sources []source, ref, name string) bool {
	for _, one := range sources {
		if one.ref == ref && one.repoURL == Scheme+name && path.Clean("./"+one.path) == "." {
			return true
		}
	}
	return false
}

// source is what warnings need of a source.
type source struct {
	repoURL, path, ref string
	valueFiles         []string
}

// sourcesOf are the sources of the Application, as it is written.
func sourcesOf(done Synthesized) ([]source, bool) {
	if done.Application == nil {
		return nil, false
	}
	var all []source
	for _, m := range done.Application.Manifests() {
		spec, _ := m.Object["spec"].(map[string]any)
		list, _ := spec["sources"].([]any)
		if one, single := spec["source"]; single {
			list = append(list, one)
		}
		for _, one := range list {
			all = append(all, sourceOf(one))
		}
	}
	return all, len(all) > 0
}

func sourceOf(value any) source {
	object, _ := value.(map[string]any)
	helm, _ := object["helm"].(map[string]any)
	made := source{}
	made.repoURL, _ = object["repoURL"].(string)
	made.path, _ = object["path"].(string)
	made.ref, _ = object["ref"].(string)
	files, _ := helm["valueFiles"].([]any)
	for _, file := range files {
		if text, is := file.(string); is {
			made.valueFiles = append(made.valueFiles, text)
		}
	}
	return made
}
