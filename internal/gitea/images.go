package gitea

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"

	"github.com/headgate-dev/headgate/internal/gitea/hooks"
	"github.com/headgate-dev/headgate/internal/gitea/registry"
	"github.com/headgate-dev/headgate/internal/gitea/store"
)

// images are the accounts and the hooks of a Server as the registry of images needs them.
type images struct{ *Server }

// ServeImages serves the registry of images at /v2/, and the packages of the API. Images are kept in the directory of the
// Server.
func (s *Server) ServeImages(ctx context.Context) error {
	served, err := registry.New(ctx, registry.Config{
		Accounts: images{s}, Sink: images{s}, Dir: filepath.Join(s.cfg.Dir, "images"), Quota: s.cfg.Quota.Images, URL: s.cfg.Root, Log: s.cfg.Log,
	})
	if err != nil {
		return err
	}
	s.Mount("/v2/", served)
	s.Mount("/api/v1/packages/", served.API(func(r *http.Request) (registry.Account, bool) {
		found, err := s.who(r)
		return puller(found), err == nil && found.covers("package", false)
	}))
	return nil
}

// puller is a user as the registry knows one.
func puller(c caller) registry.Account {
	return registry.Account{Login: c.Name, ReadOnly: !c.covers("package", true), Public: c.publicOnly()}
}

// Authenticate implements registry.Accounts.
func (i images) Authenticate(ctx context.Context, user, password string) (registry.Account, bool) {
	found, err := i.basic(ctx, user, password)
	return puller(found), err == nil && found.known() && found.covers("package", false)
}

// Permits implements registry.Accounts.
func (i images) Permits(ctx context.Context, login, owner string, access registry.Access) bool {
	return i.Server.Permits(ctx, login, owner, access != registry.Pull)
}

// Package implements registry.Sink: what happens to an image is an event of its owner.
func (i images) Package(ctx context.Context, event registry.Event) {
	var organisation any
	i.store.Read(func(d *store.Data) {
		if owner, _ := d.Account(event.Owner); owner.Organisation {
			organisation = event.Package.Owner
		}
	})
	err := i.Notify(ctx, hooks.Event{
		Type: hooks.TypePackage, Source: hooks.Source{Owner: event.Owner},
		Payload: hooks.Package{Action: event.Action, Package: event.Package, Organization: organisation, Sender: i.Shape(ctx, event.Doer)},
	})
	if err != nil {
		i.cfg.Log.Error(err, "reporting a package", "owner", event.Owner, "package", event.Package.Name)
	}
	i.mu.Lock()
	told := slices.Clone(i.Server.images)
	i.mu.Unlock()
	for _, f := range told {
		f(event.Owner, event.Package.Name)
	}
}
