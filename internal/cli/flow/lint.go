package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/document"
)

func newLint(g *console.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Find what is wrong with Workflows, templates and schedules, without a cluster",
		Long: `Check files of Workflows, WorkflowTemplates, ClusterWorkflowTemplates and CronWorkflows, in these steps:

  1. read the files, and those below directories that end in .yaml, .yml or .json ("-" is the standard input);
     objects of other kinds are passed over
  2. resolve references to templates among them; what is in none of the files is not checked
  3. print what is wrong, each with the file and the line, and each field that is not supported

The exit code is 1 if something was found.`,
		Example: "  headgate workflow lint workflows/\n  headgate workflow lint build.yaml templates/",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runLint(&place{Globals: g}, args) },
	}
}

func runLint(p *place, paths []string) error {
	var files []document.File
	for _, path := range paths {
		names, err := filesOf(path)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, err := p.read(name)
			if err != nil {
				return err
			}
			files = append(files, document.File{Name: name, Data: data})
		}
	}
	findings, checked := document.Check(files)
	for _, finding := range findings {
		fmt.Fprintln(p.IO.Out, finding)
	}
	switch {
	case len(findings) > 0:
		fmt.Fprintf(p.IO.Err, "%d problems in %d objects\n", len(findings), checked)
		return console.ErrNo
	case checked == 0:
		return console.Hint(errors.New("there are no Workflows, WorkflowTemplates, ClusterWorkflowTemplates or CronWorkflows in the files"), "headgate workflow lint FILE|DIR")
	default:
		_, err := fmt.Fprintf(p.IO.Err, "no problems in %d objects\n", checked)
		return err
	}
}

// filesOf are the files that a path stands for.
func filesOf(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
