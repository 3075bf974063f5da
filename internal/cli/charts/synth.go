package charts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/synth"
)

// The formats of synth.
const (
	formatYAML = "yaml"
	formatHelm = "helm"
)

type synthOptions struct {
	*console.Globals
	dir, out, only, format string
	stdout, watch, check   bool
	chart                  synth.HelmChart
}

// NewSynth is the command that writes what a module describes.
func NewSynth(g *console.Globals) *cobra.Command {
	o := synthOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "synth [DIR]",
		Short: "Write the objects that a module of typed charts describes",
		Long: `Write the objects that a module of typed charts describes, in these steps:

  1. build the main package in DIR with your Go
  2. run it on this machine with your rights, as "go run" does; its main function is chart.Main
  3. print each chart with its seconds, and mistakes with their lines of Go
  4. if there are none, write what differs to --out, and delete what an earlier synth wrote there and is described no more

With --check nothing is written, and the exit code is 1 if the files are not what is described: for CI. With
--watch it is done again at each change, until Ctrl-C; mistakes are printed and do not end it.

No engine does this: a repository that Headgate applies has YAML, and no program of it is ever run.`,
		Example: `  headgate synth                      write to dist
  headgate synth --watch              and again at each change; headgate up dist applies it, in another terminal
  headgate synth --check              for CI: exit code 1 if dist is not what is described
  headgate synth --only 'shop-*'      some charts alone
  headgate synth --stdout | kubectl apply -f -
  headgate synth --format helm --out charts/shop`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dir = "."
			if len(args) > 0 {
				o.dir = args[0]
			}
			if err := o.validate(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "directory to write to (default: dist in DIR)")
	f.BoolVar(&o.stdout, "stdout", false, "print the objects instead of writing them")
	f.BoolVar(&o.watch, "watch", false, "do it again at each change, until Ctrl-C")
	f.BoolVar(&o.check, "check", false, "write nothing, and exit with 1 if the files are not what is described")
	f.StringVar(&o.only, "only", "", "charts with names that match this pattern, such as 'shop-*'; other files stay as they are")
	f.StringVar(&o.format, "format", formatYAML, "format to write: yaml, or helm for a chart of Helm")
	f.StringVar(&o.chart.Name, "chart-name", "", "name of the chart of Helm (default: the name of the directory)")
	f.StringVar(&o.chart.Version, "chart-version", "0.1.0", "version of the chart of Helm")
	cmd.MarkFlagsMutuallyExclusive("stdout", "check", "watch")
	cmd.MarkFlagsMutuallyExclusive("stdout", "out")
	return cmd
}

func (o *synthOptions) validate() error {
	switch {
	case o.format != formatYAML && o.format != formatHelm:
		return fmt.Errorf("--format %q: use yaml or helm", o.format)
	case o.format == formatHelm && o.stdout:
		return errors.New("--format helm writes a directory; leave --stdout out")
	case o.format == formatHelm && o.out == "":
		return errors.New("--format helm writes a chart of Helm; name its directory with --out")
	}
	if _, err := filepath.Match(o.only, ""); err != nil {
		return fmt.Errorf("--only %q: %w", o.only, err)
	}
	return nil
}

func (o *synthOptions) run(ctx context.Context) error {
	scratch, err := os.MkdirTemp("", "headgate-synth-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program, err := synth.Open(ctx, o.dir, scratch, o.IO.Err)
	if err != nil {
		return o.helpful(err)
	}
	out := o.out
	if out == "" {
		out = filepath.Join(program.Dir, defaultOut)
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	r := &round{synthOptions: o, program: program, say: progress.New(o.IO.Err), out: out, scratch: scratch}
	if !o.watch {
		return r.once(ctx)
	}
	return program.Watch(ctx, out, r)
}

// helpful gives an error the next command to try, and prints what a compiler said.
func (o *synthOptions) helpful(err error) error {
	var building *synth.BuildError
	switch {
	case errors.As(err, &building):
		fmt.Fprint(o.IO.Err, building.Output)
		if building.LacksModule() {
			return console.Hint(err, "go mod tidy")
		}
		return console.Hint(err, "headgate synth, once it compiles")
	case errors.Is(err, synth.ErrNoGo):
		return console.Hint(err, "install Go from https://go.dev/dl, and run this again")
	case errors.Is(err, synth.ErrNoModule), errors.Is(err, synth.ErrNoProgram):
		return console.Hint(fmt.Errorf("%s: %w", o.dir, err), "headgate init chart DIR")
	default:
		return err
	}
}

// defaultOut is the output directory in that of the program.
const defaultOut = "dist"
