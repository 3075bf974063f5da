package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/chart"
	rules "github.com/headgate-dev/headgate/chart/lint"
	"github.com/headgate-dev/headgate/chart/schema"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/lint"
)

// lintOptions are those of "headgate lint".
type lintOptions struct {
	console.OfflineOptions
	policy     rules.Policy
	severities []string
	workloads  []string
	schemas    string
	format     string
	// waits has waits that never end and what a server refuses found, too.
	waits bool
	// definitions are those of kinds that are served without being declared.
	definitions []map[string]any
	level       chart.Severity
}

// newest stands for the newest Kubernetes that schemas are known of.
const newest = "newest"

// NewLint is the command that judges objects by rules.
func NewLint(g *console.Globals) *cobra.Command {
	o := lintOptions{OfflineOptions: console.OfflineOptions{Globals: g}}
	cmd := &cobra.Command{
		Use:   "lint PATH...",
		Short: "Find what people regret in the objects of files, kustomizations and repositories, without a cluster",
		Long: `Judge objects by rules, in these steps:

  1. find out what each PATH is: a repository of Flux or Argo CD, or a tree of packages, is rendered as "headgate render" does it,
     from each of its roots; a directory with kustomizations is built, each kustomization that no other one there refers to;
     all else is read as files of YAML. Charts of Helm (directories with a Chart.yaml) are passed over.
  2. judge all objects of a PATH by the rules, and with --schemas also by the schemas of Kubernetes and of the definitions among them
  3. print the findings at or above the level of --severity, each with the file, the line in it, and the unit that renders the object;
     an object that only exists once it is rendered has the line of its unit

An object is excepted by its annotation headgate.dev/lint-ignore: RULE,RULE or "*"; also in the template of its pods.
Values of Secrets are never printed. What cannot be rendered or read is a finding of the rule lint/unit.

The exit code is 0 if there is no finding at or above the level, 1 if there is one, and 2 for a wrong call.

Rules, by their groups, with their severities:

` + ruleTable(),
		Example: `  headgate lint .
  headgate lint deploy/web.yaml dist/ --severity info
  headgate lint . --rule images --rule service-selector --severity image-latest=error
  headgate lint . --disable security --schemas=1.36 -o sarif > lint.sarif
  headgate lint . --workload argoproj.io/Rollout -o github`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(); err != nil {
				return err
			}
			return runLint(cmd.Context(), o, args)
		},
	}
	console.BindOffline(cmd, &o.OfflineOptions)
	console.BindFetches(cmd, &o.OfflineOptions)
	f := cmd.Flags()
	f.StringSliceVar(&o.policy.Rules, "rule", nil, "only these rules and groups (repeatable)")
	f.StringSliceVar(&o.policy.Disable, "disable", nil, "without these rules and groups (repeatable)")
	f.StringArrayVar(&o.severities, "severity", nil, "error, warning or info: the level from which on findings count (default warning); RULE=LEVEL changes that of a rule or group (repeatable)")
	f.StringSliceVar(&o.policy.Labels, "label", nil, "a label that every object must have (repeatable)")
	f.StringSliceVar(&o.policy.PrivateRegistries, "private-registry", nil, "beginning of images that need a pull secret (repeatable)")
	f.StringArrayVar(&o.workloads, "workload", nil, "GROUP/KIND of custom resources with a pod template in spec.template, or GROUP/KIND=FIELD (repeatable)")
	f.StringVar(&o.schemas, "schemas", "", "also validate objects by the schemas of this minor version of Kubernetes")
	f.Lookup("schemas").NoOptDefVal = newest
	f.StringVarP(&o.format, "output", "o", "text", strings.Join(lint.Formats(), ", "))
	console.CompleteOutput(cmd, lint.Formats()...)
	return cmd
}

// ruleTable is a line for each rule.
func ruleTable() string {
	var lines []string
	group := ""
	for _, r := range rules.Rules() {
		name := ""
		if r.Group != group {
			group, name = r.Group, r.Group
		}
		lines = append(lines, fmt.Sprintf("  %-10s %-21s %-8s %s", name, r.Name, r.Severity, r.Summary))
	}
	return strings.Join(lines, "\n")
}

// settle reads the flags.
func (o *lintOptions) settle() error {
	if !slices.Contains(lint.Formats(), o.format) {
		return fmt.Errorf("--output: unknown format %q; use %s", o.format, strings.Join(lint.Formats(), ", "))
	}
	o.level = chart.SeverityWarning
	o.policy.Severities = map[string]chart.Severity{}
	for _, text := range o.severities {
		rule, level, ofRule := strings.Cut(text, "=")
		if !ofRule {
			level = text
		}
		severity, err := severityOf(level)
		switch {
		case err != nil:
			return err
		case ofRule:
			o.policy.Severities[rule] = severity
		default:
			o.level = severity
		}
	}
	for _, text := range o.workloads {
		kind, field, _ := strings.Cut(text, "=")
		group, kind, ok := strings.Cut(kind, "/")
		if !ok || kind == "" {
			return fmt.Errorf("--workload: %q is not GROUP/KIND or GROUP/KIND=FIELD", text)
		}
		o.policy.Workloads = append(o.policy.Workloads, rules.Workload{Group: group, Kind: kind, Template: field})
	}
	if o.schemas == newest {
		versions := schema.Versions()
		o.schemas = versions[len(versions)-1]
	}
	if o.schemas != "" && !slices.Contains(schema.Versions(), o.schemas) {
		return fmt.Errorf("--schemas: there are none of Kubernetes %q; there are those of %s", o.schemas, strings.Join(schema.Versions(), ", "))
	}
	for _, f := range o.policy.Validate(nil) {
		return errors.New(f.Message) // of a rule that does not exist
	}
	return nil
}

func severityOf(text string) (chart.Severity, error) {
	for _, s := range []chart.Severity{chart.SeverityError, chart.SeverityWarning, chart.SeverityInfo} {
		if s.String() == text {
			return s, nil
		}
	}
	return 0, fmt.Errorf("--severity: %q is not error, warning or info", text)
}

func runLint(ctx context.Context, o lintOptions, paths []string) error {
	var findings []lint.Finding
	objects := 0
	var notes []string
	for _, path := range paths {
		trees, err := o.trees(ctx, path)
		if err != nil {
			return err
		}
		for _, t := range trees {
			objects += len(t.items)
			notes = append(notes, t.notes...)
			findings = append(append(findings, t.findings...), o.judge(t)...)
		}
	}
	counted, below, warnings := []lint.Finding{}, 0, 0
	for _, f := range lint.Sort(distinct(findings)) {
		severity, err := severityOf(f.Severity)
		if err != nil {
			return err
		}
		switch {
		case o.waits && severity == chart.SeverityWarning && f.Rule == ruleWait:
			warnings++
		case severity > o.level:
			below++
			continue
		}
		counted = append(counted, f)
	}
	if err := lint.Write(o.IO.Out, o.format, counted, o.tool()); err != nil {
		return err
	}
	more := ""
	if below > 0 {
		more = fmt.Sprintf("; %d below, see --severity info", below)
	}
	if o.waits {
		summary := console.Counted(objects, "object") + ", " + console.Counted(len(counted)-warnings, "problem")
		if warnings > 0 {
			summary += ", " + console.Counted(warnings, "warning")
		}
		fmt.Fprintln(o.IO.Err, strings.Join(append([]string{summary}, notes...), "; "))
	} else {
		fmt.Fprintf(o.IO.Err, "%s, %s at or above %s%s\n", console.Counted(objects, "object"), console.Counted(len(counted), "finding"), o.level, more)
	}
	if len(counted) > warnings {
		return console.ErrNo
	}
	return nil
}

// tool is who finds something: the command that was called.
func (o *lintOptions) tool() lint.Tool {
	if o.waits {
		return lint.Tool{Name: "headgate validate", Rules: validateRules()}
	}
	by := lint.Tool{Name: "headgate lint"}
	for _, r := range rules.Rules() {
		by.Rules = append(by.Rules, lint.Rule{Name: rules.Prefix + r.Name, Summary: r.Summary})
	}
	return by
}

// judge is the findings about the objects of a tree.
func (o *lintOptions) judge(t tree) []lint.Finding {
	objects := make([]map[string]any, len(t.items))
	for i, item := range t.items {
		objects[i] = item.object
	}
	found := o.policy.Validate(objects)
	if o.schemas != "" {
		check := schema.Check{Kubernetes: o.schemas, Missing: schema.MissingIgnored, Sources: t.sources, Definitions: o.definitions}
		found = append(found, check.Validate(objects)...)
	}
	all := make([]lint.Finding, 0, len(found))
	for _, f := range found {
		item := t.items[f.Manifest]
		if item.masked(f.Field) {
			continue
		}
		file, line := t.where(item, f.Field)
		all = append(all, lint.Finding{
			File: file, Line: line, Severity: f.Severity.String(), Rule: f.Rule, Object: titleOf(item.object), Unit: item.unit, Field: f.Field, Message: f.Message,
		})
	}
	return all
}

// titleOf is KIND/NAMESPACE/NAME.
func titleOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	var parts []string
	for _, one := range []any{object["kind"], metadata["namespace"], metadata["name"]} {
		if text, ok := one.(string); ok && text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "/")
}
