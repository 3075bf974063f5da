package takeover

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"

	"github.com/google/go-cmp/cmp"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
)

func TestSyncThatNamesTheRoot(t *testing.T) {
	s := NewInstances(toolkit.Tools{Host: &dialect.Host{Reserved: roots.RootIDs()}}, policies.New(policies.Policy{}))
	// There is no client: nothing may be written.
	said, err := s.serve(t.Context(), InstanceID(toolkit.Namespace, "flux"), place{namespace: toolkit.Namespace}, fluxcdv1.FluxInstanceSpec{Sync: &fluxcdv1.Sync{
		Kind: "GitRepository", URL: "https://git.example.com/fleet.git", Ref: "refs/heads/main", Path: "clusters/a",
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := "Headgate serves the API of Flux instead of its controllers; none is installed; " +
		"sync: flux-system/flux-system is the root of this run and is not changed"
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}
