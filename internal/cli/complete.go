package cli

import (
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// completeReference completes KIND/NAME: the kinds of the catalogue, then the names of objects in the cluster.
func (g *globals) completeReference(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	kind, _, named := strings.Cut(typed, "/")
	if !named {
		var all []string
		for _, name := range g.catalogue.Suggestions() {
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

// completeKind completes KIND and then NAME.
func (g *globals) completeKind(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return append(append(g.catalogue.Suggestions(), "all"), g.categories()...), cobra.ShellCompDirectiveNoFileComp
	}
	return g.names(cmd, args[0]), cobra.ShellCompDirectiveNoFileComp
}

// names are those of the objects of a kind, in the namespace of the command. What cannot be asked is not completed.
func (g *globals) names(cmd *cobra.Command, kind string) []string {
	namespace, err := cmd.Flags().GetString("namespace")
	if err != nil {
		namespace = metav1.NamespaceAll
	}
	k, err := g.findKind(kind)
	if err != nil {
		return nil
	}
	client, err := g.client()
	if err != nil {
		return nil
	}
	list, err := k.list(cmd.Context(), client, namespace, true)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, u := range list {
		names[i] = u.GetName()
	}
	return names
}
