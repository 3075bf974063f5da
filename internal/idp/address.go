package idp

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scheme begins addresses of packages.
const scheme = "cnoe://"

// WorkingCopy is the address of the working copy that a tree of packages lies in.
const WorkingCopy = scheme

// EscapeError is an address that leaves the working copy.
type EscapeError struct {
	Object, Address string
}

// Error is the message.
func (e *EscapeError) Error() string {
	return fmt.Sprintf("%s: %q leaves the directory that is served; serve one that holds both", e.Object, e.Address)
}

// Resolve replaces the addresses of packages in the sources of an Application, or of the template of an ApplicationSet, by that of the
// working copy. The file of the object lies in dir, relative to the working copy. It reports whether there was any.
func Resolve(o *unstructured.Unstructured, dir string) (bool, error) {
	spec, _ := o.Object["spec"].(map[string]any)
	if template, is := spec["template"].(map[string]any); is {
		spec, _ = template["spec"].(map[string]any)
	}
	sources := sourcesOf(spec)
	moved := map[string]string{}
	found := false
	for _, source := range sources {
		address, _ := source["repoURL"].(string)
		to, is := strings.CutPrefix(address, scheme)
		if !is {
			continue
		}
		at := path.Join(dir, to)
		if at == ".." || strings.HasPrefix(at, "../") || path.IsAbs(at) {
			return false, &EscapeError{Object: o.GetKind() + "/" + o.GetName(), Address: address}
		}
		found = true
		if ref, is := source["ref"].(string); is {
			moved["$"+ref] = at
		}
		source["repoURL"] = WorkingCopy
		if within, is := source["path"].(string); is {
			source["path"] = path.Join(at, within)
		}
	}
	for _, source := range sources {
		moveFiles(source, moved)
	}
	return found, nil
}

// sourcesOf are the sources of an Application, all of them at once where there are several.
func sourcesOf(spec map[string]any) []map[string]any {
	var all []map[string]any
	if one, is := spec["source"].(map[string]any); is {
		all = append(all, one)
	}
	several, _ := spec["sources"].([]any)
	for _, item := range several {
		if one, is := item.(map[string]any); is {
			all = append(all, one)
		}
	}
	return all
}

// moveFiles adapts the names of files in other sources, which begin at the root of these: $values/values.yaml.
func moveFiles(source map[string]any, moved map[string]string) {
	helm, _ := source["helm"].(map[string]any)
	if files, is := helm["valueFiles"].([]any); is {
		files = slices.Clone(files)
		for i, file := range files {
			files[i] = moveFile(file, moved)
		}
		helm["valueFiles"] = files
	}
	parameters, _ := helm["fileParameters"].([]any)
	for _, item := range parameters {
		if parameter, is := item.(map[string]any); is {
			parameter["path"] = moveFile(parameter["path"], moved)
		}
	}
}

func moveFile(file any, moved map[string]string) any {
	name, _ := file.(string)
	ref, within, _ := strings.Cut(name, "/")
	if at, is := moved[ref]; is {
		return path.Join(ref, at, within)
	}
	return file
}
