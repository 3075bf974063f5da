// Package flow has the commands for workflows: submit, list, get, watch, logs, retry, stop, terminate, suspend, resume, lint.
//
// They take the flags of the upstream's argo command, and talk to the API server and nothing else: a request is a change of an object,
// which the engine that serves workflows acts on, whether that is this one or the upstream's.
package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/view"
)

// NewWorkflow is the command that has those for workflows below it.
func NewWorkflow(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "workflow",
		Aliases: []string{"wf"},
		Short:   "Submit, watch and steer Workflows",
		Long: `Submit, watch and steer Workflows of Argo Workflows, with the flags of the argo command.

NAME is the name of a Workflow, or @latest for the one that was created last in the namespace. Without -n, the
namespace is that of the context of the kubeconfig, or "default".`,
		Args: cobra.NoArgs,
	}
	for _, add := range []func(*console.Globals) *cobra.Command{
		newSubmit, newList, newGet, newWatch, newLogs, newRetry, newStop, newTerminate, newSuspend, newResume, newLint,
	} {
		cmd.AddCommand(add(g))
	}
	return cmd
}

// latest names the workflow that was created last.
const latest = "@latest"

// place is where workflows are.
type place struct {
	*console.Globals
	namespace string
	// named is set if the user named the namespace.
	named  bool
	client dynamic.Interface
}

// bind adds the flag for the namespace.
func (p *place) bind(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&p.namespace, "namespace", "n", "", "namespace of the workflow (default: that of the context)")
}

// open connects to the cluster.
func (p *place) open() error {
	var err error
	if p.client, err = p.Client(); err != nil {
		return err
	}
	if p.named = p.namespace != ""; !p.named {
		p.namespace, err = p.ContextNamespace()
	}
	return err
}

// resource is how a kind is reached.
func resource(name string) schema.GroupVersionResource {
	return v1alpha1.GroupVersion.WithResource(name)
}

// workflows reads and writes Workflows of a namespace.
func (p *place) workflows(namespace string) dynamic.ResourceInterface {
	return p.client.Resource(resource("workflows")).Namespace(namespace)
}

// get reads a workflow by its name.
func (p *place) get(ctx context.Context, name string) (*v1alpha1.Workflow, error) {
	if name == latest {
		return p.latest(ctx)
	}
	u, err := p.workflows(p.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, p.explained(fmt.Errorf("reading workflow %q: %w", name, err))
	}
	return read(u)
}

// read reads a workflow, with the nodes of a large one.
func read(u *unstructured.Unstructured) (*v1alpha1.Workflow, error) {
	wf, err := declared.Read[v1alpha1.Workflow](u)
	if err != nil {
		return nil, err
	}
	return plan.Expanded(wf)
}

// latest is the workflow that was created last.
func (p *place) latest(ctx context.Context) (*v1alpha1.Workflow, error) {
	all, err := p.list(ctx, p.namespace, "")
	if err != nil {
		return nil, err
	}
	var last *v1alpha1.Workflow
	for _, wf := range all {
		if last == nil || last.CreationTimestamp.Before(&wf.CreationTimestamp) {
			last = wf
		}
	}
	if last == nil {
		return nil, console.Hint(fmt.Errorf("there are no workflows in namespace %q", p.namespace), "headgate workflow list -A")
	}
	return last, nil
}

// list reads all workflows of a namespace, in the order of lists.
func (p *place) list(ctx context.Context, namespace, selector string) ([]*v1alpha1.Workflow, error) {
	list, err := p.workflows(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, p.explained(fmt.Errorf("listing workflows: %w", err))
	}
	var all []*v1alpha1.Workflow
	for i := range list.Items {
		wf, err := read(&list.Items[i])
		if err != nil {
			fmt.Fprintf(p.IO.Err, "! %s/%s: %v\n", list.Items[i].GetNamespace(), list.Items[i].GetName(), err)
			continue
		}
		all = append(all, wf)
	}
	view.Sort(all)
	return all, nil
}

// explained gives an error of a request the next command to try.
func (p *place) explained(err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		// A kind that is not served is not found, either.
		return console.Hint(err, "headgate workflow list -n %s, or if no kind of workflow is known, headgate check", p.namespace)
	default:
		return console.Unreachable(err)
	}
}

// printed prints an object as -o says: name, json or yaml. It is false if that is another format.
func printed(streams console.IO, format string, name string, object any) (bool, error) {
	var data []byte
	var err error
	switch format {
	case "name":
		data = []byte(name + "\n")
	case "json":
		data, err = json.MarshalIndent(object, "", "  ")
		data = append(data, '\n')
	case "yaml":
		data, err = yaml.Marshal(object)
	default:
		return false, nil
	}
	if err == nil {
		_, err = streams.Out.Write(data)
	}
	return true, err
}

// shown prints a workflow as -o says.
func (p *place) shown(wf *v1alpha1.Workflow, format string, o view.Options) error {
	wf = wf.DeepCopy()
	wf.ManagedFields = nil
	wf.APIVersion, wf.Kind = v1alpha1.GroupVersion.String(), v1alpha1.WorkflowKind
	if done, err := printed(p.IO, format, wf.Name, wf); done {
		return err
	}
	o.Wide, o.Short = o.Wide || format == "wide", format == "short"
	_, err := fmt.Fprint(p.IO.Out, view.Summary(wf, o, time.Now()))
	return err
}

// checkFormat is an error for a format that there is not.
func checkFormat(format string, formats ...string) error {
	for _, one := range append(formats, "", "name", "json", "yaml") {
		if format == one {
			return nil
		}
	}
	return fmt.Errorf("unknown output %q; use name, json, yaml%s", format, joined(formats))
}

func joined(formats []string) string {
	text := ""
	for _, one := range formats {
		text += ", " + one
	}
	return text
}

// answer is the exit code for how a workflow ended.
func answer(wf *v1alpha1.Workflow) error {
	if wf.Status.Phase == v1alpha1.WorkflowSucceeded {
		return nil
	}
	return console.ErrNo
}

// errDeleted is returned when a workflow is deleted that is followed.
var errDeleted = errors.New("it was deleted in the meantime")
