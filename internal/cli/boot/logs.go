package boot

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// namesTimeout bounds how long the names of clusters are requested.
const namesTimeout = 5 * time.Second

// journalInterval is how often a journal that is followed is read.
const journalInterval = 200 * time.Millisecond

type logsOptions struct {
	*console.Globals
	target, namespace string
	follow            bool
}

// NewLogs is the command that prints what the engine did.
func NewLogs(g *console.Globals) *cobra.Command {
	o := logsOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "logs [[KIND/]NAME] | logs KIND NAME",
		Short: "Print what the engine did for a unit",
		Long: `Print what the engine did, in these steps:

  1. read the journal that "headgate up" writes
  2. print the lines of the unit (NAME alone is any unit with that name), or all of them; a unit that
     deploys to another cluster is shown with it ("→ NAME")
  3. with --follow, keep printing new lines until Ctrl-C`,
		Example:           "  headgate logs\n  headgate logs ks/apps\n  headgate logs -f",
		ValidArgsFunction: g.CompleteReference,
		Args:              cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.target = console.Joined(args)
			}
			return runLogs(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "namespace of the unit; by default it is searched for in all")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing new lines")
	return cmd
}

func runLogs(ctx context.Context, o logsOptions) error {
	only := console.Reference{}
	var err error
	if o.target != "" {
		if only, err = o.ParseReference(o.target, cmp.Or(o.namespace, console.DefaultNamespace)); err != nil {
			return err
		}
	}
	f, err := openJournal(o.Globals)
	if err != nil {
		return err
	}
	defer f.Close()
	p := &journalPrinter{out: o.IO.Out, clusterOf: sync.OnceValue(func() func(string) string { return clusterNames(ctx, o.Globals) })}
	notes, err := readNotes(f)
	if err != nil {
		return err
	}
	id, err := o.chosen(ctx, only, notes)
	if err != nil && !o.follow {
		return err
	}
	if err != nil {
		fmt.Fprintf(o.IO.Err, "· %v\n", err)
	}
	if p.only = id; !o.follow {
		return p.print(notes)
	}
	if err := p.print(notes); err != nil {
		return err
	}
	return p.follow(ctx, f)
}

// chosen is the unit whose lines are printed; zero for all. It is an error if the journal has no line about it, and it does not exist.
func (o logsOptions) chosen(ctx context.Context, only console.Reference, notes []runner.Note) (engine.UnitID, error) {
	if only.Name == "" {
		return engine.UnitID{}, nil
	}
	logged := map[engine.UnitID]bool{}
	for _, n := range notes {
		logged[n.Unit] = true
	}
	units := slices.SortedFunc(maps.Keys(logged), engine.UnitID.Compare)
	named := slices.DeleteFunc(slices.Clone(units), func(id engine.UnitID) bool { return !o.means(only, id) })
	if len(named) == 1 {
		return named[0], nil
	}
	client, err := o.Client()
	if err == nil {
		var picked console.Reference
		if picked, err = o.Pick(ctx, client, console.Wanted{Target: o.target, Namespace: o.namespace, Verb: "logs", Takes: func(k console.Served) bool { return k.Unit }}); err == nil {
			only = picked
		}
	}
	if logged[only.ID()] {
		return only.ID(), nil
	}
	if len(named) > 1 {
		return only.ID(), console.Hint(fmt.Errorf("several units are named %q: %v", only.Name, named), "headgate logs %s", named[0])
	}
	switch {
	case apierrors.IsNotFound(err):
		return only.ID(), err
	case err != nil:
		names := make([]string, len(units))
		for i, id := range units {
			names[i] = id.Name
		}
		return only.ID(), console.Hint(fmt.Errorf("the journal has no line about %s%s", only, console.DidYouMean(only.Name, names)), "headgate logs")
	}
	fmt.Fprintf(o.IO.Err, "· the journal has no line about %s\n", only)
	return only.ID(), nil
}

// means reports whether a unit of the journal may be the one that was named: "KIND/NAME" in any namespace where none is given, or "NAME" of any kind.
func (o logsOptions) means(only console.Reference, id engine.UnitID) bool {
	parts := strings.Count(o.target, "/")
	return id.Name == only.Name && (parts == 0 || id.GroupKind() == only.GroupKind()) && (parts == 2 && id.Namespace == only.Namespace || parts < 2 && (o.namespace == "" || id.Namespace == o.namespace))
}

// readNotes reads what a journal has.
func readNotes(r io.Reader) ([]runner.Note, error) {
	var notes []runner.Note
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n runner.Note
		if json.Unmarshal(lines.Bytes(), &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes, lines.Err()
}

// journalPrinter prints the lines of a unit, or of all.
type journalPrinter struct {
	out       io.Writer
	only      engine.UnitID
	clusterOf func() func(string) string
}

func (p *journalPrinter) print(notes []runner.Note) error {
	for _, n := range notes {
		if p.only.Name != "" && n.Unit != p.only {
			continue
		}
		unit := n.Unit.String()
		if n.Cluster != "" {
			unit += " → " + p.clusterOf()(n.Cluster)
		}
		if _, err := fmt.Fprintf(p.out, "%s %s %-22s %s\n", n.Time.Format(time.RFC3339Nano), unit, n.Phase, n.Text); err != nil {
			return err
		}
	}
	return nil
}

// follow prints what is added to a journal until ctx ends. An engine that starts empties it, and it is read from its beginning then.
func (p *journalPrinter) follow(ctx context.Context, f *os.File) error {
	ticks := time.NewTicker(journalInterval)
	defer ticks.Stop()
	var pending []byte
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		}
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err == nil && info.Size() < at {
			pending = nil
			_, err = f.Seek(0, io.SeekStart)
		}
		more, failed := io.ReadAll(f)
		if err := errors.Join(err, failed); err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
		pending = append(pending, more...)
		// The last line may be half written.
		end := bytes.LastIndexByte(pending, '\n') + 1
		notes, err := readNotes(bytes.NewReader(pending[:end]))
		if err != nil {
			return err
		}
		pending = pending[end:]
		if err := p.print(notes); err != nil {
			return err
		}
	}
}

// clusterNames gives clusters the names that they are registered with; where these cannot be read, as of an engine that has ended, their addresses.
func clusterNames(ctx context.Context, g *console.Globals) func(server string) string {
	client, err := g.Client()
	if err != nil {
		return func(server string) string { return server }
	}
	ctx, cancel := context.WithTimeout(ctx, namesTimeout)
	defer cancel()
	return g.Clusters(ctx, client).Named
}
