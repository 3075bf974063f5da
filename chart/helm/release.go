package helm

import (
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/headgate-dev/headgate/chart"
)

// maxRelease is the length of a release's name, which charts append to.
const maxRelease = 53

// Props say which chart is rendered, and how.
type Props struct {
	// Chart is the name of a chart in Repo, the address of one in a registry ("oci://ghcr.io/stefanprodan/charts/podinfo"), or the path
	// of a directory or of a packed chart, from the working directory.
	Chart string
	// Repo is the URL of a Helm repository, or of a folder of a registry ("oci://ghcr.io/stefanprodan/charts").
	Repo string
	// Version is a version or a range ("6.x", "^6.1.0"); without it the newest that is no pre-release. What it led to is in the lock file.
	Version string
	// Login is for the repository or registry; a registry is logged in to as docker is otherwise.
	Login *Login

	// Release is the name of the release: at most 53 characters. Without it, a name is made of the path as for objects.
	Release string
	// Namespace is that of the release: objects without a namespace get it. Without it, it is that of the chart around it, and
	// "default" for templates if that has none.
	Namespace string
	// Values replace those of the chart: a map[string]any, or a struct with json tags.
	Values any
	// ValuesFiles are YAML files from the working directory; a later one counts before an earlier one, and Values before all.
	ValuesFiles []string
	// KubeVersion and APIVersions are what templates see of a cluster: DefaultKubeVersion, and the versions of Kubernetes' own kinds with
	// those named here ("monitoring.coreos.com/v1", "monitoring.coreos.com/v1/ServiceMonitor").
	KubeVersion string
	APIVersions []string
	// IncludeCRDs adds the definitions in the folder crds of the chart, before all else. As with "helm template", they are left out otherwise.
	IncludeCRDs bool
	// Hooks says which hooks are among the objects.
	Hooks Hooks
	// Upgrade renders as for an upgrade of the release, instead of an install.
	Upgrade bool
	// SkipSchemaValidation leaves values.schema.json unread.
	SkipSchemaValidation bool
	// Volatile permits templates that give something else every time.
	Volatile bool
	// Store is where archives and the lock file are.
	Store Store
}

// Login is a name and a password.
type Login struct{ Username, Password string }

// Hooks says which hooks of a chart are among its objects.
type Hooks int

const (
	// AllHooks has hooks and tests after the other objects, with their annotations, as "helm template" prints them.
	AllHooks Hooks = iota
	// NoTests has hooks without tests: --skip-tests.
	NoTests
	// NoHooks has neither: --no-hooks.
	NoHooks
)

// DefaultKubeVersion is the version of Kubernetes that templates see.
const DefaultKubeVersion = "v1.36.0"

// Release is the objects of a chart.
type Release struct {
	node    *chart.Node
	name    string
	objects []*chart.Object
	failed  bool
}

// Chart renders a chart of Helm, and adds its objects below scope. Their names on the path are name-kind-namespace. What fails is an
// error of Synth, with the path and the line of the caller.
func Chart(scope chart.Scope, id string, props Props) *Release {
	group := chart.NewGroup(scope, id)
	r := &Release{node: group.Node(), name: props.Release}
	if r.name == "" {
		r.name = r.node.DNSLabel(maxRelease)
	}
	namespace := props.Namespace
	if around := r.node.Chart(); namespace == "" && around != nil {
		namespace = around.Namespace()
	}
	rendered, err := render(props, r.name, namespace)
	if err != nil {
		r.failed = true
		r.node.Errorf("rendering the chart %s as release %q: %w", props.reference(), r.name, err)
		return r
	}
	r.add(group, rendered)
	r.place(props.Namespace)
	return r
}

// reference is how a chart is called in errors.
func (p Props) reference() string {
	name := p.Chart
	if p.Repo != "" {
		name = strings.TrimSuffix(p.Repo, "/") + "/" + p.Chart
	}
	if p.Version != "" {
		return fmt.Sprintf("%s@%s", name, p.Version)
	}
	return name
}

// add adds objects; those that have no name, since the API server makes it, are numbered.
func (r *Release) add(group *chart.Group, rendered []map[string]any) {
	taken := map[string]int{}
	for _, object := range rendered {
		metadata, _ := object["metadata"].(map[string]any)
		id := ""
		for _, part := range []any{metadata["name"], strings.ToLower(fmt.Sprint(object["kind"])), metadata["namespace"]} {
			if word, ok := part.(string); ok && word != "" {
				id = strings.TrimPrefix(id+"-"+word, "-")
			}
		}
		if metadata["name"] == nil {
			taken[id]++
			id = fmt.Sprintf("%s-%d", id, taken[id])
		}
		r.objects = append(r.objects, chart.Add(group, id, object))
	}
}

// place gives the namespace of the release to the objects that have none.
func (r *Release) place(namespace string) {
	if namespace == "" {
		return
	}
	for _, o := range r.objects {
		object, _ := o.Value().(map[string]any)
		metadata, ok := object["metadata"].(map[string]any)
		if !ok {
			metadata = map[string]any{}
			object["metadata"] = metadata
		}
		if own, _ := metadata["namespace"].(string); own == "" && o.Namespaced() {
			metadata["namespace"] = namespace
		}
	}
}

// Node is the place of the objects.
func (r *Release) Node() *chart.Node { return r.node }

// Name is that of the release.
func (r *Release) Name() string { return r.name }

// Objects are the objects of the chart, in the order in which Helm installs them, and its hooks after them.
func (r *Release) Objects() []*chart.Object { return r.objects }

// Object is the object of a kind and a name. If there is none, that is an error of Synth; the object that is returned then is written
// nowhere.
func (r *Release) Object(kind, name string) *chart.Object {
	var others []string
	for _, o := range r.objects {
		if o.Kind() == kind && o.Name() == name {
			return o
		}
		others = append(others, o.Kind()+"/"+o.Name())
	}
	if !r.failed {
		r.node.Errorf("%s/%s is not among the objects of the chart: %s", kind, name, strings.Join(others, ", "))
	}
	nowhere := chart.New(chart.NewApp(chart.Settings{}), "nowhere", chart.Props{})
	return chart.Add(nowhere, "object", map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}})
}

// Patch patches the object of a kind and a name; see chart.Object.Patch.
func (r *Release) Patch(kind, name string, patches ...chart.Patch) *Release {
	r.Object(kind, name).Patch(patches...)
	return r
}

// validName refuses what Helm does not accept as the name of a release.
func validName(name string) error {
	if err := util.ValidateReleaseName(name); err != nil {
		return fmt.Errorf("%q cannot be the name of a release: a-z, 0-9, - and ., at most %d characters, a letter or digit at both ends; set Release", name, maxRelease)
	}
	return nil
}
