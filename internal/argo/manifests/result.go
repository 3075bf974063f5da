package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
)

// seen is what a render knew of one source beside its tree.
type seen struct {
	spec  v1alpha1.ApplicationSource
	chart string
	// revision is empty unless it affects what was rendered.
	revision string
	fetched  bool
	builtIn  bool
}

func (j *job) seen() seen {
	s := seen{spec: *j.source.Spec.DeepCopy(), fetched: j.source.Tree != nil, builtIn: j.source.BuiltIn != nil}
	if j.source.Chart != nil {
		s.chart = digest(j.source.Chart)
	}
	if j.env.revised {
		s.revision = j.source.Revision
	}
	return s
}

// Unchanged reports whether a render of sources would give the same again, given that the rest of the request is the
// same. It is false when the render was volatile.
func (r *Result) Unchanged(sources []Source) bool {
	if r.Volatile || len(sources) != len(r.sources) {
		return false
	}
	for i := range sources {
		s, was := &sources[i], &r.sources[i]
		switch {
		case !reflect.DeepEqual(s.Spec, was.spec):
			return false
		case was.revision != "" && s.Revision != was.revision:
			return false
		case (s.Tree != nil) != was.fetched:
			return false
		case (s.BuiltIn != nil) != was.builtIn:
			return false
		case s.Tree != nil && !r.Reads[i].Unchanged(s.Tree):
			return false
		case (s.Chart != nil) != (was.chart != ""):
			return false
		case s.Chart != nil && digest(s.Chart) != was.chart:
			return false
		}
	}
	return true
}

// finish takes out duplicates and sums up.
func (r *Result) finish(run *run) error {
	r.deduplicate(run.request.App.Namespace)
	sum := sha256.New()
	for _, o := range r.Objects {
		data, err := o.MarshalJSON()
		if err != nil {
			return fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		sum.Write(data)
	}
	r.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	r.Images = Images(r.Objects...)
	return r.inputs(run)
}

// inputs is the digest of what the objects were made of.
func (r *Result) inputs(run *run) error {
	type input struct {
		Spec                   v1alpha1.ApplicationSource
		Chart, Revision, Reads string
		BuiltIn                bool
	}
	all := struct {
		App                      App
		Kustomize, Helm, Jsonnet any
		Keys                     string
		NoRemoteBases            bool
		Fetched, Elsewhere       []string
		Sources                  []input
	}{
		App: run.request.App, Kustomize: run.request.Options.Kustomize, Helm: run.request.Options.Helm,
		Jsonnet: run.request.Options.Jsonnet, NoRemoteBases: run.request.Options.NoRemoteBases, Fetched: run.fetched,
	}
	for _, one := range r.Elsewhere {
		all.Elsewhere = append(all.Elsewhere, one.Tree.Digest()+"/"+one.Path)
	}
	slices.Sort(all.Elsewhere)
	if run.request.Decrypt != nil {
		all.Keys = run.request.Decrypt.Digest()
	}
	for i, s := range r.sources {
		all.Sources = append(all.Sources, input{s.spec, s.chart, s.revision, r.Reads[i].Digest(), s.builtIn})
	}
	data, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding the inputs: %w", err)
	}
	r.Inputs = digest(data)
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// deduplicate keeps the last of objects with one identity. An object without a namespace is in the one of the
// destination, as far as it has one.
func (r *Result) deduplicate(namespace string) {
	identity := func(o *unstructured.Unstructured) engine.ObjectID {
		id := engine.IDOf(o)
		if id.Namespace == "" {
			id.Namespace = namespace
		}
		return id
	}
	last, times := map[engine.ObjectID]int{}, map[engine.ObjectID]int{}
	for i, o := range r.Objects {
		last[identity(o)] = i
		times[identity(o)]++
	}
	var kept []*unstructured.Unstructured
	for i, o := range r.Objects {
		id := identity(o)
		switch {
		case o.GetName() == "": // names that the API server makes are never the same
		case last[id] != i:
			continue
		case times[id] > 1:
			r.repeated(engine.IDOf(o), times[id])
		}
		kept = append(kept, o)
	}
	r.Objects = kept
}

func (r *Result) repeated(id engine.ObjectID, times int) {
	if r.Duplicates == nil {
		r.Duplicates = map[engine.ObjectID]int{}
	}
	r.Duplicates[id] = times
}

// Images are those of the containers of objects, sorted.
func Images(objects ...*unstructured.Unstructured) []string {
	var all []string
	for _, o := range objects {
		for _, at := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
			for _, list := range []string{"initContainers", "containers"} {
				value, _, _ := unstructured.NestedFieldNoCopy(o.Object, append(slices.Clone(at), list)...)
				containers, _ := value.([]any)
				for _, c := range containers {
					container, _ := c.(map[string]any)
					if image, _ := container["image"].(string); image != "" {
						all = append(all, image)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
