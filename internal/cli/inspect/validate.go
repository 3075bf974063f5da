package inspect

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	rules "github.com/headgate-dev/headgate/chart/lint"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
	"github.com/headgate-dev/headgate/internal/offline"
)

// The rules of what a cluster refuses, and of waits.
const (
	ruleRefused = "validate/refused"
	ruleWait    = "validate/wait"
)

// NewValidate is the command that finds what a cluster would refuse or wait for without end.
func NewValidate(g *console.Globals) *cobra.Command {
	o := lintOptions{OfflineOptions: console.OfflineOptions{Globals: g}, schemas: newest, severities: []string{"error"}, waits: true}
	cmd := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Find what a cluster would refuse, and waits that never end, without a cluster",
		Long: `Validate repositories, kustomizations and files, in these steps:

  1. find out what each PATH is, and render it, as "headgate lint" does
  2. hold all objects against the schemas of Kubernetes and of the definitions among them, and those of a repository against the rules of the
     embedded API server too: unknown, missing and invalid fields, kinds and versions that are not served, namespaces that nothing creates
  3. find waits of the units of a repository that never end, and units that cannot be rendered
  4. print each problem with the file, the line in it, the object, the field and the unit that renders it

Values of Secrets are never printed. Encrypted values are not validated. The rules of good practice are those of "headgate lint"; which unit waits
for which is shown by "headgate graph".

The exit code is 0 if there is no problem, 1 if there is one, and 2 for a wrong call.`,
		Example: `  headgate validate .
  headgate validate . --path clusters/staging --charts
  headgate validate apps/web/deployment.yaml
  headgate validate . -o github
  headgate validate . -o sarif > validate.sarif`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, r := range rules.Rules() {
				o.policy.Disable = append(o.policy.Disable, r.Name)
			}
			if err := o.settle(); err != nil {
				return err
			}
			return runLint(cmd.Context(), o, args)
		},
	}
	console.BindOffline(cmd, &o.OfflineOptions)
	console.BindFetches(cmd, &o.OfflineOptions)
	f := cmd.Flags()
	f.StringVar(&o.schemas, "schemas", newest, "minor version of Kubernetes whose schemas are taken")
	f.StringVarP(&o.format, "output", "o", "text", strings.Join(lint.Formats(), ", "))
	console.CompleteOutput(cmd, lint.Formats()...)
	return cmd
}

// survey adds what the API server would refuse, and the waits that never end.
func (o *lintOptions) survey(ctx context.Context, t *tree, w *offline.Walk) error {
	c := &checker{io: o.IO, catalogue: o.Catalogue}
	server, survey, err := c.survey(ctx, declaredObjects(w.Units), surroundings(w))
	if err != nil {
		return err
	}
	for _, f := range w.Findings(server) {
		severity := "error"
		if f.Note {
			severity = "info"
		}
		text := strings.Join(f.Steps, "; ")
		if f.Never {
			text = "a wait that never ends: " + text
		}
		finding := lint.Finding{Severity: severity, Rule: ruleWait, Message: text, Field: f.Field}
		if u, known := w.Find(f.Unit); known && f.Unit != (engine.UnitID{}) && u.Object != nil {
			finding.Unit = f.Unit.String()
			finding.File, finding.Line, _ = t.index.Find(u.Object.Object, f.Field)
		}
		t.findings = append(t.findings, finding)
	}
	for _, text := range survey.Refused {
		t.findings = append(t.findings, t.refused(text))
	}
	for _, text := range survey.Unknown {
		t.findings = append(t.findings, lint.Finding{Severity: "info", Rule: ruleRefused, Message: text})
	}
	for _, b := range w.Broken() {
		for _, problem := range b.Problems {
			t.findings = append(t.findings, lint.Finding{Severity: "error", Rule: ruleUnit, Unit: b.ID.String(), Message: problem})
		}
	}
	unread, err := w.Unread()
	for _, text := range unread {
		t.findings = append(t.findings, lint.Finding{Severity: "error", Rule: ruleUnit, Message: text})
	}
	return err
}

// refused is the finding about an object that "OBJECT of UNIT: FIELD: what" says is refused, with its file and line.
func (t *tree) refused(text string) lint.Finding {
	f := lint.Finding{Severity: "error", Rule: ruleRefused, Message: text}
	who, what, _ := strings.Cut(text, ": ")
	object, unit, about := strings.Cut(who, " of ")
	for _, item := range t.items {
		if !about || withoutNamespace(titleOf(item.object)) != withoutNamespace(object) || item.unit != unit {
			continue
		}
		f.Object, f.Unit, f.Message = object, unit, what
		if field, rest, has := strings.Cut(what, ": "); has && !strings.Contains(field, " ") {
			f.Field, f.Message = field, rest
		}
		f.File, f.Line = t.where(item, f.Field)
		break
	}
	return f
}

// withoutNamespace is KIND/NAME of KIND/NAMESPACE/NAME: an object of an Application has the namespace of that only in a cluster.
func withoutNamespace(title string) string {
	parts := strings.Split(title, "/")
	return parts[0] + "/" + parts[len(parts)-1]
}

// distinct leaves out refusals of objects of which a schema says more.
func distinct(all []lint.Finding) []lint.Finding {
	told := map[string]bool{}
	for _, f := range all {
		if f.Rule != ruleRefused && f.Severity == "error" && f.Object != "" {
			told[f.Unit+" "+withoutNamespace(f.Object)] = true
		}
	}
	var out []lint.Finding
	for _, f := range all {
		if f.Rule != ruleRefused || !told[f.Unit+" "+withoutNamespace(f.Object)] {
			out = append(out, f)
		}
	}
	return out
}
