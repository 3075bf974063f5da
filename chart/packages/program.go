package packages

import (
	"fmt"

	"github.com/headgate-dev/headgate/chart"
)

// Main is the main function of a module that describes packages, with the flags of chart.Main; -only is for names of packages:
//
//	func main() { os.Exit(packages.Main(packages.Settings{}, describe)) }
//
//	func describe() ([]packages.Package, error) { ... }
func Main(settings Settings, describe func() ([]Package, error)) int {
	return chart.Run(Program(settings, describe))
}

// Program is what Main runs.
func Program(settings Settings, describe func() ([]Package, error)) chart.Program {
	return program{settings: settings, describe: describe}
}

type program struct {
	settings Settings
	describe func() ([]Package, error)
}

// Synth makes the packages that are described.
func (p program) Synth(o chart.Options) (*chart.Result, []chart.File, error) {
	settings, err := p.settings.with(o)
	if err != nil {
		return nil, nil, err
	}
	all, err := p.describe()
	if err != nil {
		return nil, nil, err
	}
	result, err := Synth(all, settings)
	if err != nil {
		return nil, nil, err
	}
	return result.Chart(), result.Files, nil
}

// with are the settings with what flags say of the layout.
func (s Settings) with(o chart.Options) (Settings, error) {
	splits := map[string]chart.Split{
		"chart": chart.PerChart, "app": chart.PerApp, "resource": chart.PerResource, "folder": chart.FolderPerChart,
	}
	split, known := splits[o.Layout]
	if o.Layout != "" && !known {
		return s, fmt.Errorf("the layout %q is unknown; use chart, app, resource or folder", o.Layout)
	}
	s.Layout = s.layout()
	if known {
		s.Layout.Split = split
	}
	s.Layout.Metadata = s.Layout.Metadata || o.Metadata
	return s, nil
}

// Chart is the packages as the charts of one result: the Application of each, then its objects. Warnings are among the findings.
func (r *Result) Chart() *chart.Result {
	merged, objects := &chart.Result{}, 0
	for _, pkg := range r.Packages {
		one := chart.Synthesized{Name: pkg.Name, Path: pkg.Name}
		for _, part := range []*chart.Result{pkg.Application, pkg.Manifests} {
			if part == nil {
				continue
			}
			for _, finding := range part.Findings {
				finding.Manifest += objects
				merged.Findings = append(merged.Findings, finding)
			}
			for _, c := range part.Charts {
				one.Manifests = append(one.Manifests, c.Manifests...)
				one.Elapsed += c.Elapsed
				objects += len(c.Manifests)
			}
		}
		for _, warning := range pkg.Warnings {
			merged.Findings = append(merged.Findings, chart.Finding{
				Manifest: -1, Rule: "package", Message: "package " + pkg.Name + ": " + warning, Severity: chart.SeverityWarning,
			})
		}
		merged.Charts = append(merged.Charts, one)
	}
	return merged
}
