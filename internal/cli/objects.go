package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/progress"
)

// served is a kind that commands know by name.
type served struct {
	kind     string
	aliases  []string
	resource schema.GroupVersionResource
	unit     bool
}

var (
	kustomizationServed = served{
		kind: "Kustomization", aliases: []string{"ks", "kustomization", "kustomizations"}, unit: true,
		resource: schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"},
	}
	gitServed = served{
		kind: "GitRepository", aliases: []string{"git", "gitrepo", "gitrepository", "gitrepositories"},
		resource: schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"},
	}
)

var (
	ociServed = served{
		kind: "OCIRepository", aliases: []string{"oci", "ocirepo", "ocirepository", "ocirepositories"},
		resource: schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "ocirepositories"},
	}
	releaseServed = served{
		kind: "HelmRelease", aliases: []string{"hr", "helmrelease", "helmreleases"}, unit: true,
		resource: schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"},
	}
)

func servedKinds() []served {
	return []served{gitServed, ociServed, kustomizationServed, releaseServed}
}

func findKind(name string) (served, error) {
	for _, s := range servedKinds() {
		if slices.Contains(s.aliases, strings.ToLower(name)) {
			return s, nil
		}
	}
	return served{}, hint(fmt.Errorf("kind %q is not known here; use ks, hr, git or oci", name), "headgate get all")
}

// reference is KIND/NAME or NAME, of a namespace.
type reference struct {
	served
	namespace, name string
}

func (r reference) String() string { return r.kind + "/" + r.namespace + "/" + r.name }

// parseReference reads "kind/name", "kind/namespace/name", or "name" of a Kustomization.
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

func text(u *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(u.Object, path...)
	return s
}

func suspended(u *unstructured.Unstructured) bool {
	b, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend")
	return b
}

// revision is what a source holds, what a unit applied, or the version of the chart of a release.
func revision(u *unstructured.Unstructured) string {
	if r := text(u, "status", "artifact", "revision"); r != "" {
		return r
	}
	if history, _, _ := unstructured.NestedSlice(u.Object, "status", "history"); u.GetKind() == releaseServed.kind && len(history) > 0 {
		latest, _ := history[0].(map[string]any)
		version, _ := latest["chartVersion"].(string)
		return version
	}
	return text(u, "status", "lastAppliedRevision")
}

// printObjects prints objects as a table, JSON, YAML or names.
func printObjects(streams IO, format string, list []*unstructured.Unstructured) error {
	switch format {
	case "json", "yaml":
		return printDocument(streams, format, list)
	case "name":
		for _, u := range list {
			fmt.Fprintf(streams.Out, "%s/%s/%s\n", u.GetKind(), u.GetNamespace(), u.GetName())
		}
		return nil
	case "":
		return printTable(streams, list)
	default:
		return fmt.Errorf("output %q is not known; use json, yaml or name", format)
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

func printTable(streams IO, list []*unstructured.Unstructured) error {
	w := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tNAMESPACE\tNAME\tREADY\tSUSPENDED\tREVISION\tAGE\tMESSAGE")
	for _, u := range list {
		ready, _, message := condition(u, "Ready")
		if ready == "" {
			ready, message = "Unknown", "waiting to be reconciled"
		}
		age := time.Since(u.GetCreationTimestamp().Time).Round(time.Second)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%v\t%s\t%s\t%s\n", u.GetKind(), u.GetNamespace(), u.GetName(), ready,
			suspended(u), progress.Short(revision(u)), age, oneLine(progress.Short(message)))
	}
	return w.Flush()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// defaultNamespace is where units are looked for when none is named.
const defaultNamespace = flux.Namespace
