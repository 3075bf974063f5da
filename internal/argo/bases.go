package argo

import (
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/bases"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
)

// remotes fetch what kustomizations of an Application name elsewhere.
func (e *Engine) remotes(a *app) render.Remotes {
	declared, owner := a.snapshot(), a.id.String()
	r := e.Bases.Reader(bases.Unit{
		Owner: owner, Share: feeds.ShareOf(declared.obj.Spec.Project), Reach: reach{e.feeds, declared.project},
	})
	if e.apps.get(a.id) == nil {
		// It was deleted meanwhile.
		e.Bases.Forget(owner)
	}
	return r
}

// reach reaches addresses that kustomizations name. The credentials of the installation are for what the project permits as a
// source; anything else is requested without.
type reach struct {
	feeds   *feeds.Feeds
	project *policy.Project
}

// Git is where a repository is fetched, and the login there.
func (r reach) Git(address string) (source.GitOptions, error) {
	if r.project == nil || r.project.PermitsSource(address) != nil {
		return r.feeds.Anonymous(address), nil
	}
	return r.feeds.Git(address, r.project.Name)
}

// File is where a file is fetched. As with the upstream, files of web servers are requested without a login.
func (r reach) File(address string) (instead string, access source.Access, err error) {
	o := r.feeds.Anonymous(address)
	return o.URL, source.Access{CAFile: o.CAFile, Egress: o.Egress}, nil
}
