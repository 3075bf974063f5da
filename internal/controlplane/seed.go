package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	systempriorities "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	rbacrest "k8s.io/kubernetes/pkg/registry/rbac/rest"
	schedulingrest "k8s.io/kubernetes/pkg/registry/scheduling/rest"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// A control plane begins with what its API server would create itself, but only a second after its start: the roles of
// Kubernetes and the classes of system priorities. With them are the definitions of its configuration, as they are when the API server has
// accepted them: each is served from the first request on, where one that is applied takes seven requests. All are written to
// the store before the API server runs, where they are not there yet.

// registry is where the API server stores objects.
const registry = "/registry/"

// Bounds of one transaction with the store: of its writes, and of their bytes. The store has bounds of its own, a little above.
const (
	seedWrites = 100
	seedBytes  = 1 << 20
)

// bootstraps are the hooks of the API server that create what is seeded. Its health would wait for them, and they begin with a rest of a second.
func bootstraps() []genericapiserver.PostStartHookProvider {
	return []genericapiserver.PostStartHookProvider{rbacrest.RESTStorageProvider{}, schedulingrest.RESTStorageProvider{}}
}

// leaveBootstraps takes the hooks out of an API server.
func leaveBootstraps(config *genericapiserver.Config) error {
	for _, of := range bootstraps() {
		name, _, err := of.PostStartHook()
		if err != nil {
			return fmt.Errorf("reading a hook of the API server: %w", err)
		}
		config.DisabledPostStartHooks.Insert(name)
	}
	return nil
}

// bootstrap carries the hooks out beside everything else, until they succeed: they bring up to date what another version of Kubernetes left in the
// store, and find a new store as they would leave it.
func bootstrap(ctx context.Context, config *rest.Config) {
	for _, of := range bootstraps() {
		// It was read before.
		_, hook, _ := of.PostStartHook()
		go func() {
			for ctx.Err() == nil && hook(genericapiserver.PostStartHookContext{Context: ctx, LoopbackClientConfig: config}) != nil {
				klog.FromContext(ctx).Info("roles or priorities of Kubernetes could not be brought up to date; retrying")
			}
		}()
	}
}

// The resources that are seeded, as they are in the keys of the store.
const (
	roles       = "clusterroles"
	bindings    = "clusterrolebindings"
	classes     = "priorityclasses"
	definitions = "apiextensions.k8s.io/customresourcedefinitions"
)

// keyOf is the key of an object of the whole cluster in the store.
func keyOf(resource, name string) string { return registry + resource + "/" + name }

// seeds are objects as they are stored, by their keys, as far as they are not there.
type seeds struct {
	there   map[string]bool
	lacking map[string][]byte
}

// seed writes what a control plane begins with, as far as it is not there.
func (s *store) seed(ctx context.Context, cfg Config) error {
	client := v3client.New(s.etcd.Server)
	defer func() { _ = client.Close() }()
	there, err := seeded(ctx, client)
	if err != nil {
		return err
	}
	all := seeds{there, map[string][]byte{}}
	if err := all.system(); err != nil {
		return err
	}
	for _, d := range cfg.Definitions {
		if err := all.definition(d, cfg.Manager); err != nil {
			return fmt.Errorf("preparing definition %s: %w", d.GetName(), err)
		}
	}
	return all.write(ctx, client)
}

// seeded are the keys of the objects that are there, of the resources that are seeded.
func seeded(ctx context.Context, client *clientv3.Client) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, resource := range []string{roles, bindings, classes, definitions} {
		there, err := client.Get(ctx, keyOf(resource, ""), clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return nil, fmt.Errorf("reading the store: %w", err)
		}
		for _, kv := range there.Kvs {
			keys[string(kv.Key)] = true
		}
	}
	return keys, nil
}

// system are the roles and the priorities of Kubernetes.
func (s seeds) system() error {
	for _, o := range slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()) {
		o.TypeMeta = metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}
		if err := s.add(roles, &o); err != nil {
			return err
		}
	}
	for _, o := range slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()) {
		o.TypeMeta = metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"}
		if err := s.add(bindings, &o); err != nil {
			return err
		}
	}
	for _, o := range systempriorities.SystemPriorityClasses() {
		o.TypeMeta = metav1.TypeMeta{APIVersion: schedulingv1.SchemeGroupVersion.String(), Kind: "PriorityClass"}
		o.Generation = 1
		if err := s.add(classes, o); err != nil {
			return err
		}
	}
	return nil
}

// definition is one whose names the API server has accepted.
func (s seeds) definition(u *unstructured.Unstructured, manager string) error {
	if s.there[keyOf(definitions, u.GetName())] {
		return nil // what it takes to prepare one is spared
	}
	managed, err := appliedBy(u, manager)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, crd); err != nil {
		return err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	now := metav1.Now()
	crd.ManagedFields = []metav1.ManagedFieldsEntry{managed}
	crd.Generation = 1
	crd.Status.AcceptedNames = crd.Spec.Names
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{
			Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "NoConflicts", Message: "no conflicts found",
		},
		{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, LastTransitionTime: now,
			Reason: "InitialNamesAccepted", Message: "the initial names have been accepted",
		},
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = []string{v.Name}
		}
	}
	return s.add(definitions, crd)
}

// add enters an object of the whole cluster.
func (s seeds) add(resource string, o metav1.Object) error {
	key := keyOf(resource, o.GetName())
	if s.there[key] {
		return nil
	}
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(metav1.NewTime(time.Now().Truncate(time.Second)))
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", resource, o.GetName(), err)
	}
	s.lacking[key] = data
	return nil
}

// write writes everything in as few transactions as the store takes.
func (s seeds) write(ctx context.Context, client *clientv3.Client) error {
	var writes []clientv3.Op
	bytes := 0
	flush := func() error {
		if len(writes) == 0 {
			return nil
		}
		_, err := client.Txn(ctx).Then(writes...).Commit()
		writes, bytes = nil, 0
		if err != nil {
			return fmt.Errorf("writing to the store: %w", err)
		}
		return nil
	}
	for key, data := range s.lacking {
		if len(writes) == seedWrites || bytes+len(data) > seedBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		writes, bytes = append(writes, clientv3.OpPut(key, string(data))), bytes+len(data)
	}
	return flush()
}

// appliedBy is what the API server records of a definition that a manager applied. Lists of definitions belong to a manager as a whole,
// so that no schema is needed to report which fields there are.
func appliedBy(u *unstructured.Unstructured, manager string) (metav1.ManagedFieldsEntry, error) {
	value, err := typed.DeducedParseableType.FromUnstructured(u.Object)
	if err != nil {
		return metav1.ManagedFieldsEntry{}, fmt.Errorf("reading its fields: %w", err)
	}
	fields, err := value.ToFieldSet()
	if err != nil {
		return metav1.ManagedFieldsEntry{}, fmt.Errorf("reading its fields: %w", err)
	}
	data, err := fields.Leaves().Difference(identity()).ToJSON()
	if err != nil {
		return metav1.ManagedFieldsEntry{}, fmt.Errorf("encoding its fields: %w", err)
	}
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Time: &now,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(string(data)),
	}, nil
}

// identity are the fields that no manager has.
func identity() *fieldpath.Set {
	return fieldpath.NewSet(
		fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"), fieldpath.MakePathOrDie("metadata", "name"),
	)
}
