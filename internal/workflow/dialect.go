// Package workflow is the dialect of workflows: it serves Workflows, WorkflowTemplates, ClusterWorkflowTemplates and CronWorkflows as Argo
// Workflows does.
//
// What a Workflow does next, and when a schedule creates a run, is decided by the pure rooms plan and cron. This room gathers the
// facts, writes what was decided into the object, and has the executors below execute carry it out. Workflows are no units of
// delivery: nothing here applies what a repository declares.
package workflow

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/deploy"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow/commands"
	"github.com/headgate-dev/headgate/internal/workflow/object"
)

// Group is the word of --serve for the kinds of workflows, which are a part of the API group argoproj.io.
const Group = "workflows.argoproj.io"

// DefaultNamespace is where Workflows are that name no namespace.
const DefaultNamespace = "default"

// Options are what a person says of how workflows are served.
type Options struct {
	// Containers makes what executes containers and scripts. Without it, they wait, with the Refusal as their message.
	Containers Containers
	// Refusal says what to do so that containers are executed; empty for a text that fits any cluster.
	Refusal string
	// Defaults are merged below the spec of every Workflow.
	Defaults *v1alpha1.WorkflowSpec
}

// refusal is what containers wait with where nothing executes them.
const refusal = "containers and scripts are not executed here: pass --allow-local-exec to headgate up, which runs them as processes of this machine"

// Dialect is the one of workflows.
type Dialect struct {
	Options
	commands.Verbs
}

// New returns the dialect; Options may be changed until it is served.
func New(o Options) *Dialect { return &Dialect{Options: o} }

// Jobs are what workflows have done in the sandbox.
func Jobs() []sandbox.Job { return object.Jobs() }

// Name is the word for the group.
func (*Dialect) Name() string { return "workflows" }

// Groups is the part of the API group that has workflows.
func (*Dialect) Groups() []dialect.Group {
	return []dialect.Group{{Name: Group, API: v1alpha1.GroupVersion.Group, Controllers: []string{"workflow-controller", "argo-workflows-workflow-controller"}}}
}

// Kinds are those that commands know.
func (*Dialect) Kinds() []dialect.Kind {
	kind := func(name string, aliases ...string) dialect.Kind {
		resource := strings.ToLower(name) + "s"
		return dialect.Kind{
			GroupKind: schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}, Version: v1alpha1.GroupVersion.Version, Resource: resource,
			Aliases: append(aliases, resource), Namespace: DefaultNamespace,
		}
	}
	all := []dialect.Kind{
		kind(v1alpha1.WorkflowKind, "workflow", "wf"),
		kind(v1alpha1.CronWorkflowKind, "cronworkflow", "cronwf", "cwf"),
		kind(v1alpha1.WorkflowTemplateKind, "workflowtemplate", "wftmpl"),
		kind(v1alpha1.ClusterWorkflowTemplateKind, "clusterworkflowtemplate", "clusterwftmpl", "cwft"),
	}
	all[2].Static, all[3].Static = true, true
	all[3].ClusterScoped, all[3].Namespace = true, ""
	return all
}

// Definitions are those of the four kinds.
func (*Dialect) Definitions(serve dialect.Groups) ([]*unstructured.Unstructured, []string, error) {
	if !serve.Serves(Group) {
		return nil, nil, nil
	}
	all, err := deploy.WorkflowCRDs()
	return all, nil, err
}

// Upstream is how the controller of Argo Workflows is known.
func (*Dialect) Upstream() dialect.Upstream {
	return dialect.Upstream{
		Name: "argo-workflows", Title: "Argo Workflows", PartOf: "argo-workflows", Kinds: []string{"Deployment"}, Renamed: true,
		Replaced: []schema.GroupKind{{Group: "apps", Kind: "Deployment"}},
	}
}

var (
	_ dialect.Dialect    = (*Dialect)(nil)
	_ dialect.Upstreamed = (*Dialect)(nil)
	_ dialect.Stating    = (*Dialect)(nil)
	_ dialect.Tabular    = (*Dialect)(nil)
	_ dialect.Causing    = (*Dialect)(nil)
)
