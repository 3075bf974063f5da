package objects

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/crossplane/kubernetes"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/provision/managed"
	"github.com/headgate-dev/headgate/internal/provision/trio"
)

// connector reaches objects of clusters.
type connector struct {
	managed.Tools
	accounts *accounts
}

// record is what is remembered of an Object.
type record struct {
	// Applied is the object that was applied last, which is not the one in the manifest when a name was patched, or changed.
	Applied *referent `json:"applied,omitempty"`
	// Referred are the objects that have the finalizer of the Object.
	Referred []referent `json:"referred,omitempty"`
	// Unsettled is set while some of them may not have it, or may have it no more.
	Unsettled bool `json:"unsettled,omitempty"`
	// Warned is the generation that a warning was about.
	Warned int64 `json:"warned,omitempty"`
}

// external is the object of an Object in a pass.
type external struct {
	*connector
	*account
	resource *managed.Resource
	spec     *kubernetes.ObjectSpec
	manifest *manifest
	record   record
	live     *unstructured.Unstructured
}

// Connect reads the manifest, and finds the cluster.
func (c *connector) Connect(ctx context.Context, r *managed.Resource) (managed.External, error) {
	x := &external{connector: c, resource: r}
	var err error
	if x.spec, err = specOf(r.Object); err != nil {
		return nil, err
	}
	declared, err := c.meant(ctx, r)
	if err != nil {
		return nil, err
	}
	if x.manifest, err = parseManifest(declared); err != nil {
		return nil, err
	}
	if err := r.Record(&x.record); err != nil {
		return nil, err
	}
	if x.account, err = c.accounts.account(ctx, r); err != nil {
		return nil, err
	}
	return x, nil
}

// meant is an Object as it is understood: one that wraps a Workflow with generateName stands for a Build. What its runs write follows from
// the other Objects of its unit, which are followed.
func (c *connector) meant(ctx context.Context, r *managed.Resource) (*unstructured.Unstructured, error) {
	if !trio.IsRunTemplate(r.Object) {
		return r.Object, nil
	}
	all, err := c.Tools.Edges.All(ctx, r.Key(), trio.Kinds())
	if err != nil {
		return nil, err
	}
	manifest, _ := trio.Rewrite(r.Object, all)
	o := r.Object.DeepCopy()
	return o, unstructured.SetNestedMap(o.Object, manifest, "spec", "forProvider", "manifest")
}

// target is the object that is meant: while the Object is deleted, the one that was applied.
func (x *external) target() referent {
	if x.deleting() && x.record.Applied != nil {
		return *x.record.Applied
	}
	m := x.manifest
	return referent{m.GetAPIVersion(), m.GetKind(), m.GetNamespace(), m.GetName()}
}

func (x *external) deleting() bool { return x.resource.Object.GetDeletionTimestamp() != nil }

// permitted refuses objects that belong to the engine.
func (x *external) permitted(of referent) error {
	id := engine.ObjectID{Group: of.gvk().Group, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}
	if x.Cluster.Name == "" && x.account.engine && x.Reserved[id] {
		return managed.Invalid("%s belongs to Headgate", of)
	}
	return nil
}

// manager is the field manager of an Object, as the upstream has it.
func (x *external) manager() string { return "provider-kubernetes/" + x.resource.Object.GetName() }
