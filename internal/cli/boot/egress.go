package boot

import (
	"context"
	"slices"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/idp"
)

// decide says where requests of the engine may go, by whose addresses they are.
func (s *serving) decide(run egress.Run) error {
	run.Allow = s.allowEgress
	var err error
	s.egress, err = run.Policy()
	return err
}

// foreign reports whether others write what is served: a repository by URL, or a package of one.
func (o upOptions) foreign() bool { return o.remote() || len(o.remotePackages()) > 0 }

// remotePackages are the repositories of packages that are somewhere else.
func (o upOptions) remotePackages() []string {
	var urls []string
	for _, argument := range o.packages {
		if remote, err := idp.ParseRemote(argument); err == nil {
			urls = append(urls, remote.URL)
		}
	}
	return urls
}

// decideEgress is about an engine of this machine. What a person names on the command line is reached wherever it is.
func (o *upOptions) decideEgress() error {
	if err := o.serving.decide(egress.Run{Remote: o.foreign(), Shared: o.Real()}); err != nil {
		return err
	}
	if o.remote() {
		o.serving.egress.Served.Add(o.path)
	}
	o.serving.egress.Served.Add(o.remotePackages()...)
	return nil
}

// reachOwn has the engine reach the servers of this process, and where rewrites lead that a person has given.
func (s *system) reachOwn(context.Context) error {
	own := []string{s.config.Host, s.server.Base()}
	if s.cloud != nil {
		own = append(own, s.cloud.URL)
	}
	s.options.serving.egress.Served.Add(slices.Concat(own, s.options.serving.rewrites.Targets())...)
	return nil
}
