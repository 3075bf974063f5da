package standins

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// provideKinds installs stubs of the kinds that nothing defines.
func (s *Simulation) provideKinds(ctx context.Context, d runner.Demands) bool {
	if !s.want.CRDs {
		return false
	}
	wanted := map[schema.GroupKind][]string{}
	units := map[schema.GroupKind]engine.UnitID{}
	want := func(gvk schema.GroupVersionKind, unit engine.UnitID) {
		gk := gvk.GroupKind()
		if !slices.Contains(wanted[gk], gvk.Version) {
			wanted[gk], units[gk] = append(wanted[gk], gvk.Version), unit
		}
	}
	for gvk, unit := range d.Kinds {
		want(gvk, unit)
	}
	for _, failed := range d.Failed {
		for _, gvk := range kindsMissing(failed.Message) {
			want(gvk, failed.Unit)
			s.retryWhenServed(gvk.GroupKind(), failed.Unit)
		}
	}
	made := false
	for gk, versions := range wanted {
		slices.Sort(versions)
		if s.stubKind(ctx, gk, versions, units[gk]) {
			made = true
		}
	}
	return made
}

// missingKind is how the libraries of Kubernetes report that a kind is not served.
var missingKind = regexp.MustCompile(`no matches for kind "(\w+)" in version "([\w./-]+)"`)

func kindsMissing(message string) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, found := range missingKind.FindAllStringSubmatch(message, -1) {
		kinds = append(kinds, schema.FromAPIVersionAndKind(found[2], found[1]))
	}
	return kinds
}

// retryWhenServed has a unit tried again as soon as a kind is served, once.
func (s *Simulation) retryWhenServed(gk schema.GroupKind, unit engine.UnitID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing[gk] == nil {
		s.missing[gk] = map[engine.UnitID]bool{}
	}
	if _, known := s.missing[gk][unit]; !known {
		s.missing[gk][unit] = true
	}
}

// retryServed has units tried again for which a kind was missing that is served by now.
func (s *Simulation) retryServed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for gk, units := range s.missing {
		if len(s.Parts.Home.Kinds.Versions(gk)) == 0 {
			continue
		}
		for unit, due := range units {
			if due {
				units[unit] = false
				s.Parts.Runner.Retry(unit)
			}
		}
	}
}

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// stubKind makes a stub of a kind. One that is there already gets the versions that it lacks.
func (s *Simulation) stubKind(ctx context.Context, gk schema.GroupKind, versions []string, unit engine.UnitID) bool {
	if gk.Group == "" || s.ours(engine.ObjectID{Group: gk.Group, Kind: gk.Kind}) {
		return false
	}
	served := s.Parts.Home.Kinds.Versions(gk)
	s.mu.Lock()
	_, ours := s.stubs[gk]
	s.mu.Unlock()
	if len(served) > 0 && !ours {
		return false
	}
	for _, version := range served {
		if !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	if len(versions) == len(served) && len(served) > 0 {
		return false
	}
	stub := simulate.CRD(gk, versions)
	data, err := json.Marshal(stub)
	if err == nil {
		options, force := toolkit.PatchAs(simulationManager), true
		options.Force = &force
		_, err = s.client.Resource(crdResource).Patch(ctx, stub.GetName(), types.ApplyPatchType, data, options)
	}
	if err != nil {
		s.Parts.Log.Info("a kind cannot be simulated", "kind", gk.String(), "error", err.Error())
		return false
	}
	s.mu.Lock()
	s.stubs[gk] = stub.GetName()
	s.mu.Unlock()
	s.note("CustomResourceDefinition", stub.GetName(), unit)
	return true
}
