package flow

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
	"github.com/headgate-dev/headgate/internal/workflow/request"
)

type logsOptions struct {
	place

	node   string
	follow bool
}

func newLogs(g *console.Globals) *cobra.Command {
	o := logsOptions{place: place{Globals: g}}
	cmd := &cobra.Command{
		Use:   "logs NAME|@latest [NODE]",
		Short: "Print what the containers of a Workflow printed",
		Long: `Print what the containers and scripts of a Workflow printed, in these steps:

  1. select the nodes that execute something, or those that NODE names: by display name, name, ID, or name of the pod
  2. print what each printed, in the order in which they started: from the pods, or from the state directory of
     an embedded cluster, where containers are processes of this machine
  3. with -f, continue until the Workflow has ended

With several nodes, each line has the name of the pod before it.`,
		Example: "  headgate workflow logs @latest -f\n  headgate workflow logs build-x7k2p upload",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				o.node = args[1]
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	o.bind(cmd)
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "continue until the Workflow has ended")
	return cmd
}

func (o logsOptions) run(ctx context.Context, name string) error {
	if err := o.open(); err != nil {
		return err
	}
	wf, err := o.get(ctx, name)
	if err != nil {
		return err
	}
	l, err := o.reader(o.node)
	if err != nil {
		return err
	}
	if o.follow && !wf.Status.Phase.Completed() {
		_, err := o.followLogs(ctx, wf, l)
		return err
	}
	nodes := executed(wf, o.node)
	if len(nodes) == 0 && o.node != "" {
		return console.Hint(fmt.Errorf("workflow %q has no node %q that executes something", wf.Name, o.node), "headgate workflow get %s -n %s", wf.Name, wf.Namespace)
	}
	printed := 0
	for _, node := range nodes {
		if node.Phase == v1alpha1.NodePending {
			continue
		}
		switch err := l.print(ctx, wf, node, false); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			printed++
		}
	}
	if printed == 0 {
		return console.Hint(fmt.Errorf("there are no logs of workflow %q: it has printed nothing yet, its pods are gone, or it executed no container", wf.Name), "headgate workflow get %s -n %s", wf.Name, wf.Namespace)
	}
	return nil
}

// logged prints what a workflow prints until it has ended, and returns the exit code for how it did.
func (p *place) logged(ctx context.Context, wf *v1alpha1.Workflow) error {
	l, err := p.reader("")
	if err != nil {
		return err
	}
	ended, err := p.followLogs(ctx, wf, l)
	if err != nil {
		return err
	}
	return answer(ended)
}

// followLogs prints what a workflow prints from its nodes as they start, until it has ended.
func (p *place) followLogs(ctx context.Context, wf *v1alpha1.Workflow, l *logReader) (*v1alpha1.Workflow, error) {
	changes, failed := p.follow(ctx, wf)
	var running sync.WaitGroup
	defer running.Wait()
	begun := map[string]bool{}
	for {
		select {
		case err := <-failed:
			return nil, err
		case wf = <-changes:
		}
		for _, node := range executed(wf, l.node) {
			key := node.ID + node.StartedAt.String()
			if node.Phase == v1alpha1.NodePending || begun[key] {
				continue
			}
			begun[key] = true
			running.Go(func() {
				if err := l.print(ctx, wf, node, true); err != nil && !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
					fmt.Fprintf(p.IO.Err, "! %s: %v\n", node.DisplayName, err)
				}
			})
		}
		if wf.Status.Phase.Completed() {
			return wf, nil
		}
	}
}

// executed are the nodes of a workflow that execute something, by their start; with a name, those that it names.
func executed(wf *v1alpha1.Workflow, name string) []*v1alpha1.NodeStatus {
	var nodes []*v1alpha1.NodeStatus
	for _, node := range wf.Status.Nodes {
		pod := plan.PodName(wf.Name, request.TemplateOf(&node), node.Name)
		named := name == "" || slices.Contains([]string{node.DisplayName, node.Name, node.ID, pod}, name)
		// The attempts of a node that is retried are named with it.
		if node.Type == v1alpha1.NodeTypePod && (named || node.Retried() && attempt(node.DisplayName, name)) {
			nodes = append(nodes, &node)
		}
	}
	slices.SortFunc(nodes, func(a, b *v1alpha1.NodeStatus) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt.Time), cmp.Compare(a.Name, b.Name))
	})
	return nodes
}

// attempt reports whether a node is an attempt of the one with a name.
func attempt(node, name string) bool {
	rest, found := strings.CutPrefix(node, name+"(")
	return found && strings.HasSuffix(rest, ")") && !strings.Contains(rest, "(")
}

// logReader prints logs. It is safe for concurrent use.
type logReader struct {
	place
	// node is the name of the nodes that are printed; empty for all, whose names are before each line.
	node string
	from execute.Logged
	mu   sync.Mutex
}

// print prints what a node printed.
func (l *logReader) print(ctx context.Context, wf *v1alpha1.Workflow, node *v1alpha1.NodeStatus, follow bool) error {
	log, err := l.from.Logs(ctx, execute.Of(wf), node.ID, follow)
	if err != nil {
		return err
	}
	defer log.Close()
	prefix := ""
	if l.node == "" {
		prefix = plan.PodName(wf.Name, request.TemplateOf(node), node.Name) + ": "
	}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			l.mu.Lock()
			_, failed := fmt.Fprintln(l.IO.Out, prefix+strings.TrimRight(line, "\r\n"))
			l.mu.Unlock()
			err = cmp.Or(err, failed)
		}
		if err != nil {
			return ended(err)
		}
	}
}
