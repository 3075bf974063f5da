package controlplane

import (
	"context"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// finalizersPlugin is the name of the admission plugin.
const finalizersPlugin = "HeadgateFinalizers"

// finalizers puts finalizers on objects when they are created, by kind.
type finalizers map[schema.GroupKind]string

var _ admission.MutationInterface = finalizers{}

// enable has the API server put them there.
func (f finalizers) enable(o *options.ServerRunOptions) {
	if len(f) == 0 {
		return
	}
	generic := o.Admission.GenericAdmission
	generic.Plugins.Register(finalizersPlugin, func(io.Reader) (admission.Interface, error) { return f, nil })
	generic.RecommendedPluginOrder = append([]string{finalizersPlugin}, generic.RecommendedPluginOrder...)
	generic.EnablePlugins = append(generic.EnablePlugins, finalizersPlugin)
}

// Handles reports whether only creations matter.
func (f finalizers) Handles(operation admission.Operation) bool { return operation == admission.Create }

// Admit puts the finalizer of its kind on an object.
func (f finalizers) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	finalizer, has := f[a.GetKind().GroupKind()]
	if !has || a.GetSubresource() != "" {
		return nil
	}
	o, err := meta.Accessor(a.GetObject())
	if err != nil {
		return fmt.Errorf("reading the finalizers of a new %s: %w", a.GetKind().Kind, err)
	}
	if there := o.GetFinalizers(); !slices.Contains(there, finalizer) {
		o.SetFinalizers(append(there, finalizer))
	}
	return nil
}
