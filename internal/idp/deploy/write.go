package deploy

import (
	"context"
	"encoding/base64"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/idp"
)

// Manager is the field manager of what packages declare.
const Manager = "headgate-packages"

// Annotations of what packages declare: the argument of --package and the file that it comes from.
const (
	ArgumentAnnotation = "headgate.dev/package"
	FileAnnotation     = "headgate.dev/package-file"
)

// CLISecretLabel marks Secrets that people are shown by get secrets.
const CLISecretLabel = "cnoe.io/cli-secret"

// The Secret with the login of the Git server, where idpbuilder has it.
const (
	GiteaNamespace = "gitea"
	GiteaSecret    = "gitea-credential"
)

var (
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	argo       = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}
	// resources of the kinds that packages declare.
	resources = map[string]schema.GroupVersionResource{
		"Application": argo.WithResource("applications"), "ApplicationSet": argo.WithResource("applicationsets"),
	}
)

// Declares reports whether packages declare objects of a kind.
func Declares(gk schema.GroupKind) bool {
	_, declares := resources[gk.Kind]
	return declares && gk.Group == argo.Group
}

// rendered is what is applied of a package.
func rendered(p idp.Package) *unstructured.Unstructured {
	o := p.Rewrite(idp.Rewrites(base))
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[ArgumentAnnotation] = p.Input.Argument
	annotations[FileAnnotation] = origin(p)
	o.SetAnnotations(annotations)
	return o
}

// origin is the file of a package; that of a remote one has no place that stays, and is the package as a whole.
func origin(p idp.Package) string {
	if p.Input.Kind == idp.URL {
		return p.Input.Argument
	}
	return p.File
}

// put applies the object of a package, and creates its namespace if there is none.
func (d *Deployer) put(ctx context.Context, o *unstructured.Unstructured) error {
	in := d.client.Resource(resources[o.GetKind()]).Namespace(o.GetNamespace())
	err := apply.Put(ctx, in, Manager, o)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := d.namespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	return apply.Put(ctx, in, Manager, o)
}

// namespace creates a namespace, unless it exists.
func (d *Deployer) namespace(ctx context.Context, name string) error {
	client := d.client.Resource(namespaces)
	_, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		o.SetName(name)
		return apply.Put(ctx, client, Manager, o)
	}
	if err != nil {
		return fmt.Errorf("searching for namespace %q: %w", name, err)
	}
	return nil
}

// withdraw deletes the object of a package that is not declared any more, as it is now. What its finalizers and its policy say
// happens to the objects of an Application happens, as for one that a person deletes.
func (d *Deployer) withdraw(ctx context.Context, p idp.Package) error {
	client := d.client.Resource(resources[p.Object.GetKind()]).Namespace(p.Object.GetNamespace())
	there, err := client.Get(ctx, p.Object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", engine.IDOf(p.Object), err)
	case there.GetAnnotations()[ArgumentAnnotation] != p.Input.Argument:
		// It is declared by something else now.
		return nil
	}
	uid := there.GetUID()
	err = client.Delete(ctx, p.Object.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting %s: %w", engine.IDOf(p.Object), err)
	}
	return nil
}

// existing are the packages that the cluster has from another start, by key.
func (d *Deployer) existing(ctx context.Context) (map[string]idp.Package, error) {
	found := map[string]idp.Package{}
	for kind, resource := range resources {
		list, err := d.client.Resource(resource).List(ctx, metav1.ListOptions{LabelSelector: idp.PackageNameLabel})
		if err != nil {
			return nil, fmt.Errorf("listing objects of kind %s: %w", kind, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			argument, ours := o.GetAnnotations()[ArgumentAnnotation]
			if !ours {
				continue
			}
			p := idp.Package{Object: o, File: o.GetAnnotations()[FileAnnotation], Input: idp.Input{Argument: argument}}
			found[p.Key()] = p
		}
	}
	return found, nil
}

// login writes the Secret with the login of the Git server, as idpbuilder's users read it.
func (d *Deployer) login(ctx context.Context) error {
	if err := d.namespace(ctx, GiteaNamespace); err != nil {
		return err
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"data": map[string]any{"username": encoded(idp.Owner), "password": encoded(d.cfg.Login), "url": encoded(d.cfg.Git.Base())},
	}}
	o.SetName(GiteaSecret)
	o.SetNamespace(GiteaNamespace)
	o.SetLabels(map[string]string{CLISecretLabel: "true", idp.PackageNameLabel: "gitea"})
	client := d.client.Resource(secrets).Namespace(GiteaNamespace)
	there, err := client.Get(ctx, GiteaSecret, metav1.GetOptions{})
	if err == nil && there.GetLabels()[CLISecretLabel] != "true" {
		return fmt.Errorf("writing the login of the Git server: %s is not one of %s", engine.IDOf(there), Manager)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading the login of the Git server: %w", err)
	}
	return apply.Put(ctx, client, Manager, o)
}

// encoded is a value of a Secret.
func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
