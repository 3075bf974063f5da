package console

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// completeTimeout bounds how long a repository is rendered to complete a name.
const completeTimeout = 5 * time.Second

// CompleteRepository completes [PATH] KIND/NAME or KIND NAME, with the units of the repository.
func (o *OfflineOptions) CompleteRepository(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		if kind, _, named := strings.Cut(typed, "/"); named && o.isKind(kind) {
			return beginning(typed, o.declared(cmd, nil, "")), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	path, rest := args[:1], args[1:]
	if o.isKind(args[0]) && !exists(args[0]) {
		path, rest = nil, args
	}
	switch {
	case len(rest) == 0:
		return beginning(typed, o.declared(cmd, path, "")), cobra.ShellCompDirectiveNoFileComp
	case len(rest) == 1 && o.isKind(rest[0]):
		return beginning(typed, o.declared(cmd, path, rest[0])), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (o *OfflineOptions) isKind(word string) bool {
	_, err := o.Catalogue.Find(word)
	return err == nil
}

// declared are the units of a repository by KIND/NAME, or by NAME where the kind is given. One that its name alone does not find, since it is in
// another namespace, has that in it.
func (o *OfflineOptions) declared(cmd *cobra.Command, path []string, kind string) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
	defer cancel()
	quiet, g := *o, *o.Globals
	g.IO.Err = io.Discard
	quiet.Globals = &g
	quiet.Aim(path)
	w, err := quiet.Walk(ctx)
	if err != nil {
		return nil
	}
	defer w.Close()
	var names []string
	for i := range w.Units {
		id := w.Units[i].Unit.ID
		k, known := o.Catalogue.Kind(id.GroupKind())
		if !known || len(k.Aliases) == 0 {
			continue
		}
		near := id.Namespace == namespaceOf(cmd, k)
		if kind != "" {
			if found, err := o.Catalogue.Find(kind); err == nil && found.GroupKind == k.GroupKind && near {
				names = append(names, id.Name)
			}
			continue
		}
		name := id.Name
		if !near && id.Namespace != "" {
			name = id.Namespace + "/" + id.Name
		}
		names = append(names, k.Aliases[0]+"/"+name)
	}
	return names
}
