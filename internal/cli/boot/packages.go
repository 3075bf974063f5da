package boot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/host"
	"github.com/headgate-dev/headgate/internal/idp/deploy"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/source"
)

// argoGroup is the API group of what packages declare.
const argoGroup = "argoproj.io"

// startPackages serves the directories of the packages.
func (s *system) startPackages(ctx context.Context) error {
	if len(s.options.packages) == 0 {
		return nil
	}
	if !s.options.serving.groups.Serves(argoGroup) {
		return console.Hint(errors.New("--package: packages are Applications, whose group is not served"), "headgate up --package %s", s.options.packages[0])
	}
	namespace := ""
	if k, err := s.options.FindKind("app"); err == nil {
		if known, is := s.options.Catalogue.Kind(k.GroupKind()); is {
			namespace = known.Namespace
		}
	}
	var index deploy.Index
	if s.gitea != nil {
		index = packageIndex{s.gitea}
	}
	var err error
	s.packages, err = deploy.New(deploy.Config{
		Arguments: s.options.packages, Namespace: namespace, Git: s.server, Password: s.token, Login: s.login, Index: index, Dir: filepath.Join(s.run, "packages"),
		Changed: func(matches func(string) bool) {
			if engine := s.leader.current(); engine != nil {
				engine.Nudge(matches)
			}
		},
		Note: s.say.Info, Problem: s.say.Problem, Guard: guard.New(logr.FromContextOrDiscard(ctx), nil),
	})
	if err != nil {
		return fmt.Errorf("--package: %w", err)
	}
	n := s.packages.Prepare(ctx)
	if n == 0 && s.options.exit {
		return errors.New("--package: there is no package that can be deployed")
	}
	others := s.rewrite
	s.rewrite = func(url string) (source.Local, bool) {
		if local, is := s.packages.Local(url); is {
			return local, true
		}
		if others == nil {
			return source.Local{}, false
		}
		return others(url)
	}
	s.say.Done("packages", fmt.Sprintf("%d, of %d arguments", n, len(s.options.packages)))
	return nil
}

// installPictures has the cluster serve idpbuilder's kinds, whose objects show the packages.
func (s *system) installPictures(ctx context.Context) error {
	if s.packages == nil {
		return nil
	}
	definitions, err := deploy.Definitions()
	if err != nil {
		return err
	}
	added, err := host.Add(ctx, s.config, definitions)
	if err == nil && !added {
		s.say.Info("packages", "no Localbuilds, CustomPackages and GitRepositories are written: the cluster has these kinds from idpbuilder")
	}
	s.packages.Show(added)
	return err
}

// beginPackages applies what comes first of the packages, before there is an engine.
func (s *system) beginPackages(ctx context.Context) error {
	if s.packages == nil {
		return nil
	}
	return s.packages.Begin(ctx, s.config)
}

// followPackages has the packages deployed for as long as the engine serves the cluster.
func (s *system) followPackages(ctx context.Context) {
	if s.packages == nil {
		return
	}
	go s.packages.Run(ctx, func(ctx context.Context) []runner.State {
		generators := s.generators()
		states, _ := s.standing(ctx)
		return append(states, generators...)
	})
}

// withPackages is the verdict with the problems of packages, and whether some of these are yet to be applied.
func (s *system) withPackages(v verdict, states []runner.State) (verdict, bool) {
	if s.packages == nil || s.leader.current() == nil {
		return v, false
	}
	return v.with(s.packages.Problems()), s.packages.Pending(append(slices.Clone(states), s.generators()...))
}
