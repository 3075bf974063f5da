package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

type healthOptions struct {
	*console.Globals
	files            []string
	settings, output string
}

// NewHealth is the command that evaluates the health of objects.
func NewHealth(g *console.Globals) *cobra.Command {
	o := healthOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "health -f FILE",
		Short: "Evaluate objects by the health checks of Argo CD, without a cluster",
		Long: `Evaluate objects by the health checks of Argo CD, in these steps:

  1. read the objects: the documents of each FILE, and the items of lists; - is standard input
  2. with --settings, read the overrides of an Argo CD: from its ConfigMap argocd-cm, from the
     values of the chart argo-cd (configs.cm), or from a directory that contains one of them
  3. evaluate each object by the override for its kind, or else by Argo CD's own check
  4. print the status and the message: Healthy, Suspended, Progressing, Missing, Degraded or Unknown

An object whose kind has no check counts as healthy, as in Argo CD. The exit code is 1 if another object
is not Healthy: Suspended is not, since Argo CD waits for it too. It is 2 if something cannot be read, or
if a script of the settings has a syntax error.`,
		Example: `  kubectl get certificates -A -o yaml | headgate health -f -
  headgate health -f rollout.yaml --settings argocd-cm.yaml
  headgate health -f objects.yaml --settings ./argocd -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runHealth(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, "file with objects, or - for standard input (repeatable)")
	f.StringVar(&o.settings, "settings", "", "argocd-cm, values of the chart argo-cd, or a directory with one of them")
	f.StringVarP(&o.output, "output", "o", "", "json")
	console.CompleteOutput(cmd, "json")
	return cmd
}

// judged is an object and its health. One without a status has no check.
type judged struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	argocd.Health
}

func runHealth(ctx context.Context, o healthOptions) error {
	switch {
	case len(o.files) == 0:
		return console.Hint(errors.New("no objects given"), "headgate health -f FILE")
	case o.output != "" && o.output != "json":
		return console.Hint(fmt.Errorf("unknown output %q", o.output), "headgate health -f FILE -o json")
	}
	settings, err := readSettings(o.Globals, o.settings)
	if err != nil {
		return err
	}
	checks, all := argocd.New(settings), []judged{}
	for _, name := range o.files {
		err := o.EachDocumentOf(name, func(_ int, document map[string]any) error {
			return eachObject(document, func(u *unstructured.Unstructured) {
				h, known := checks.Health(ctx, u)
				if !known {
					h = argocd.Health{}
				}
				all = append(all, judged{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName(), Health: h})
			})
		})
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := printHealth(o, all); err != nil {
		return err
	}
	for _, j := range all {
		if j.Status != "" && j.Status != argocd.Healthy {
			return console.ErrNo
		}
	}
	return nil
}

// eachObject takes an object, or the items of a list one by one.
func eachObject(document map[string]any, do func(*unstructured.Unstructured)) error {
	u := &unstructured.Unstructured{Object: document}
	if u.GetKind() == "" || u.GetAPIVersion() == "" {
		return errors.New("apiVersion or kind is missing")
	}
	items, isList := document["items"].([]any)
	if !isList || !strings.HasSuffix(u.GetKind(), "List") {
		do(u)
		return nil
	}
	for i, item := range items {
		object, _ := item.(map[string]any)
		if err := eachObject(object, do); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

func printHealth(o healthOptions, all []judged) error {
	if o.output == "json" {
		data, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			return fmt.Errorf("encoding the health of objects: %w", err)
		}
		_, err = fmt.Fprintf(o.IO.Out, "%s\n", data)
		return err
	}
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAMESPACE\tNAME\tSTATUS\tMESSAGE")
	for _, j := range all {
		status, message := string(j.Status), strings.Join(strings.Fields(j.Message), " ")
		if status == "" {
			status, message = "-", "Argo CD has no check for this kind"
		}
		fmt.Fprintf(w, "%s\t%s/%s\t%s\t%s\n", j.Namespace, strings.ToLower(j.Kind), j.Name, status, message)
	}
	return w.Flush()
}
