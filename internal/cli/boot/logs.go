package boot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// journal keeps what the units did, a line of JSON each, for the logs command. Notes hold no
// secrets. It is safe for concurrent use.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

const journalName = "journal.jsonl"

// namesTimeout bounds how long the names of clusters are asked for.
const namesTimeout = 5 * time.Second

func newJournal(dir string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &journal{file: f}, nil
}

func (j *journal) note(n runner.Note) {
	data, err := json.Marshal(n)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	// A journal that cannot be written must not hold up what it records.
	_, _ = j.file.Write(append(data, '\n'))
}

func (j *journal) close() error { return j.file.Close() }

// NewLogs is the command that prints what the engine did.
func NewLogs(g *console.Globals) *cobra.Command {
	var namespace string
	cmd := &cobra.Command{
		Use:   "logs [KIND/NAME] | logs KIND NAME",
		Short: "Print what the engine did for a unit",
		Long: `Print what the engine did, in these steps:

  1. read the journal that "headgate up" writes
  2. print the lines of the unit, or all of them; a unit that deploys to another cluster is shown with it ("→ NAME")`,
		Example: "  headgate logs\n  headgate logs ks/apps",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			target := ""
			if len(args) > 0 {
				target = console.Joined(args)
			}
			return runLogs(cmd.Context(), g, target, namespace)
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", console.DefaultNamespace, "namespace of the unit")
	return cmd
}

func runLogs(ctx context.Context, g *console.Globals, target, namespace string) error {
	only := console.Reference{}
	var err error
	if target != "" {
		if only, err = g.ParseReference(target, namespace); err != nil {
			// It may be NAMESPACE/NAME, as up prints a unit.
			before, name, pair := strings.Cut(target, "/")
			if !pair || strings.Contains(name, "/") {
				return err
			}
			if only, err = g.ParseReference(name, before); err != nil {
				return err
			}
		}
	}
	f, err := openJournal(g)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	clusterOf := sync.OnceValue(func() func(string) string { return clusterNames(ctx, g) })
	printed, seen := false, map[engine.UnitID]bool{}
	for lines.Scan() {
		var n runner.Note
		if json.Unmarshal(lines.Bytes(), &n) != nil {
			continue
		}
		if seen[n.Unit] = true; only.Name != "" && n.Unit != only.ID() {
			continue
		}
		printed = true
		unit := n.Unit.String()
		if n.Cluster != "" {
			unit += " → " + clusterOf()(n.Cluster)
		}
		fmt.Fprintf(g.IO.Out, "%s %s %-22s %s\n", n.Time.Format(time.RFC3339Nano), unit, n.Phase, n.Text)
	}
	if err := lines.Err(); err != nil || printed || only.Name == "" {
		return err
	}
	return unlogged(only.ID(), slices.SortedFunc(maps.Keys(seen), engine.UnitID.Compare))
}

// unlogged words that the journal has no line of a unit, and which one was probably meant: one of that name, or with nearly its name.
func unlogged(unit engine.UnitID, logged []engine.UnitID) error {
	text := fmt.Sprintf("the journal has no line of %s", unit)
	var same, others []engine.UnitID
	var names []string
	for _, other := range logged {
		if other.Name == unit.Name {
			same = append(same, other)
		}
		if other.Kind == unit.Kind {
			others, names = append(others, other), append(names, other.Name)
		}
	}
	if len(same) > 0 {
		return console.Hint(fmt.Errorf("%s; there is %s", text, same[0]), "headgate logs %s", same[0])
	}
	if near := console.Nearest(unit.Name, names); near != "" {
		meant := others[slices.Index(names, near)]
		return console.Hint(fmt.Errorf("%s; did you mean %s?", text, meant), "headgate logs %s", meant)
	}
	return console.Hint(errors.New(text), "headgate get all")
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

// openJournal opens the journal of the engine that runs, or ran last.
func openJournal(g *console.Globals) (*os.File, error) {
	state, err := g.State()
	if err != nil {
		return nil, err
	}
	dirs := []string{console.ClusterDir(state, true), console.ClusterDir(state, false)}
	if g.Real() {
		config, err := g.RestConfig()
		if err != nil {
			return nil, err
		}
		dirs = []string{console.EngineDir(state, config.Host)}
	}
	for _, dir := range dirs {
		f, err := os.Open(filepath.Join(dir, journalName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return f, err
	}
	return nil, console.Hint(errors.New("no journal: no engine has run here"), "headgate up PATH")
}
