package console

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// CompleteReference completes KIND/NAME: the kinds of the catalogue, then the names of objects in the cluster.
func (g *Globals) CompleteReference(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return g.names(cmd, args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kind, _, named := strings.Cut(typed, "/")
	if !named {
		var all []string
		for _, name := range g.Catalogue.Suggestions() {
			all = append(all, name+"/")
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	var all []string
	for _, name := range g.names(cmd, kind) {
		all = append(all, kind+"/"+name)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// CompleteKind completes KIND and then NAME.
func (g *Globals) CompleteKind(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return append(append(g.Catalogue.Suggestions(), "all"), g.categories()...), cobra.ShellCompDirectiveNoFileComp
	}
	return g.names(cmd, args[0]), cobra.ShellCompDirectiveNoFileComp
}

// names are those of the objects of a kind, in the namespace of the command. What cannot be asked is not completed.
func (g *Globals) names(cmd *cobra.Command, kind string) []string {
	namespace, err := cmd.Flags().GetString("namespace")
	if err != nil {
		namespace = metav1.NamespaceAll
	}
	k, err := g.Catalogue.Find(kind)
	if err != nil {
		return nil
	}
	if namespace == DefaultNamespace && k.Namespace != "" {
		namespace = k.Namespace
	}
	client, err := g.Client()
	if err != nil {
		return nil
	}
	list, err := ServedOf(k).List(cmd.Context(), client, namespace, true)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, u := range list {
		names[i] = u.GetName()
	}
	return names
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

// IsCategory tells whether a name is that of several kinds together.
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
