package view

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Options say how a workflow is shown.
type Options struct {
	// Wide adds artifacts and machines; Short leaves out all but the tree.
	Wide, Short bool
	// Selector restricts the tree to some nodes; nil for all.
	Selector fields.Selector
}

// Summary is a workflow as people read it: what it is, how far it got, and the tree of its nodes.
func Summary(wf *v1alpha1.Workflow, o Options, now time.Time) string {
	var b strings.Builder
	if !o.Short {
		for _, line := range head(wf, now) {
			b.WriteString(visible(strings.TrimRight(fmt.Sprintf("%-20s %s", line[0], line[1]), " ")) + "\n")
		}
	}
	branches := Tree(wf, o.Selector, now)
	if len(branches) == 0 {
		return b.String()
	}
	if !o.Short {
		b.WriteString("\n")
	}
	return b.String() + table(branches, o)
}

// head are the lines above the tree, as name and value.
func head(wf *v1alpha1.Workflow, now time.Time) [][2]string {
	status := wf.Status
	lines := [][2]string{
		{"Name:", wf.Name}, {"Namespace:", wf.Namespace}, {"ServiceAccount:", account(wf)}, {"Status:", Status(wf)},
	}
	if status.Message != "" {
		lines = append(lines, [2]string{"Message:", oneLine(status.Message)})
	}
	if len(status.Conditions) > 0 {
		lines = append(lines, [2]string{"Conditions:", ""})
	}
	for _, c := range status.Conditions {
		value := string(c.Status)
		if c.Message != "" {
			value = oneLine(c.Message)
		}
		lines = append(lines, [2]string{" " + string(c.Type), value})
	}
	lines = append(lines, [2]string{"Created:", stamp(wf.CreationTimestamp.Time, now)})
	if !status.StartedAt.IsZero() {
		lines = append(lines, [2]string{"Started:", stamp(status.StartedAt.Time, now)})
	}
	if !status.FinishedAt.IsZero() {
		lines = append(lines, [2]string{"Finished:", stamp(status.FinishedAt.Time, now)})
	}
	if !status.StartedAt.IsZero() {
		lines = append(lines, [2]string{"Duration:", took(status.StartedAt.Time, status.FinishedAt.Time, now)})
	}
	if status.Progress != "" {
		lines = append(lines, [2]string{"Progress:", status.Progress})
	}
	lines = append(lines, values("Parameters:", spec(wf).Arguments.Parameters)...)
	if status.Outputs != nil {
		lines = append(lines, values("Output Parameters:", status.Outputs.Parameters)...)
		lines = append(lines, artifacts("Output Artifacts:", status.Outputs.Artifacts)...)
	}
	return lines
}

// account is the ServiceAccount that templates run as.
func account(wf *v1alpha1.Workflow) string {
	name := spec(wf).ServiceAccountName
	switch {
	case name != "":
		return name
	case wf.Spec.WorkflowTemplateRef != nil && wf.Status.StoredWorkflowSpec == nil:
		return "unset"
	default:
		return "unset (will run with the default ServiceAccount)"
	}
}

// values are parameters below a title.
func values(title string, all []v1alpha1.Parameter) [][2]string {
	lines := [][2]string{{title, ""}}
	for _, p := range all {
		if p.Value != nil {
			lines = append(lines, [2]string{"  " + p.Name + ":", excerpt(oneLine(p.Value.String()))})
		}
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}

// longestValue is how many characters of a parameter a summary has: some are whole files. -o yaml has all of them.
const longestValue = 120

// excerpt is the beginning of a value.
func excerpt(text string) string {
	if all := []rune(text); len(all) > longestValue {
		return string(all[:longestValue-1]) + "…"
	}
	return text
}

// artifacts are those below a title, with where they are.
func artifacts(title string, all []v1alpha1.Artifact) [][2]string {
	lines := [][2]string{{title, ""}}
	for _, a := range all {
		place := ""
		if a.Local != nil {
			place = a.Local.Digest
		}
		lines = append(lines, [2]string{"  " + a.Name + ":", place})
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}

// table is a tree with its columns.
func table(branches []Branch, o Options) string {
	rows := [][]string{{"STEP", "TEMPLATE", "PODNAME", "DURATION", "MESSAGE"}}
	if o.Wide {
		rows[0] = []string{"STEP", "TEMPLATE", "PODNAME", "DURATION", "ARTIFACTS", "MESSAGE", "NODENAME"}
	}
	for _, b := range branches {
		row := []string{b.Step, b.Template, b.Pod, b.Duration, b.Message}
		if o.Wide {
			row = slices.Insert(append(row, b.Host), 4, b.Artifacts)
		}
		rows = append(rows, row)
	}
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, visible(strings.Join(row, "\t")))
	}
	_ = w.Flush() // a buffer takes everything
	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// stamp is a time, and how long ago that is.
func stamp(at, now time.Time) string {
	return fmt.Sprintf("%s (%s ago)", at.UTC().Format(time.RFC3339), took(at, now, now))
}
