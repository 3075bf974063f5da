package standins

import (
	"context"
	"encoding/json"
	"errors"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// provideLogins creates the Secrets without which sources fail, and which nothing creates.
func (s *Simulation) provideLogins(ctx context.Context, _ runner.Demands) bool {
	if !s.want.Secrets {
		return false
	}
	made := false
	for _, f := range s.Parts.Sources.Failing() {
		if s.provideLogin(ctx, f) {
			f.Nudge()
			made = true
		}
	}
	return made
}

// provideSecrets creates the Secrets and ConfigMaps without which units fail, and which nothing creates.
func (s *Simulation) provideSecrets(ctx context.Context, d runner.Demands) bool {
	if !s.want.Secrets {
		return false
	}
	made := false
	for _, failed := range d.Failed {
		if s.provideRead(ctx, failed) {
			s.Parts.Runner.Retry(failed.Unit)
			made = true
		}
	}
	return made
}

// provideRead makes what a unit reads variables or values from.
func (s *Simulation) provideRead(ctx context.Context, failed runner.State) bool {
	var needs []simulate.Need
	if ks, is := s.Parts.Kustomizations.Get(failed.Unit); is && failed.Unit.GroupKind() == toolkit.KustomizationKind {
		needs = s.variables(ctx, ks, failed.Cause)
	} else if hr, is := s.Parts.Releases.Get(failed.Unit); is && failed.Unit.GroupKind() == toolkit.HelmReleaseKind {
		needs = valuesNeeded(hr)
	}
	made := false
	for _, need := range needs {
		made = s.provideNeed(ctx, need, failed.Unit.String()) || made
	}
	return made
}

// variables are the objects from which a Kustomization takes variables: those that it does not go without, and where
// variables are not defined, the last one that is not real has them.
func (s *Simulation) variables(ctx context.Context, ks *kustomizev1.Kustomization, cause error) []simulate.Need {
	if ks.Spec.PostBuild == nil {
		return nil
	}
	// Without any variable nothing would be replaced, and no error would name the missing ones.
	values := map[string]string{"simulated": simulate.Mark("")}
	if undefined := (*substitute.UndefinedError)(nil); errors.As(cause, &undefined) {
		for _, name := range undefined.Names {
			values[name] = simulate.Mark(name)
		}
	}
	var needs []simulate.Need
	last := -1
	for _, from := range ks.Spec.PostBuild.SubstituteFrom {
		need := simulate.Need{Kind: from.Kind, Namespace: ks.Namespace, Name: from.Name}
		real := s.real(ctx, need)
		if from.Optional && (len(values) == 1 || real) {
			continue
		}
		needs = append(needs, need)
		if !real {
			last = len(needs) - 1
		}
	}
	if last >= 0 {
		needs[last].Values = values
	}
	return needs
}

// read are the kinds that are read for their values.
var read = map[string]schema.GroupVersionResource{simulate.SecretKind: secrets, simulate.ConfigMapKind: {Version: "v1", Resource: "configmaps"}}

// real reports whether there is a real object that meets a need.
func (s *Simulation) real(ctx context.Context, need simulate.Need) bool {
	o, err := s.client.Resource(read[need.Kind]).Namespace(need.Namespace).Get(ctx, need.Name, metav1.GetOptions{})
	return err == nil && o.GetLabels()[simulate.Label] == ""
}

// valuesNeeded are the objects from which a release takes values, and does not go without.
func valuesNeeded(hr *helmv2.HelmRelease) []simulate.Need {
	var needs []simulate.Need
	for _, from := range hr.Spec.ValuesFrom {
		if from.Optional {
			continue
		}
		value := "{}\n"
		if from.TargetPath != "" {
			value = simulate.Mark(from.GetValuesKey())
		}
		needs = append(needs, simulate.Need{Kind: from.Kind, Namespace: hr.Namespace, Name: from.Name, Values: map[string]string{from.GetValuesKey(): value}})
	}
	return needs
}

// provideLogin makes what a source logs in with: nothing, as who has no account does.
func (s *Simulation) provideLogin(ctx context.Context, f *sources.Feed) bool {
	o := f.Current()
	if o == nil {
		return false
	}
	fields, err := declared.Fields(o.Object())
	if err != nil {
		return false
	}
	made := false
	for _, field := range []string{"secretRef", "certSecretRef"} {
		name, _, _ := unstructured.NestedString(fields, "spec", field, "name")
		if name != "" {
			made = s.provideNeed(ctx, simulate.Need{Kind: simulate.SecretKind, Namespace: o.GetNamespace(), Name: name}, engine.SourceID(f.Key).String()) || made
		}
	}
	return made
}

var (
	pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	// workloads are what the embedded cluster makes pods of at once.
	workloads = []schema.GroupVersionResource{
		{Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "apps", Version: "v1", Resource: "statefulsets"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"},
		{Group: "batch", Version: "v1", Resource: "jobs"},
	}
)

// providePods makes the Secrets and ConfigMaps without which pods would not start on real nodes. Everything else is ready by then:
// nothing creates what is still missing.
func (s *Simulation) providePods(ctx context.Context, _ runner.Demands) bool {
	if !s.want.Secrets {
		return false
	}
	made := false
	for _, need := range simulate.PodNeeds(s.pods(ctx)) {
		made = s.provideNeed(ctx, need, "") || made
	}
	return made
}

// pods are the existing ones, and one of each workload: its pods may not have been waited for, which come when they do.
func (s *Simulation) pods(ctx context.Context) []unstructured.Unstructured {
	var all []unstructured.Unstructured
	if list, err := s.client.Resource(pods).List(ctx, metav1.ListOptions{}); err == nil {
		all = list.Items
	}
	for _, resource := range workloads {
		list, err := s.client.Resource(resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for i := range list.Items {
			if pod := simulate.PodOf(&list.Items[i]); pod != nil {
				all = append(all, *pod)
			}
		}
	}
	return all
}

// provideNeed creates a missing Secret or ConfigMap, or adds to a stand-in; a real one stays as it is.
func (s *Simulation) provideNeed(ctx context.Context, need simulate.Need, waited string) bool {
	client := s.client.Resource(read[need.Kind]).Namespace(need.Namespace)
	o, err := client.Get(ctx, need.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		_, err = client.Create(ctx, need.Object(), metav1.CreateOptions{FieldManager: simulationManager})
	case err == nil:
		lacks := need.Lacks(o)
		if len(lacks) == 0 {
			return false
		}
		var patch []byte
		if patch, err = json.Marshal(map[string]any{"data": lacks}); err == nil {
			_, err = client.Patch(ctx, need.Name, types.MergePatchType, patch, toolkit.PatchAs(simulationManager))
		}
	}
	id := engine.ObjectID{Kind: need.Kind, Namespace: need.Namespace, Name: need.Name}
	if err != nil {
		s.Parts.Log.Info("an object cannot be simulated", "object", id.String(), "error", err.Error())
		return false
	}
	s.noteFor(need.Kind, id.String(), waited)
	return true
}
