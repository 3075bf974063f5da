package console

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
)

// CompleteReference completes KIND/NAME: the kinds of the catalogue, then the names of objects in the cluster.
func (g *Globals) CompleteReference(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	return g.completeNamed(cmd, args, typed, g.names)
}

// CompleteObject completes KIND/NAME also of objects that units hold.
func (g *Globals) CompleteObject(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 && typed != "" && !strings.Contains(typed, "/") && len(beginning(typed, g.Catalogue.Suggestions())) == 0 {
		return beginning(typed, g.heldKinds(cmd)), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return g.completeNamed(cmd, args, typed, func(cmd *cobra.Command, kind string) []string {
		if _, err := g.Catalogue.Find(kind); err == nil {
			return g.names(cmd, kind)
		}
		return g.heldNames(cmd, kind)
	})
}

// completeNamed completes KIND/NAME or KIND NAME, with the names that a function has for a kind.
func (g *Globals) completeNamed(cmd *cobra.Command, args []string, typed string, names func(*cobra.Command, string) []string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 && !strings.Contains(args[0], "/") {
		return beginning(typed, names(cmd, args[0])), cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kind, _, named := strings.Cut(typed, "/")
	if !named {
		return beginning(typed, after(g.Catalogue.Suggestions(), "", "/")), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return beginning(typed, after(names(cmd, kind), kind+"/", "")), cobra.ShellCompDirectiveNoFileComp
}

// CompleteKind completes KIND and then names, or KIND/NAME.
func (g *Globals) CompleteKind(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	each := len(args) > 0 && strings.Contains(args[0], "/")
	if kind, _, named := strings.Cut(typed, "/"); named && (each || len(args) == 0) {
		return beginning(typed, after(g.names(cmd, kind), kind+"/", "")), cobra.ShellCompDirectiveNoFileComp
	}
	if each {
		return beginning(typed, after(g.Catalogue.Suggestions(), "", "/")), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if len(args) == 0 {
		return beginning(typed, append(append(g.Catalogue.Suggestions(), "all"), g.categories()...)), cobra.ShellCompDirectiveNoFileComp
	}
	given := slices.DeleteFunc(g.names(cmd, args[0]), func(name string) bool { return slices.Contains(args[1:], name) })
	return beginning(typed, given), cobra.ShellCompDirectiveNoFileComp
}

// CompleteOperated completes the names of objects that are synced by operations, or a kind and then its names.
func (g *Globals) CompleteOperated(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	kind, _ := g.OperatedKind()
	if len(args) > 0 || strings.Contains(typed, "/") || len(kind.Aliases) == 0 {
		return g.CompleteReference(cmd, args, typed)
	}
	return beginning(typed, append(g.names(cmd, kind.Aliases[0]), kind.Aliases[0])), cobra.ShellCompDirectiveNoFileComp
}

// CompleteOutput completes the values of -o.
func CompleteOutput(cmd *cobra.Command, values ...string) {
	// It fails for a flag that does not exist, which the first test of the command shows.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// beginning are the words that begin with what was typed.
func beginning(typed string, words []string) []string {
	var out []string
	for _, word := range words {
		if strings.HasPrefix(word, typed) {
			out = append(out, word)
		}
	}
	return out
}

// after are words with something before and after each.
func after(words []string, before, behind string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = before + word + behind
	}
	return out
}

// namespaceOf is the namespace of a command, for objects of a kind: the one that was given, or else where those are searched for.
func namespaceOf(cmd *cobra.Command, k dialect.Kind) string {
	flag := cmd.Flags().Lookup("namespace")
	switch {
	case flag == nil:
		return metav1.NamespaceAll
	case flag.Changed || flag.DefValue == "":
		return flag.Value.String()
	default:
		return orWord(k.Namespace, DefaultNamespace)
	}
}

// names are those of the objects of a kind, in the namespace of the command. What cannot be asked is not completed.
func (g *Globals) names(cmd *cobra.Command, kind string) []string {
	k, err := g.Catalogue.Find(kind)
	if err != nil {
		return nil
	}
	client, err := g.Client()
	if err != nil {
		return nil
	}
	list, err := ServedOf(k).List(cmd.Context(), client, namespaceOf(cmd, k), true)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, u := range list {
		names[i] = u.GetName()
	}
	return names
}

// held are the objects that units hold, in the namespace that was given, or in any.
func (g *Globals) held(cmd *cobra.Command) []engine.ObjectID {
	client, err := g.Client()
	if err != nil {
		return nil
	}
	units, err := g.ListUnits(cmd.Context(), client)
	if err != nil {
		return nil
	}
	within := GivenNamespace(cmd)
	var all []engine.ObjectID
	for _, u := range units {
		for _, id := range g.Catalogue.StateOf(u).Inventory {
			if within == "" || id.Namespace == "" || id.Namespace == within {
				all = append(all, id)
			}
		}
	}
	return all
}

// heldNames are those of the objects of a kind that units hold.
func (g *Globals) heldNames(cmd *cobra.Command, kind string) []string {
	var names []string
	for _, id := range g.held(cmd) {
		if means(kind, id) && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
	}
	return names
}

// heldKinds are the kinds of the objects that units hold, each to be followed by a name.
func (g *Globals) heldKinds(cmd *cobra.Command) []string {
	var kinds []string
	for _, id := range g.held(cmd) {
		if kind := strings.ToLower(id.Kind) + "/"; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// categories are the names of several kinds together.
func (g *Globals) categories() []string {
	var names []string
	for _, k := range g.Catalogue.Kinds() {
		if k.Category != "" && !slices.Contains(names, k.Category) {
			names = append(names, k.Category)
		}
	}
	return names
}

// IsCategory reports whether a name is that of several kinds together.
func (g *Globals) IsCategory(name string) bool { return slices.Contains(g.categories(), name) }

// CompleteFlags has the flags completed whose values are in the cluster or in the kubeconfig, for a command and all below it.
func (g *Globals) CompleteFlags(cmd *cobra.Command) {
	for name, complete := range map[string]cobra.CompletionFunc{"namespace": g.completeNamespace, "context": g.completeContext} {
		if cmd.LocalFlags().Lookup(name) != nil {
			// It fails for a flag that a command completes in its own way, which is as well.
			_ = cmd.RegisterFlagCompletionFunc(name, complete)
		}
	}
	for _, below := range cmd.Commands() {
		g.CompleteFlags(below)
	}
}

func (g *Globals) completeNamespace(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	client, err := g.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).List(cmd.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].GetName()
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (g *Globals) completeContext(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = g.kubeconfig
	config, err := rules.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
}
