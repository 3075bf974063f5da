package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rules "github.com/headgate-dev/headgate/chart/lint"
	"github.com/headgate-dev/headgate/internal/acceptance"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/lint"
	"github.com/headgate-dev/headgate/internal/offline"
)

// The rules of what a cluster refuses, and of waits.
const (
	ruleRefused   = "validate/refused"
	ruleNamespace = "validate/namespace"
	ruleWait      = "validate/wait"
	ruleKey       = "validate/key"
)

// NewValidate is the command that finds what a cluster would refuse or wait for without end.
func NewValidate(g *console.Globals) *cobra.Command {
	o := lintOptions{OfflineOptions: console.OfflineOptions{Globals: g}, schemas: acceptance.Version, severities: []string{"error"}, waits: true}
	cmd := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Find what a cluster would refuse, and waits that never end, without a cluster",
		Long: `Validate repositories, kustomizations and files, in these steps:

  1. find out what each PATH is, and render it, as "headgate lint" does
  2. hold all objects against the schemas of Kubernetes and of the definitions among them, and those of a repository against the rules of the
     embedded API server too: unknown, missing and invalid fields, kinds and versions that are not served, namespaces that nothing creates
  3. find waits of the units of a repository that never end, units that cannot be rendered, and files that the given age key does not decrypt
  4. print each problem with the file, the line in it, the object, the field and the unit that renders it

Values of Secrets are never printed. Encrypted values are not validated. The rules of good practice are those of "headgate lint"; which unit waits
for which is shown by "headgate graph".

The last line says which checks could not be made, and which files are not decrypted for want of a key: neither is a problem.

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
			definitions, _, err := g.Catalogue.All().Definitions()
			if err != nil {
				return err
			}
			for _, d := range definitions {
				o.definitions = append(o.definitions, d.Object)
			}
			return runLint(cmd.Context(), o, args)
		},
	}
	console.BindOffline(cmd, &o.OfflineOptions)
	console.BindFetches(cmd, &o.OfflineOptions)
	f := cmd.Flags()
	f.StringVar(&o.schemas, "schemas", acceptance.Version, "minor version of Kubernetes whose schemas are taken")
	f.StringVarP(&o.format, "output", "o", "text", strings.Join(lint.Formats(), ", "))
	console.CompleteOutput(cmd, lint.Formats()...)
	return cmd
}

// validateRules are the rules of what is found beside that which schemas say.
func validateRules() []lint.Rule {
	return []lint.Rule{
		{Name: ruleRefused, Summary: "the API server would refuse the object"},
		{Name: ruleNamespace, Summary: "nothing creates the namespace of the object"},
		{Name: ruleWait, Summary: "units wait for each other, for what comes too late, or for what nothing declares"},
		{Name: ruleUnit, Summary: "a unit cannot be rendered, or a file cannot be read"},
		{Name: ruleKey, Summary: "the given key decrypts nothing of an encrypted file"},
	}
}

// survey adds what the API server would refuse, and the waits that never end.
func (o *lintOptions) survey(ctx context.Context, t *tree, w *offline.Walk) error {
	c := &checker{io: o.IO, catalogue: o.Catalogue}
	around, err := surroundings(w)
	if err != nil {
		return err
	}
	server, survey, err := c.survey(ctx, declaredObjects(w.Units), around.Surroundings)
	if err != nil {
		return err
	}
	skipped := len(survey.Unknown)
	for _, f := range w.Findings(server) {
		if !around.certain(f) {
			skipped++
			continue
		}
		t.findings = append(t.findings, t.waits(w, f))
	}
	for _, refusal := range survey.Refused {
		t.findings = append(t.findings, t.refused(refusal))
	}
	for _, b := range w.Broken() {
		file, line, _ := t.index.Find(stubOf(b.ID), "")
		for _, problem := range b.Problems {
			t.findings = append(t.findings, lint.Finding{File: file, Line: line, Severity: "error", Rule: ruleUnit, Unit: b.ID.String(), Message: problem})
		}
	}
	unread, err := w.Unread()
	for _, text := range unread {
		t.findings = append(t.findings, nowhereRead(w, text))
	}
	if text := around.skips(skipped); text != "" {
		t.notes = append(t.notes, text)
	}
	if err != nil {
		return err
	}
	return o.sealed(t, w)
}

// sealed adds what cannot be decrypted: a finding where a key is given that should, else a note.
func (o *lintOptions) sealed(t *tree, w *offline.Walk) error {
	all, err := o.SealedFiles(w)
	for _, one := range all {
		if one.Why != nil {
			file := shorter(filepath.Join(w.Dir, filepath.FromSlash(one.File)))
			t.findings = append(t.findings, lint.Finding{File: file, Line: 1, Severity: "error", Rule: ruleKey, Unit: one.Unit, Message: one.Why.Error()})
		}
	}
	if text := console.Unsealed(all); text != "" {
		t.notes = append(t.notes, text)
	}
	return err
}

// waits is the finding about a unit, or about an object of one.
func (t *tree) waits(w *offline.Walk, f dialect.Finding) lint.Finding {
	severity, text := "error", strings.Join(f.Steps, "; ")
	switch {
	case f.Note:
		severity = "info"
	case f.Perhaps:
		severity = "warning"
	}
	if f.Never {
		text = "a wait that never ends: " + text
	}
	finding := lint.Finding{Severity: severity, Rule: ruleWait, Message: text, Field: f.Field}
	if f.Unit == (engine.UnitID{}) {
		return finding
	}
	finding.Unit = f.Unit.String()
	if at := t.itemOf(f.Unit, f.About); at >= 0 {
		finding.File, finding.Line = t.where(t.items[at], f.Field)
		return finding
	}
	finding.File, finding.Line = t.unit(w, f.Unit, f.Field)
	return finding
}

// nowhereRead is the finding about a file that nothing leads to, whose text begins with its name.
func nowhereRead(w *offline.Walk, text string) lint.Finding {
	f := lint.Finding{Severity: "error", Rule: ruleUnit, Message: text}
	if name, rest, has := strings.Cut(text, ": "); has && isFile(w.Dir, name) {
		f.File, f.Line, f.Message = shorter(filepath.Join(w.Dir, filepath.FromSlash(name))), 1, rest
	}
	return f
}

// refused is the finding about an object that is refused, with its file and line.
func (t *tree) refused(r acceptance.Refusal) lint.Finding {
	f := lint.Finding{Severity: "error", Rule: ruleRefused, Unit: r.By.String(), Object: r.Objects[0].String(), Message: r.Why}
	if field, rest, has := strings.Cut(r.Why, ": "); has && !strings.Contains(field, " ") {
		f.Field, f.Message = field, rest
	}
	if r.Namespace != "" {
		f.Rule, f.Field, f.Message = ruleNamespace, "metadata.namespace", fmt.Sprintf("nothing creates namespace %q", r.Namespace)
	}
	if more := len(r.Objects) - 1; more > 0 {
		f.Message += fmt.Sprintf("; the same for %d more of the unit", more)
	}
	if at := t.itemOf(r.By, r.Objects[0]); at >= 0 {
		f.Object = titleOf(t.items[at].object)
		f.File, f.Line = t.where(t.items[at], f.Field)
	}
	return f
}

// itemOf is the index of an object of a unit, or -1.
func (t *tree) itemOf(unit engine.UnitID, id engine.ObjectID) int {
	return slices.IndexFunc(t.items, func(one item) bool {
		own := engine.IDOf(&unstructured.Unstructured{Object: one.object})
		// An object of an Application has the namespace of that only in a cluster.
		return one.unit == unit.String() && own.GroupKind() == id.GroupKind() && own.Name == id.Name &&
			(own.Namespace == "" || id.Namespace == "" || own.Namespace == id.Namespace)
	})
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
