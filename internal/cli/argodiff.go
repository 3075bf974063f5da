package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/offline"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

// argoManager is the field manager under which objects of Applications are applied.
const argoManager = "argocd-controller"

// diffApp compares an Application of the cluster with what its sources hold now.
func (o offlineOptions) diffApp(ctx context.Context, d *differ, ref reference) error {
	u, err := ref.get(ctx, d.client)
	if err != nil {
		return err
	}
	s, err := clusterSettings(ctx, o.globals)
	if err != nil {
		return err
	}
	o.only, o.alone = ref.kind+"/"+ref.namespace+"/"+ref.name, true
	r, err := o.walk(ctx, place{Layout: flux.Layout{Repository: d.workingCopy(ctx)}, objects: []*unstructured.Unstructured{u}}, s)
	if err != nil {
		return err
	}
	return d.apps(ctx, r.Apps, s)
}

// diffArgo compares the Applications of a repository with the cluster.
func (o offlineOptions) diffArgo(ctx context.Context, d *differ, p place) error {
	s, err := offline.FindSettings(p.Repository)
	if err != nil {
		fmt.Fprintf(o.io.Err, "· settings: %s\n", err)
	}
	r, err := o.walk(ctx, p, s)
	if err != nil {
		return err
	}
	apps, err := o.chosen(r)
	if err != nil {
		return err
	}
	d.different = o.tellSets(r) || d.different
	return d.apps(ctx, apps, s)
}

// workingCopy is the directory that an embedded cluster serves as a repository, empty when there is none on this machine.
func (d *differ) workingCopy(ctx context.Context) string {
	u, err := d.client.Resource(d.known(gitKind).resource).Namespace(flux.Namespace).Get(ctx, flux.System, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	dir := u.GetAnnotations()[flux.MadeFor]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// clusterSettings are those of the Argo CD in the cluster.
func clusterSettings(ctx context.Context, g *globals) (settings.Settings, error) {
	config, err := g.restConfig()
	if err != nil {
		return settings.Settings{}, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return settings.Settings{}, fmt.Errorf("creating a client: %w", err)
	}
	maps, err := client.CoreV1().ConfigMaps(argo.DefaultNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return settings.Settings{}, unreachable(fmt.Errorf("reading the settings of Argo CD: %w", err))
	}
	objects := settings.Objects{ConfigMaps: maps.Items}
	secrets, err := client.CoreV1().Secrets(argo.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: "argocd.argoproj.io/secret-type"})
	switch {
	case apierrors.IsForbidden(err):
		// Without logins, what needs none can be fetched.
		secrets = &corev1.SecretList{}
	case err != nil:
		return settings.Settings{}, unreachable(fmt.Errorf("reading the credentials of Argo CD: %w", err))
	}
	objects.Secrets = secrets.Items
	s, err := settings.Read(objects)
	if err != nil {
		fmt.Fprintf(g.io.Err, "· settings: %s\n", err)
	}
	return s, nil
}

// apps compares Applications.
func (d *differ) apps(ctx context.Context, apps []offline.App, s settings.Settings) error {
	for i := range apps {
		if err := d.app(ctx, &apps[i], s); err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) app(ctx context.Context, a *offline.App, s settings.Settings) error {
	switch {
	case a.Err != nil:
		d.print("✗ %s cannot be rendered: %v", a.ID, a.Err)
		return nil
	case a.Skipped != "":
		fmt.Fprintf(d.io.Err, "· %s: %s; --charts fetches it\n", a.ID, a.Skipped)
		return nil
	}
	if at, err := policy.Destination(a.Spec.Spec.Destination, s); err != nil || at.Server != settings.InClusterServer {
		fmt.Fprintf(d.io.Err, "· %s is applied to another cluster, and not compared\n", a.ID)
		return nil
	}
	rules, err := differences.Compile(a.Spec.Spec.IgnoreDifferences, s.Customizations)
	if err != nil {
		d.print("✗ %s: %v", a.ID, err)
		return nil
	}
	c := &appDiffer{differ: d, app: a, settings: s, rules: rules, declared: map[engine.ObjectID]bool{}}
	for _, o := range a.Objects {
		if hook := operation.HookOf(o); hook.Is || hook.Skip {
			continue
		}
		if err := c.object(ctx, o.DeepCopy()); err != nil {
			return err
		}
	}
	return c.leftovers(ctx)
}

// appDiffer compares the objects of one Application.
type appDiffer struct {
	*differ
	app      *offline.App
	settings settings.Settings
	rules    *differences.Rules
	declared map[engine.ObjectID]bool
}

func (d *appDiffer) object(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	mapping, err := d.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		d.print("+ %s (of %s; its kind is not served yet)", engine.IDOf(o), d.app.ID)
		return nil
	}
	o = d.placed(o, mapping)
	id := engine.IDOf(o)
	d.declared[id] = true
	client := d.client.Resource(mapping.Resource).Namespace(o.GetNamespace())
	if o.GetNamespace() == "" {
		client = d.client.Resource(mapping.Resource)
	}
	live, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		d.print("+ %s (of %s)", id, d.app.ID)
		return nil
	}
	if err != nil {
		return unreachable(fmt.Errorf("reading %s: %w", id, err))
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", id, err)
	}
	force := true
	after, err := client.Patch(ctx, o.GetName(), types.ApplyPatchType, data, metav1.PatchOptions{
		FieldManager: argoManager, Force: &force, DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		d.print("✗ %s (of %s): the server refuses it: %v", id, d.app.ID, refusal(o, err))
		return nil
	}
	return d.compare(ctx, o, after, live)
}

// refusal is why the server refuses an object; of a Secret it may quote values.
func refusal(o *unstructured.Unstructured, err error) error {
	if o.GetKind() != "Secret" {
		return err
	}
	return errors.New(string(apierrors.ReasonForError(err)))
}

// placed is an object where the Application has it, with its mark.
func (d *appDiffer) placed(o *unstructured.Unstructured, mapping *meta.RESTMapping) *unstructured.Unstructured {
	namespaced := mapping.Scope.Name() != meta.RESTScopeNameRoot
	switch {
	case !namespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(d.app.Spec.Spec.Destination.Namespace)
	}
	t := d.settings.Tracking
	tracking := differences.Tracking{
		Method: t.Method, LabelKey: t.LabelKey, InstallationID: t.InstallationID, Namespace: d.app.Spec.Spec.Destination.Namespace,
		AppName: differences.InstanceName(d.app.ID.Namespace, d.app.ID.Name, argo.DefaultNamespace),
	}
	if err := tracking.Mark(o); err != nil {
		fmt.Fprintf(d.io.Err, "· %s: %s\n", engine.IDOf(o), err)
	}
	return o
}

// compare prints where an object would change, fields that are ignored aside.
func (d *appDiffer) compare(ctx context.Context, desired, after, live *unstructured.Unstructured) error {
	id := engine.IDOf(live)
	comparison := differences.Comparison{Settings: d.settings.Compare, Rules: d.rules.For(desired), Manager: argoManager}
	found, err := comparison.Compare(ctx, desired, after, live)
	if err != nil {
		return fmt.Errorf("comparing %s: %w", id, err)
	}
	if len(found) == 0 {
		return nil
	}
	if lines := difference(live, after); lines != "" {
		d.print("~ %s (of %s)\n%s", id, d.app.ID, lines)
	}
	return nil
}

// leftovers are objects that the Application holds and no longer declares.
func (d *appDiffer) leftovers(ctx context.Context) error {
	ref, err := d.referenceTo(d.app.ID)
	if err != nil {
		return err
	}
	held, err := ref.client(d.client).Get(ctx, ref.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return unreachable(fmt.Errorf("reading %s: %w", ref, err))
	}
	for _, id := range appInventory(held) {
		if !d.declared[id] {
			d.print("- %s is held by %s and no longer declared", id, d.app.ID)
		}
	}
	return nil
}

// liveApplication is the Application of the cluster that a diff is about; false when it names a directory.
func (g *globals) liveApplication(args []string, namespace string) (reference, bool) {
	if _, err := os.Stat(args[0]); !errors.Is(err, fs.ErrNotExist) {
		return reference{}, false
	}
	target := args[0]
	if len(args) > 1 {
		target += "/" + args[1]
	}
	ref, err := g.parseReference(target, namespace)
	return ref, err == nil && ref.groupKind() == applicationKind && ref.resource != (schema.GroupVersionResource{})
}
