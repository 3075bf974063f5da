package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
)

type promoteOptions struct {
	*console.Globals
	dialect.PromoteOptions
	name, namespace string
	timeout         time.Duration
}

// NewPromote is the command that promotes to a Stage.
func NewPromote(g *console.Globals) *cobra.Command {
	o := promoteOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "promote STAGE --freight NAME",
		Short: "Promote a Freight of Kargo to a Stage",
		Long: `Promote a Freight, in these steps:

  1. find the Stage: NAME, PROJECT/NAME or stage/NAME, in every Project without --namespace
  2. find the Freight, by its alias, its name, or the first digits of that
  3. create a Promotion as the template of the Stage says, and follow its steps to the end

Without --freight, the Freight of the Project is listed, and what each waits for. A Freight that is not available
to the Stage is refused; --approve permits it. An older Freight is a rollback: the Stage is then not promoted to
automatically until a newer one is promoted by hand. --abort ends the Promotion in progress; what its steps have
pushed remains. The exit code is 1 if the Promotion did not succeed, or if there was none to abort.`,
		Example: `  headgate promote shop/staging
  headgate promote shop/staging --freight lucky-otter
  headgate promote prod -n shop --freight 2f1c9e0 --approve
  headgate promote shop/staging --abort`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return runPromote(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", "", "Project of the Stage (default: every one)")
	f.StringVar(&o.What, "freight", "", "alias or name of the Freight")
	f.BoolVar(&o.Approve, "approve", false, "approve the Freight for the Stage first, so that other Stages do not have to come before")
	f.BoolVar(&o.Abort, "abort", false, "end the Promotion in progress, or else the first that waits, instead of creating one")
	f.BoolVar(&o.Wait, "wait", true, "follow the Promotion to its end")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	cmd.MarkFlagsMutuallyExclusive("abort", "freight")
	cmd.MarkFlagsMutuallyExclusive("abort", "approve")
	return cmd
}

func runPromote(ctx context.Context, o promoteOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not ended after %s", o.timeout))
	defer cancel()
	client, err := o.Client()
	if err != nil {
		return err
	}
	of, kind, has := o.promoting()
	if !has {
		return errors.New("this binary promotes nothing")
	}
	u, err := o.find(ctx, client, kind)
	if err != nil {
		return err
	}
	reached, err := of.Promote(ctx, console.NewSession(o.Globals, client), u, o.PromoteOptions)
	if err == nil && !reached {
		err = console.ErrNo
	}
	return err
}

// promoting is the dialect that promotes, and the kind to whose objects it does.
func (o promoteOptions) promoting() (of dialect.Promoting, kind dialect.Kind, has bool) {
	for _, d := range o.Catalogue {
		if of, has = d.(dialect.Promoting); !has {
			continue
		}
		for _, k := range d.Kinds() {
			if of.Promotes(k.GroupKind) {
				return of, k, true
			}
		}
	}
	return nil, kind, false
}

// find is the object that the arguments name.
func (o promoteOptions) find(ctx context.Context, client dynamic.Interface, kind dialect.Kind) (*unstructured.Unstructured, error) {
	namespace, name := o.namespace, o.name
	if before, after, both := strings.Cut(name, "/"); both {
		name = after
		if before != strings.ToLower(kind.GroupKind.Kind) && before != kind.Resource {
			if namespace != "" && namespace != before {
				return nil, fmt.Errorf("%s and --namespace %s name two Projects", o.name, namespace)
			}
			namespace = before
		}
	}
	list, err := client.Resource(kind.GroupVersionResource()).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, console.Unreachable(console.Hint(fmt.Errorf("reading the %s: %w", kind.Resource, err), "headgate up . --promotions"))
	}
	var found []*unstructured.Unstructured
	var all []string
	for i := range list.Items {
		at := list.Items[i].GetNamespace() + "/" + list.Items[i].GetName()
		all = append(all, at)
		if list.Items[i].GetName() == name {
			found = append(found, &list.Items[i])
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, console.Hint(fmt.Errorf("%s %q is in %d Projects: name one by --namespace", kind.GroupKind.Kind, name, len(found)), "headgate get %s -A", kind.Resource)
	case len(all) > 0:
		return nil, console.Hint(fmt.Errorf("there is no %s %q, but %s", kind.GroupKind.Kind, name, strings.Join(all, ", ")), "headgate promote %s", all[0])
	}
	return nil, console.Hint(fmt.Errorf("there is no %s %q, nor any other", kind.GroupKind.Kind, name), "headgate get %s -A", kind.Resource)
}
