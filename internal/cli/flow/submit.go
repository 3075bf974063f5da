package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/workflow/document"
	"github.com/headgate-dev/headgate/internal/workflow/request"
)

type submitOptions struct {
	place
	request.Submission

	from, parameterFile, labels, annotations string
	parameters                               []string
	priority                                 int32
	dry, serverDry                           bool
	after                                    following
}

func newSubmit(g *console.Globals) *cobra.Command {
	o := submitOptions{place: place{Globals: g}}
	cmd := &cobra.Command{
		Use:   "submit FILE... | submit --from KIND/NAME",
		Short: "Submit Workflows from files or from a template",
		Long: `Submit Workflows, in these steps:

  1. read the Workflows of the files ("-" is the standard input), or make one from a WorkflowTemplate (wftmpl), a
     ClusterWorkflowTemplate (cwft) or a CronWorkflow (cronwf)
  2. set what the flags say: names, arguments, labels
  3. check it, with the templates of the cluster that it refers to; what is wrong is named, and nothing is created
  4. create it, show it, and follow it if requested`,
		Example: `  headgate workflow submit build.yaml -p rev=main --watch
  headgate workflow submit --from wftmpl/nixos-image -p rev=main -o name
  headgate workflow submit --from cronwf/nightly --log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("priority") {
				o.Priority = &o.priority
			}
			return o.run(cmd.Context(), args)
		},
	}
	o.bind(cmd)
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "make it from KIND/NAME: workflowtemplate, clusterworkflowtemplate (cwft), cronworkflow (cronwf)")
	f.StringArrayVarP(&o.parameters, "parameter", "p", nil, "NAME=VALUE of an argument (repeatable)")
	f.StringVarP(&o.parameterFile, "parameter-file", "f", "", "file of arguments by name, as YAML or JSON; those of -p prevail")
	f.StringVar(&o.Entrypoint, "entrypoint", "", "template to execute first")
	f.StringVar(&o.Name, "name", "", "metadata.name")
	f.StringVar(&o.GenerateName, "generate-name", "", "metadata.generateName")
	f.StringVar(&o.ServiceAccount, "serviceaccount", "", "ServiceAccount of the Workflow")
	f.StringVarP(&o.labels, "labels", "l", "", "labels to set: NAME=VALUE,NAME=VALUE")
	f.StringVar(&o.annotations, "annotations", "", "annotations to set: NAME=VALUE,NAME=VALUE")
	f.Int32Var(&o.priority, "priority", 0, "priority among Workflows that wait")
	f.BoolVar(&o.dry, "dry-run", false, "check and show it, and create nothing")
	f.BoolVar(&o.serverDry, "server-dry-run", false, "have the API server check it as well, and create nothing")
	o.after.bind(cmd)
	return cmd
}

func (o submitOptions) run(ctx context.Context, files []string) error {
	if (o.from == "") == (len(files) == 0) {
		return console.Hint(errors.New("a file is required, or --from"), "headgate workflow submit FILE, or headgate workflow submit --from wftmpl/NAME")
	}
	if err := o.after.check(); err != nil {
		return err
	}
	if err := o.parse(); err != nil {
		return err
	}
	if err := o.open(); err != nil {
		return err
	}
	runs, err := o.runs(ctx, files)
	if err != nil {
		return err
	}
	if follows := o.after.watch || o.after.log || o.after.wait; len(runs) > 1 && (follows || o.Name != "") {
		return fmt.Errorf("the files have %d workflows: --name, --wait, --watch and --log are for one", len(runs))
	}
	for _, wf := range runs {
		if err := o.check(ctx, wf); err != nil {
			return err
		}
	}
	for _, wf := range runs {
		if err := o.submit(ctx, wf); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the flags.
func (o *submitOptions) parse() error {
	given, err := request.ParseParameters(o.parameters)
	if err != nil {
		return err
	}
	if o.parameterFile != "" {
		data, err := o.read(o.parameterFile)
		if err != nil {
			return err
		}
		if o.Parameters, err = request.ParseParameterFile(data); err != nil {
			return fmt.Errorf("--parameter-file %q: %w", o.parameterFile, err)
		}
	}
	o.Parameters = append(o.Parameters, given...)
	if o.Labels, err = request.ParseLabels(o.labels); err != nil {
		return err
	}
	o.Annotations, err = request.ParseLabels(o.annotations)
	return err
}

// read reads a file, or the standard input.
func (p *place) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(p.IO.In)
	}
	return os.ReadFile(name) //nolint:gosec // the user names it
}

// runs are the workflows to submit.
func (o *submitOptions) runs(ctx context.Context, files []string) ([]*v1alpha1.Workflow, error) {
	if o.from != "" {
		wf, err := o.made(ctx)
		if err != nil {
			return nil, err
		}
		wf, err = o.placed(wf)
		return []*v1alpha1.Workflow{wf}, err
	}
	var runs []*v1alpha1.Workflow
	for _, name := range files {
		data, err := o.read(name)
		if err != nil {
			return nil, err
		}
		some, err := o.inFile(document.File{Name: name, Data: data})
		if err != nil {
			return nil, err
		}
		runs = append(runs, some...)
	}
	if len(runs) == 0 {
		return nil, errors.New("there is no Workflow in the files")
	}
	return runs, nil
}

// inFile are the workflows of a file.
func (o *submitOptions) inFile(file document.File) ([]*v1alpha1.Workflow, error) {
	objects, broken := document.Read(file)
	if len(broken) > 0 {
		return nil, errors.New(broken[0].String())
	}
	var runs []*v1alpha1.Workflow
	for _, object := range objects {
		if object.Kind != v1alpha1.WorkflowKind {
			return nil, console.Hint(
				fmt.Errorf("%s:%d: %s %s is not a Workflow: it is applied, not submitted", object.File, object.Line, object.Kind, object.Name),
				"kubectl apply -f %s; headgate workflow submit --from KIND/NAME", object.File)
		}
		wf := &v1alpha1.Workflow{}
		if err := json.Unmarshal(object.JSON, wf); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", object.File, object.Line, err)
		}
		wf, err := o.placed(wf)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", object.File, object.Line, err)
		}
		runs = append(runs, wf)
	}
	return runs, nil
}

// placed is a workflow with what the flags say. It goes where it says, unless a namespace was given.
func (o *submitOptions) placed(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	wf, err := o.Apply(wf)
	if err == nil && (wf.Namespace == "" || o.named) {
		wf.Namespace = o.namespace
	}
	return wf, err
}

// made is a run of what --from names.
func (o *submitOptions) made(ctx context.Context) (*v1alpha1.Workflow, error) {
	kind, name, err := request.ParseFrom(o.from)
	if err != nil {
		return nil, err
	}
	switch kind {
	case v1alpha1.CronWorkflowKind:
		u, err := o.client.Resource(resource("cronworkflows")).Namespace(o.namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, o.explained(fmt.Errorf("reading CronWorkflow %q: %w", name, err))
		}
		cron, err := declared.Read[v1alpha1.CronWorkflow](u)
		if err != nil {
			return nil, err
		}
		return request.FromSchedule(cron, time.Now()), nil
	default:
		return request.FromTemplate(name, kind == v1alpha1.ClusterWorkflowTemplateKind), nil
	}
}

// submit creates a workflow, shows it and follows it.
func (o *submitOptions) submit(ctx context.Context, wf *v1alpha1.Workflow) error {
	if !o.dry {
		var err error
		if wf, err = o.create(ctx, wf, o.serverDry); err != nil {
			return err
		}
	}
	if o.dry || o.serverDry {
		return (&following{output: o.after.output}).follow(ctx, &o.place, wf)
	}
	return o.after.follow(ctx, &o.place, wf)
}
