package managed

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// publish writes connection details into the connection Secret of the resource, which exists since the first pass. Keys that it
// has are kept.
func (p *pass) publish(ctx context.Context, details map[string][]byte) error {
	err := p.publishTo(ctx, details)
	if err != nil {
		return &stepError{Cause{"CannotPublishConnectionDetails", ""}, err}
	}
	return nil
}

// connectionSecret is the name of the connection Secret; false when none is wanted.
func (p *pass) connectionSecret() (types.NamespacedName, bool) {
	ref, _, _ := unstructured.NestedStringMap(p.object.Object, "spec", "writeConnectionSecretToRef")
	name := types.NamespacedName{Namespace: ref["namespace"], Name: ref["name"]}
	if p.served.Namespaced {
		name.Namespace = p.object.GetNamespace()
	}
	return name, name.Name != ""
}

// unpublish deletes the connection Secret, if it belongs to the resource.
func (p *pass) unpublish(ctx context.Context) error {
	name, has := p.connectionSecret()
	if !has {
		return nil
	}
	client := p.Home.Dynamic.Resource(secrets()).Namespace(name.Namespace)
	secret, err := client.Get(ctx, name.Name, metav1.GetOptions{})
	if err == nil {
		if owner := metav1.GetControllerOf(secret); owner == nil || owner.UID != p.object.GetUID() {
			return nil
		}
		uid := secret.GetUID()
		err = client.Delete(ctx, name.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting connection Secret %s: %w", name, err)
	}
	return nil
}

func (p *pass) publishTo(ctx context.Context, details map[string][]byte) error {
	name, has := p.connectionSecret()
	if !has {
		return nil
	}
	if name.Namespace == "" {
		return Invalid("spec.writeConnectionSecretToRef needs a namespace")
	}
	secret, polled, err := p.edges.Get(ctx, p.key, secretKind(), name)
	if err != nil {
		return fmt.Errorf("reading connection Secret %s: %w", name, err)
	}
	p.memory.polled = p.memory.polled || polled
	if secret == nil {
		return p.createSecret(ctx, name, details)
	}
	if err := controllable(secret, p.object.GetUID()); err != nil {
		return err
	}
	return p.mergeSecret(ctx, secret, details)
}

// controllable refuses Secrets of others: a resource could be made to overwrite any.
func controllable(secret *unstructured.Unstructured, uid types.UID) error {
	owner := metav1.GetControllerOf(secret)
	kind, _, _ := unstructured.NestedString(secret.Object, "type")
	switch {
	case owner == nil && kind != ConnectionType:
		return Invalid("refusing to modify uncontrolled secret of type %q", kind)
	case owner != nil && owner.UID != uid:
		return Invalid("existing secret is not controlled by UID %q", uid)
	}
	return nil
}

func secrets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

func (p *pass) createSecret(ctx context.Context, name types.NamespacedName, details map[string][]byte) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": ConnectionType, "data": encoded(details),
	}}
	secret.SetNamespace(name.Namespace)
	secret.SetName(name.Name)
	secret.SetOwnerReferences([]metav1.OwnerReference{p.controller()})
	made, err := p.Home.Dynamic.Resource(secrets()).Namespace(name.Namespace).Create(ctx, secret, metav1.CreateOptions{FieldManager: manager})
	if apierrors.IsAlreadyExists(err) {
		return apierrors.NewConflict(secrets().GroupResource(), name.String(), err)
	}
	if err != nil {
		return fmt.Errorf("creating connection Secret %s: %w", name, err)
	}
	p.edges.Wrote(p.key, "", made)
	return nil
}

// mergeSecret writes what differs.
func (p *pass) mergeSecret(ctx context.Context, secret *unstructured.Unstructured, details map[string][]byte) error {
	changed := map[string][]byte{}
	for key, value := range details {
		if was, has, err := secretValue(secret, key); err != nil || !has || !bytes.Equal(was, value) {
			changed[key] = value
		}
	}
	patch := map[string]any{}
	if len(changed) > 0 {
		patch["data"] = encoded(changed)
	}
	metadata := map[string]any{"resourceVersion": secret.GetResourceVersion()}
	if metav1.GetControllerOf(secret) == nil {
		metadata["ownerReferences"] = append(secret.GetOwnerReferences(), p.controller())
	}
	if len(patch) == 0 && len(metadata) == 1 {
		return nil
	}
	patch["metadata"] = metadata
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encoding connection Secret %s: %w", secret.GetName(), err)
	}
	made, err := p.Home.Dynamic.Resource(secrets()).Namespace(secret.GetNamespace()).Patch(ctx, secret.GetName(), types.MergePatchType, data,
		metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		return fmt.Errorf("writing connection Secret %s/%s: %w", secret.GetNamespace(), secret.GetName(), err)
	}
	p.edges.Wrote(p.key, secret.GetResourceVersion(), made)
	return nil
}

// encoded are values as a Secret has them.
func encoded(details map[string][]byte) map[string]any {
	data := map[string]any{}
	for key, value := range details {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	return data
}

// controller is the reference by which an object belongs to the resource.
func (p *pass) controller() metav1.OwnerReference {
	return *metav1.NewControllerRef(p.object, p.object.GroupVersionKind())
}
