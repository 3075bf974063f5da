// Package crds has the command that makes Go types of CustomResourceDefinitions.
package crds

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/crdtypes"
)

// options of the command.
type options struct {
	globals *console.Globals
	sources []string
	out     string
	save    string
	only    []string
	set     []string
	status  bool
	check   bool
}

// NewImport is the command that makes Go types of definitions.
func NewImport(g *console.Globals) *cobra.Command {
	o := options{globals: g}
	cmd := &cobra.Command{
		Use:   "import [NAME:=]SOURCE...",
		Short: "Write Go types for CustomResourceDefinitions, for charts in Go",
		Long: `Write Go types for CustomResourceDefinitions, for charts in Go, in these steps:

  1. read the definitions of all sources
  2. write a package for each version of a group: imports/GROUP/VERSION, or imports/NAME
  3. remove files of those packages that an earlier import wrote and that have no kind any more

A source is one of

  FILE or DIRECTORY     YAML or JSON: documents, lists, all files below a directory; - is standard input
  https://HOST/FILE     downloaded each time; with --save, downloaded once and read from the copy afterwards
  cluster:PATTERN       the definitions of the cluster of --context whose names match: "cluster:*.cert-manager.io"
  CHART                 a Helm chart: a directory with Chart.yaml, a .tgz file, oci://HOST/PATH/CHART[:VERSION], or
                        helm:https://HOST/PATH/CHART[@VERSION]; its directory crds, and definitions among its templates

The names of types are kept in names.txt, so that they stay when a definition gains a field: check it in with the packages.`,
		Example: `  headgate import crds/
  headgate import certs:=https://example.com/cert-manager.crds.yaml --save crds/cert-manager.yaml
  headgate import 'cluster:*.kargo.akuity.io' --context staging
  headgate import oci://ghcr.io/example/charts/operator:1.2.0 --set crds.enabled=true`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sources = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "output", "o", "imports", "directory of the packages")
	f.StringVar(&o.save, "save", "", "keep what is downloaded in this file, and read it from there when it exists; delete it to download again")
	f.StringArrayVar(&o.only, "only", nil, "take only definitions whose name PLURAL.GROUP matches a pattern (repeatable)")
	f.StringArrayVar(&o.set, "set", nil, "value for charts, as --set of helm (repeatable)")
	f.BoolVar(&o.status, "status", false, "write the types of statuses too")
	f.BoolVar(&o.check, "check", false, "write nothing; exit with code 1 if a file is not what would be written")
	return cmd
}

var packageName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// named are the sources with one name.
type named struct {
	name        string
	definitions []crdtypes.Definition
}

func (o *options) run(ctx context.Context) error {
	var groups []*named
	for _, source := range o.sources {
		name, from, given := strings.Cut(source, ":=")
		if !given {
			name, from = "", source
		}
		if given && !packageName.MatchString(name) {
			return fmt.Errorf("%q: %q is not a name of a package; use lower-case letters and digits", source, name)
		}
		found, err := o.gather(ctx, from)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("%s has no CustomResourceDefinition%s", shown(from), o.whichOnly())
		}
		groups = add(groups, name, found)
	}
	return o.write(groups)
}

func add(groups []*named, name string, found []crdtypes.Definition) []*named {
	for _, g := range groups {
		if g.name == name {
			g.definitions = append(g.definitions, found...)
			return groups
		}
	}
	return append(groups, &named{name, found})
}

func (o *options) whichOnly() string {
	if len(o.only) == 0 {
		return ""
	}
	return " that matches " + strings.Join(o.only, " or ")
}

// command is what the header of files says: sources, without credentials.
func (o *options) command() string {
	parts := []string{"headgate import"}
	for _, source := range o.sources {
		name, from, given := strings.Cut(source, ":=")
		if !given {
			name, from = "", source
		}
		parts = append(parts, strings.TrimPrefix(name+":="+shown(from), ":="))
	}
	return strings.Join(parts, " ")
}
