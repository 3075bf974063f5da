package charts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate"
	"github.com/headgate-dev/headgate/internal/buildinfo"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/scaffold"
)

type initOptions struct {
	*console.Globals
	dir, module   string
	update, noSDK bool
}

// NewInit is the group of commands that create something to begin with.
func NewInit(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create something to begin with",
		Long:  "Create something to begin with. Files that are there already are never overwritten.",
	}
	cmd.AddCommand(newInitChart(g))
	return cmd
}

func newInitChart(g *console.Globals) *cobra.Command {
	o := initOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "chart [DIR]",
		Short: "Create a Go module of typed charts",
		Long: `Create a Go module of typed charts that builds at once, in these steps:

  1. write a program with one chart, its test and its golden files, a README and a go.mod
  2. write a copy of the chart SDK below .headgate/sdk, which go.mod uses instead of the published module

The copy is the one that this headgate was built with; --update writes it again after headgate was updated. With
--no-sdk there is none, and the module requires the published SDK.`,
		Example: "  headgate init chart shop\n  headgate init chart shop --module example.com/platform/shop\n  headgate init chart shop --update",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			o.dir = "."
			if len(args) > 0 {
				o.dir = args[0]
			}
			if o.update {
				return o.renew()
			}
			return o.create()
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.module, "module", "", "path of the module (default: the name of the directory)")
	f.BoolVar(&o.update, "update", false, "write the copy of the SDK again, and nothing else")
	f.BoolVar(&o.noSDK, "no-sdk", false, "require the published SDK instead of a copy of it")
	cmd.MarkFlagsMutuallyExclusive("update", "no-sdk")
	cmd.MarkFlagsMutuallyExclusive("update", "module")
	return cmd
}

// modulePath is what a path of a module may look like; Go says more about it.
var modulePath = regexp.MustCompile(`^[A-Za-z0-9_~-][A-Za-z0-9._~-]*(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

func (o *initOptions) create() error {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return err
	}
	if o.module == "" {
		o.module = strings.ToLower(filepath.Base(dir))
	}
	if !modulePath.MatchString(o.module) {
		return console.Hint(fmt.Errorf("%q is not a path of a Go module", o.module), "headgate init chart %s --module example.com/charts", o.dir)
	}
	files, err := scaffold.Module(o.module, !o.noSDK)
	if err != nil {
		return err
	}
	if !o.noSDK {
		sdk, err := scaffold.SDK(headgate.Source(), buildinfo.Version())
		if err != nil {
			return err
		}
		files = append(files, scaffold.Below(scaffold.CopyDir, sdk)...)
	}
	if err := scaffold.Write(dir, files); err != nil {
		var exists *scaffold.ExistsError
		if errors.As(err, &exists) {
			return console.Hint(err, "headgate init chart in another directory, or with --update for the copy of the SDK alone")
		}
		return err
	}
	fmt.Fprintf(o.IO.Err, "created the module %s in %s; next:\n\n", o.module, o.dir)
	if o.dir != "." {
		fmt.Fprintf(o.IO.Err, "  cd %s\n", o.dir)
	}
	if o.noSDK {
		fmt.Fprintf(o.IO.Err, "  go get github.com/headgate-dev/headgate@latest\n  go mod tidy\n")
	}
	_, err = fmt.Fprint(o.IO.Err, "  go test ./...                    the objects are those of the golden files\n"+
		"  headgate synth --watch           write them to dist at each change\n"+
		"  headgate up dist                 boot them, in another terminal\n")
	return err
}

// renew writes the copy of the SDK of a module that has one.
func (o *initOptions) renew() error {
	if _, err := os.Stat(filepath.Join(o.dir, filepath.FromSlash(scaffold.CopyDir))); err != nil {
		return console.Hint(fmt.Errorf("%q has no copy of the SDK in %s", o.dir, scaffold.CopyDir), "headgate init chart DIR")
	}
	sdk, err := scaffold.SDK(headgate.Source(), buildinfo.Version())
	if err != nil {
		return err
	}
	if err := scaffold.Renew(o.dir, sdk); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.IO.Err, "wrote the SDK of headgate %s to %s; next: go mod tidy\n", buildinfo.Version(), filepath.Join(o.dir, scaffold.CopyDir))
	return err
}
