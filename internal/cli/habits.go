package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// verbs are those of a group in the help.
type verbs struct {
	id, title string
	names     []string
}

// families are the groups of the verbs in the help, in its order.
func families() []verbs {
	return []verbs{
		{"boot", "Boot:", []string{"up", "cluster", "cloud"}},
		{"see", "See:", []string{"get", "why", "tree", "events", "logs", "history", "check"}},
		{"act", "Act:", []string{"sync", "suspend", "resume", "rollback", "terminate", "promote", "workflow"}},
		{"repository", "Check a repository:", []string{"validate", "lint", "render", "graph", "diff", "health", "secret"}},
		{"charts", "Charts in Go:", []string{"init", "synth", "import"}},
		{"operate", "Run in a cluster:", []string{"install", "uninstall", "bootstrap", "migrate", "controller"}},
		{"other", "Other:", []string{"version", "docs"}},
	}
}

// group puts the verbs of a root command into the groups of its help.
func group(root *cobra.Command) {
	for _, g := range families() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(g.names, cmd.Name()) {
				cmd.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
}

// helpWidth is how wide the help is where its output is not a terminal, or a wider one.
const helpWidth = 120

// wrap has the help of all commands wrap the descriptions of flags at the width of the terminal.
func wrap(root *cobra.Command, out io.Writer) {
	width := helpWidth
	if f, is := out.(interface{ Fd() uintptr }); is {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			width = min(width, columns)
		}
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", width)))
}

// argocdVerbs are verbs of "argocd app" with what they are here.
func argocdVerbs() map[string]string {
	return map[string]string{
		"list": "get", "get": "get", "sync": "sync", "diff": "diff", "history": "history", "rollback": "rollback", "terminate-op": "terminate", "resources": "tree",
	}
}

// fluxFamilies are the words that the flux command has before some kinds, with the kinds that are not named alike here.
func fluxFamilies() map[string]map[string]string {
	return map[string]map[string]string{"source": {"all": "all"}, "sources": {"all": "all"}, "image": {"repository": "imgrepo", "policy": "imgpol", "update": "imgupd", "all": "images"}}
}

// accustomed are arguments in the words of the argocd and the flux command as the verbs here take them: "app sync NAME" is "sync app NAME", and
// "reconcile source git NAME" is "reconcile git NAME".
func accustomed(args []string) []string {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") {
		// The flags of all verbs take a value.
		if at++; !strings.Contains(args[at-1], "=") {
			at++
		}
	}
	if at > len(args)-2 {
		return args
	}
	return append(slices.Clone(args[:at]), translated(args[at:])...)
}

// translated is accustomed for a verb with what follows it.
func translated(args []string) []string {
	if verb := argocdVerbs()[args[1]]; verb != "" && slices.Contains([]string{"app", "apps", "application", "applications"}, args[0]) {
		return slices.Concat([]string{verb, "app"}, args[2:])
	}
	family, is := fluxFamilies()[args[1]]
	if !is || len(args) < 3 || strings.HasPrefix(args[2], "-") || !slices.Contains([]string{"get", "reconcile", "suspend", "resume", "events"}, args[0]) {
		return args
	}
	return slices.Concat(args[:1], []string{cmp.Or(family[args[2]], args[2])}, args[3:])
}
