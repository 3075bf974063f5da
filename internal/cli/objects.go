package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux"
)

// served is a kind that commands know by name.
type served struct {
	kind     string
	aliases  []string
	resource schema.GroupVersionResource
	unit     bool
	// static objects say nothing about themselves: they have no status.
	static bool
}

// groupKind is the kind with its group.
func (s served) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: s.resource.Group, Kind: s.kind}
}

// sourceResource is a resource of the API of sources.
func sourceResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: name}
}

// operatorGroup is the API group of the kinds that suspend by an annotation.
const operatorGroup = "fluxcd.controlplane.io"

// operatorResource is a resource of that group.
func operatorResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: operatorGroup, Version: "v1", Resource: name}
}

// imageResource is a resource of the API of images.
func imageResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "image.toolkit.fluxcd.io", Version: "v1", Resource: name}
}

// notificationResource is a resource of the API of notifications.
func notificationResource(version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "notification.toolkit.fluxcd.io", Version: version, Resource: name}
}

// argoResource is a resource of the API of Argo CD.
func argoResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: argo.Group, Version: "v1alpha1", Resource: name}
}

// The kinds, by the names that the flux command has for them.
var (
	gitServed = served{
		kind: "GitRepository", aliases: []string{"git", "gitrepo", "gitrepository", "gitrepositories"},
		resource: sourceResource("gitrepositories"),
	}
	ociServed = served{
		kind: "OCIRepository", aliases: []string{"oci", "ocirepo", "ocirepository", "ocirepositories"},
		resource: sourceResource("ocirepositories"),
	}
	bucketServed = served{
		kind: "Bucket", aliases: []string{"bucket", "buckets"}, resource: sourceResource("buckets"),
	}
	repositoryServed = served{
		kind: "HelmRepository", aliases: []string{"helm", "helmrepo", "helmrepository", "helmrepositories"},
		resource: sourceResource("helmrepositories"),
	}
	chartServed = served{
		kind: "HelmChart", aliases: []string{"chart", "helmchart", "helmcharts"}, resource: sourceResource("helmcharts"),
	}
	kustomizationServed = served{
		kind: "Kustomization", aliases: []string{"ks", "kustomization", "kustomizations"}, unit: true,
		resource: schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
	}
	releaseServed = served{
		kind: "HelmRelease", aliases: []string{"hr", "helmrelease", "helmreleases"}, unit: true,
		resource: schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
	}
	setServed = served{
		kind: "ResourceSet", aliases: []string{"rset", "resourceset", "resourcesets"}, unit: true, resource: operatorResource("resourcesets"),
	}
	providerServed = served{
		kind: "ResourceSetInputProvider", aliases: []string{"rsip", "resourcesetinputprovider", "resourcesetinputproviders"},
		resource: operatorResource("resourcesetinputproviders"),
	}
	instanceServed = served{
		kind: "FluxInstance", aliases: []string{"instance", "fluxinstance", "fluxinstances"}, resource: operatorResource("fluxinstances"),
	}
	imageRepositoryServed = served{
		kind: "ImageRepository", aliases: []string{"imgrepo", "imagerepo", "imagerepository", "imagerepositories"},
		resource: imageResource("imagerepositories"),
	}
	imagePolicyServed = served{
		kind: "ImagePolicy", aliases: []string{"imgpol", "imagepol", "imagepolicy", "imagepolicies"}, resource: imageResource("imagepolicies"),
	}
	imageAutomationServed = served{
		kind: "ImageUpdateAutomation", aliases: []string{"imgupd", "iua", "imgauto", "imageupdateautomation", "imageupdateautomations"},
		resource: imageResource("imageupdateautomations"),
	}
	receiverServed = served{
		kind: "Receiver", aliases: []string{"receiver", "receivers"}, resource: notificationResource("v1", "receivers"),
	}
	alertServed = served{
		kind: "Alert", aliases: []string{"alert", "alerts"}, resource: notificationResource("v1beta3", "alerts"), static: true,
	}
	alertProviderServed = served{
		kind: "Provider", aliases: []string{"alert-provider", "alert-providers", "provider", "providers"},
		resource: notificationResource("v1beta3", "providers"), static: true,
	}
	applicationServed = served{
		kind: "Application", aliases: []string{"app", "apps", "application", "applications"}, unit: true, resource: argoResource("applications"),
	}
	applicationSetServed = served{
		kind: "ApplicationSet", aliases: []string{"appset", "appsets", "applicationset", "applicationsets"}, resource: argoResource("applicationsets"),
	}
	projectServed = served{
		kind: "AppProject", aliases: []string{"project", "projects", "appproj", "appprojs", "appproject", "appprojects"},
		resource: argoResource("appprojects"), static: true,
	}
)

func servedKinds() []served {
	return []served{
		gitServed, ociServed, bucketServed, repositoryServed, chartServed, kustomizationServed, releaseServed,
		setServed, providerServed, instanceServed, imageRepositoryServed, imagePolicyServed, imageAutomationServed,
		receiverServed, alertServed, alertProviderServed, applicationServed, applicationSetServed, projectServed,
	}
}

// allImages is the name of the kinds about images, taken together.
const allImages = "images"

// imageKinds are the kinds about images.
func imageKinds() []served {
	return []served{imageRepositoryServed, imagePolicyServed, imageAutomationServed}
}

// unitKinds are the kinds that declare units.
func unitKinds() []served {
	return []served{kustomizationServed, releaseServed, setServed, applicationServed}
}

func findKind(name string) (served, error) {
	for _, s := range servedKinds() {
		if slices.Contains(s.aliases, strings.ToLower(name)) {
			return s, nil
		}
	}
	return served{}, hint(fmt.Errorf("unknown kind %q; use ks, hr, git, oci, bucket, helm, chart, rset, rsip, instance, imgrepo, imgpol, imgupd, receiver, alert, provider, app, appset or project", name), "headgate get all")
}

// findGroupKind finds the kind of an object that is known by its identity.
func findGroupKind(gk schema.GroupKind) (served, error) {
	for _, s := range servedKinds() {
		if s.groupKind() == gk {
			return s, nil
		}
	}
	return served{}, fmt.Errorf("unknown kind %s", gk)
}

// list lists the objects of a kind. A kind that the cluster does not serve has none when missing is
// allowed: another version was installed into it.
func (s served) list(ctx context.Context, c dynamic.Interface, namespace string, missing bool) ([]*unstructured.Unstructured, error) {
	list, err := c.Resource(s.resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) && missing {
		return nil, nil
	}
	if err != nil {
		return nil, unreachable(fmt.Errorf("listing %s: %w", s.resource.Resource, err))
	}
	items := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		items[i] = &list.Items[i]
	}
	return items, nil
}

// listUnits lists all objects that declare units.
func listUnits(ctx context.Context, c dynamic.Interface) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, kind := range unitKinds() {
		list, err := kind.list(ctx, c, metav1.NamespaceAll, true)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// reference is KIND/NAME or NAME, of a namespace.
type reference struct {
	served
	namespace, name string
}

func (r reference) String() string { return r.kind + "/" + r.namespace + "/" + r.name }

// id is what a reference names.
func (r reference) id() engine.UnitID {
	return engine.UnitID{Group: r.resource.Group, Kind: r.kind, Namespace: r.namespace, Name: r.name}
}

// referenceTo refers to an object that declares a unit, or to a source.
func referenceTo[ID engine.UnitID | engine.SourceID](id ID) (reference, error) {
	at := engine.UnitID(id)
	kind, err := findGroupKind(at.GroupKind())
	return reference{served: kind, namespace: at.Namespace, name: at.Name}, err
}

// idOf is what an object is referred to by.
func idOf(u *unstructured.Unstructured) engine.UnitID {
	return engine.UnitOf(engine.IDOf(u))
}

// parseReference reads "kind/name", "kind/namespace/name", or "name" of a Kustomization. Where no namespace is named,
// that of Flux is taken, and for the kinds of Argo CD that of Argo CD.
func parseReference(text, namespace string) (reference, error) {
	parts := strings.Split(text, "/")
	r := reference{served: kustomizationServed, namespace: namespace}
	switch len(parts) {
	case 1:
		r.name = parts[0]
		return r, nil
	case 2:
		r.name = parts[1]
	case 3:
		r.namespace, r.name = parts[1], parts[2]
	default:
		return r, fmt.Errorf("%q: want KIND/NAME or KIND/NAMESPACE/NAME", text)
	}
	var err error
	r.served, err = findKind(parts[0])
	if len(parts) == 2 && r.resource.Group == argo.Group && namespace == defaultNamespace {
		r.namespace = argo.DefaultNamespace
	}
	return r, err
}

func (r reference) client(c dynamic.Interface) dynamic.ResourceInterface {
	return c.Resource(r.resource).Namespace(r.namespace)
}

func (r reference) get(ctx context.Context, c dynamic.Interface) (*unstructured.Unstructured, error) {
	u, err := r.client(c).Get(ctx, r.name, metav1.GetOptions{})
	if err != nil {
		return nil, unreachable(hint(fmt.Errorf("reading %s: %w", r, err), "headgate get all"))
	}
	return u, nil
}

// condition is one condition of an object.
func condition(u *unstructured.Unstructured, kind string) (status, reason, message string) {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, item := range list {
		c, _ := item.(map[string]any)
		if c["type"] == kind {
			status, _ = c["status"].(string)
			reason, _ = c["reason"].(string)
			message, _ = c["message"].(string)
		}
	}
	return status, reason, message
}

// readiness is the Ready condition, or what stands in for it as the flux command words it.
func readiness(u *unstructured.Unstructured) (status, reason, message string) {
	switch {
	case isApplication(u):
		return appReadiness(u)
	case u.GetKind() == applicationSetServed.kind:
		return setReadiness(u)
	}
	status, reason, message = condition(u, "Ready")
	switch {
	case status != "":
		return status, reason, message
	case flux.Static(u):
		return "True", "Succeeded", "Helm repository is Ready"
	default:
		return "False", "Unknown", "waiting to be reconciled"
	}
}

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

// revision is what a source holds, what a unit applied, or the version of the chart of a release.
func revision(u *unstructured.Unstructured) string {
	if r := text(u, "status", "artifact", "revision"); r != "" {
		return r
	}
	switch u.GetKind() {
	case imageRepositoryServed.kind:
		return text(u, "status", "lastScanResult", "revision")
	case imagePolicyServed.kind:
		return text(u, "status", "latestRef", "tag")
	case imageAutomationServed.kind:
		return text(u, "status", "observedSourceRevision")
	case applicationServed.kind:
		return appRevision(u)
	case releaseServed.kind:
	default:
		return text(u, "status", "lastAppliedRevision")
	}
	if history, _, _ := unstructured.NestedSlice(u.Object, "status", "history"); len(history) > 0 {
		latest, _ := history[0].(map[string]any)
		version, _ := latest["chartVersion"].(string)
		return version
	}
	return text(u, "status", "lastAttemptedRevision")
}

// printObjects prints objects as JSON, YAML or names.
func printObjects(streams IO, format string, list []*unstructured.Unstructured) error {
	switch format {
	case "json", "yaml":
		return printDocument(streams, format, list)
	case "name":
		for _, u := range list {
			fmt.Fprintf(streams.Out, "%s/%s/%s\n", u.GetKind(), u.GetNamespace(), u.GetName())
		}
		return nil
	default:
		return fmt.Errorf("unknown output %q; use json, yaml or name", format)
	}
}

func printDocument(streams IO, format string, list []*unstructured.Unstructured) error {
	items := make([]any, len(list))
	for i, u := range list {
		u = u.DeepCopy()
		u.SetManagedFields(nil)
		items[i] = u.Object
	}
	document := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	data, err := json.MarshalIndent(document, "", "  ")
	if err == nil && format == "yaml" {
		data, err = yaml.Marshal(document)
	}
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = fmt.Fprintln(streams.Out, strings.TrimSpace(string(data)))
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// defaultNamespace is where units are searched for when none is named.
const defaultNamespace = flux.Namespace
