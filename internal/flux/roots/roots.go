// Package roots holds the objects by which a cluster begins to follow a repository: a GitRepository and a Kustomization, and an OCIRepository for a
// repository whose units read it as an artifact. It also has the
// accounts that an installation of Flux brings, for a cluster in which there was none.
//
// It refuses a cluster that has other ones.
package roots

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// InstallManager is the field manager of what we install ourselves.
const InstallManager = "headgate"

// MadeFor is the annotation of root objects that were made by up; its value says for what: a directory, or a URL.
const MadeFor = "headgate.dev/up"

// Root is what up begins with.
type Root struct {
	// URL and Branch are those of the source; without a URL there is none.
	URL, Branch string
	// Artifact has an OCIRepository by the name of the root, too, whose URL is ArtifactURL.
	Artifact bool
	// Path is the directory of the root unit.
	Path string
	// Wait has the root unit wait for the health of its objects, as it does where there are no units that would.
	Wait bool
	// Served are the groups whose definitions have been installed.
	Served dialect.Groups
	// Objects are applied as they are, instead of a root unit.
	Objects []*unstructured.Unstructured
	// Left is called with those of the objects that cannot be applied as they are, and why: their kind is not served, or they are encrypted.
	// Without it, one of a kind that is not served is an error.
	Left func(id engine.ObjectID, why string)
	// Credentials are written into the Secret of the source, if there are any.
	Credentials map[string][]byte
	// AgeKey is written into the Secret AgeSecret, and the root decrypts with it; with Decrypts it does so with
	// what is there already.
	AgeKey   []byte
	Decrypts bool
	// Interval is how often the source is fetched, one minute if it is zero.
	Interval time.Duration
	// For says what the root was made for by up; a root made for something else is refused. It is empty for
	// a root that is to stay, which is refused when there is one of another repository or directory.
	For string
}

// AgeSecret is the Secret that repositories expect their age key in.
const AgeSecret = "sops-age"

// ErrForeignRoot is returned when the cluster has another root.
var ErrForeignRoot = errors.New("the cluster has another root")

// RefuseRoot fails with ErrForeignRoot when PutRoot would.
func RefuseRoot(ctx context.Context, config *rest.Config, root Root) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	return refuseForeign(ctx, client, root)
}

// PutRoot makes the root objects. It refuses a cluster whose root it did not make for the same.
func PutRoot(ctx context.Context, config *rest.Config, root Root) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	if err := refuseForeign(ctx, client, root); err != nil {
		return err
	}
	objects, err := RootObjects(root)
	if err != nil {
		return err
	}
	mapper, err := Mapper(config)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if root.Left != nil && o.Object["sops"] != nil {
			root.Left(engine.IDOf(o), "it is encrypted, and a root of objects is not decrypted")
			continue
		}
		// A server takes objects of a kind before it announces the kind.
		resource, ok := root.Served.Resource(o.GroupVersionKind())
		if !ok {
			gvk := o.GroupVersionKind()
			mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
			if root.Left != nil && apimeta.IsNoMatchError(err) {
				root.Left(engine.IDOf(o), "its kind is not served")
				continue
			}
			if err != nil {
				return fmt.Errorf("applying %s: its kind is not served: %w", engine.IDOf(o), err)
			}
			if resource = mapping.Resource; mapping.Scope.Name() == apimeta.RESTScopeNameNamespace && o.GetNamespace() == "" {
				// As kubectl does.
				o = o.DeepCopy()
				o.SetNamespace(metav1.NamespaceDefault)
			}
		}
		if err := apply.Put(ctx, client.Resource(resource).Namespace(o.GetNamespace()), InstallManager, o); err != nil {
			return err
		}
	}
	return nil
}

// Mapper reports how kinds are reached in a cluster, by what it serves now.
func Mapper(config *rest.Config) (apimeta.RESTMapper, error) {
	disc, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	groups, err := restmapper.GetAPIGroupResources(disc)
	if err != nil {
		return nil, fmt.Errorf("discovering the kinds of the cluster: %w", err)
	}
	return restmapper.NewDiscoveryRESTMapper(groups), nil
}

func refuseForeign(ctx context.Context, client dynamic.Interface, root Root) error {
	kinds := []schema.GroupVersionResource{toolkit.GitRepositories, toolkit.Kustomizations}
	if root.Artifact {
		kinds = append(kinds, toolkit.OCIRepositories)
	}
	for _, r := range kinds {
		u, err := client.Resource(r).Namespace(toolkit.Namespace).Get(ctx, toolkit.System, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("searching for a root: %w", err)
		}
		made, ours := u.GetAnnotations()[MadeFor]
		if root.For == "" {
			if err := root.sameAs(u, ours); err != nil {
				return err
			}
			continue
		}
		if !ours {
			return fmt.Errorf("%w: %s was not created by headgate up; use another cluster, or delete it", ErrForeignRoot, engine.IDOf(u))
		}
		if made != root.For {
			return fmt.Errorf("%w: it was created for %q; run again with --fresh to start over, or with --state-dir for a separate cluster",
				ErrForeignRoot, made)
		}
	}
	return nil
}

// sameAs refuses an object of a root that is not of this repository, or directory.
func (root Root) sameAs(u *unstructured.Unstructured, fromUp bool) error {
	url, _, _ := unstructured.NestedString(u.Object, "spec", "url")
	dir, _, _ := unstructured.NestedString(u.Object, "spec", "path")
	switch {
	case fromUp:
		return fmt.Errorf("%w: %s was created by headgate up; use another cluster, or delete it", ErrForeignRoot, engine.IDOf(u))
	case url != "" && url != root.URL:
		return fmt.Errorf("%w: %s has spec.url %q; delete it first to connect the cluster to another repository", ErrForeignRoot, engine.IDOf(u), url)
	case dir != "" && path.Clean("/"+dir) != path.Clean("/"+root.Path):
		return fmt.Errorf("%w: %s has spec.path %q; delete it first to use another directory", ErrForeignRoot, engine.IDOf(u), dir)
	}
	return nil
}

// RootObjects are the objects of a root, in the order in which they are made.
func RootObjects(root Root) ([]*unstructured.Unstructured, error) {
	var typed []runtime.Object
	meta0 := metav1.ObjectMeta{Name: toolkit.System, Namespace: toolkit.Namespace}
	if root.For != "" {
		meta0.Annotations = map[string]string{MadeFor: root.For}
	}
	if root.Interval == 0 {
		root.Interval = time.Minute
	}
	repo := &sourcev1.GitRepository{
		TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.GitRepositoryKind},
		ObjectMeta: meta0,
		Spec: sourcev1.GitRepositorySpec{
			URL: root.URL, Interval: metav1.Duration{Duration: root.Interval},
			Reference: &sourcev1.GitRepositoryRef{Branch: root.Branch},
		},
	}
	if root.URL != "" && len(root.Credentials) > 0 {
		repo.Spec.SecretRef = &meta.LocalObjectReference{Name: toolkit.System}
		typed = append(typed, secret(toolkit.System, root.Credentials))
	}
	if len(root.AgeKey) > 0 {
		typed = append(typed, secret(AgeSecret, map[string][]byte{"age.agekey": root.AgeKey}))
	}
	if root.URL != "" {
		typed = append(typed, repo)
	}
	if root.Artifact {
		typed = append(typed, &sourcev1.OCIRepository{
			TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.OCIRepositoryKind},
			ObjectMeta: meta0, Spec: sourcev1.OCIRepositorySpec{URL: ArtifactURL, Interval: metav1.Duration{Duration: root.Interval}},
		})
	}
	if root.Path != "" {
		typed = append(typed, rootUnit(root, meta0))
	}
	var objects []*unstructured.Unstructured
	for _, t := range typed {
		o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(t)
		if err != nil {
			return nil, fmt.Errorf("encoding a root object: %w", err)
		}
		delete(o, "status")
		unstructured.RemoveNestedField(o, "metadata", "creationTimestamp")
		objects = append(objects, &unstructured.Unstructured{Object: o})
	}
	return append(objects, root.Objects...), nil
}

func rootUnit(root Root, m metav1.ObjectMeta) *kustomizev1.Kustomization {
	ks := &kustomizev1.Kustomization{
		TypeMeta:   metav1.TypeMeta{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind},
		ObjectMeta: m,
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: 10 * time.Minute}, Path: "./" + root.Path, Prune: true, Wait: root.Wait,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: toolkit.System},
		},
	}
	if len(root.AgeKey) > 0 || root.Decrypts {
		ks.Spec.Decryption = &kustomizev1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: AgeSecret}}
	}
	return ks
}

func secret(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: toolkit.Namespace}, Data: data,
	}
}

// ChartRelease is the HelmRelease of a chart that is the root: it installs the directory of the root's source under a name, into the namespace
// "default".
func ChartRelease(name, dir string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": toolkit.HelmReleaseKind.Kind,
		"metadata": map[string]any{"name": name, "namespace": toolkit.Namespace},
		"spec": map[string]any{
			"interval": "10m", "releaseName": name, "targetNamespace": "default",
			"chart": map[string]any{"spec": map[string]any{
				"chart": dir, "reconcileStrategy": "Revision",
				"sourceRef": map[string]any{"kind": sourcev1.GitRepositoryKind, "name": toolkit.System},
			}},
		},
	}}
}

// RootIDs are the objects that up makes itself: a repository that declares them too is not
// followed in that, since it would point the source elsewhere.
func RootIDs() map[engine.ObjectID]bool {
	ids := map[engine.ObjectID]bool{}
	for _, gk := range []schema.GroupKind{toolkit.GitRepositoryKind, toolkit.KustomizationKind} {
		ids[engine.ObjectID{Group: gk.Group, Kind: gk.Kind, Namespace: toolkit.Namespace, Name: toolkit.System}] = true
	}
	return ids
}
