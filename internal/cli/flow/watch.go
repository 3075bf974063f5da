package flow

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/workflow/request"
	"github.com/headgate-dev/headgate/internal/workflow/view"
)

func newWatch(g *console.Globals) *cobra.Command {
	p := place{Globals: g}
	text := ""
	cmd := &cobra.Command{
		Use:   "watch NAME|@latest",
		Short: "Watch a Workflow until it has ended",
		Long: `Watch a Workflow, in these steps:

  1. print the tree of its nodes, which is rewritten as they change; where the output is not a terminal,
     a line for each node that gets to another phase
  2. end when it has ended: the exit code is 0 if it has succeeded, else 1`,
		Example: "  headgate workflow watch @latest",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			selector, err := request.ParseSelector(text)
			if err == nil {
				err = p.open()
			}
			if err != nil {
				return err
			}
			wf, err := p.get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return p.watched(cmd.Context(), wf, selector)
		},
	}
	p.bind(cmd)
	cmd.Flags().StringVar(&text, "node-field-selector", "", "only these nodes, such as templateName=build")
	return cmd
}

// watched shows a workflow until it has ended, and returns the exit code for that.
func (p *place) watched(ctx context.Context, wf *v1alpha1.Workflow, selector fields.Selector) error {
	screen := progress.New(p.IO.Out)
	defer screen.Clear()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	changes, failed := p.follow(ctx, wf)
	var last *v1alpha1.Workflow
	for {
		select {
		case <-tick.C:
			if last != nil {
				screen.Block(lines(last, selector))
			}
			continue
		case err := <-failed:
			return err
		case next := <-changes:
			if !screen.Block(lines(next, selector)) {
				for _, line := range view.Changes(last, next) {
					fmt.Fprintln(p.IO.Out, line)
				}
			}
			last = next
		}
		if last.Status.Phase.Completed() {
			if screen.Block(nil) {
				fmt.Fprint(p.IO.Out, view.Summary(last, view.Options{Selector: selector}, time.Now()))
			}
			return answer(last)
		}
	}
}

// lines are a workflow as it is shown on a terminal.
func lines(wf *v1alpha1.Workflow, selector fields.Selector) []string {
	text := view.Summary(wf, view.Options{Selector: selector}, time.Now())
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// waited waits until a workflow has ended, says how, and returns the exit code for that.
func (p *place) waited(ctx context.Context, wf *v1alpha1.Workflow, quiet bool) error {
	ended, err := p.end(ctx, wf)
	if err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintf(p.IO.Out, "%s %s at %s\n", ended.Name, ended.Status.Phase, ended.Status.FinishedAt.UTC().Format(time.RFC3339))
	}
	return answer(ended)
}

// end is a workflow once it has ended.
func (p *place) end(ctx context.Context, wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	changes, failed := p.follow(ctx, wf)
	for {
		select {
		case err := <-failed:
			return nil, err
		case next := <-changes:
			if next.Status.Phase.Completed() {
				return next, nil
			}
		}
	}
}

// follow sends a workflow as it is, and each time that it has changed, until it is deleted or ctx ends, which is the error.
func (p *place) follow(ctx context.Context, wf *v1alpha1.Workflow) (changes <-chan *v1alpha1.Workflow, failed <-chan error) {
	to, errs := make(chan *v1alpha1.Workflow), make(chan error, 1)
	go func() {
		for {
			if err := p.watchOnce(ctx, wf, to); err != nil {
				errs <- fmt.Errorf("watching workflow %q: %w", wf.Name, err)
				return
			}
		}
	}()
	return to, errs
}

// watchOnce reads a workflow and sends what changes from then on. It ends without an error when the server ends the watch.
func (p *place) watchOnce(ctx context.Context, wf *v1alpha1.Workflow, to chan<- *v1alpha1.Workflow) error {
	client := p.workflows(wf.Namespace)
	u, err := client.Get(ctx, wf.Name, metav1.GetOptions{})
	if err != nil {
		return p.explained(cmp.Or(context.Cause(ctx), err))
	}
	if err := send(ctx, wf, u, to); err != nil {
		return err
	}
	w, err := client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", wf.Name).String(), ResourceVersion: u.GetResourceVersion(),
	})
	if err != nil {
		return p.explained(cmp.Or(context.Cause(ctx), err))
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		u, is := event.Object.(*unstructured.Unstructured)
		if !is || event.Type == watch.Error || event.Type == watch.Bookmark {
			continue
		}
		if event.Type == watch.Deleted {
			return errDeleted
		}
		if err := send(ctx, wf, u, to); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// send sends a workflow, unless it is another one of that name.
func send(ctx context.Context, wf *v1alpha1.Workflow, u *unstructured.Unstructured, to chan<- *v1alpha1.Workflow) error {
	if u.GetUID() != wf.UID {
		return errDeleted
	}
	next, err := read(u)
	if err != nil {
		return err
	}
	select {
	case to <- next:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
