package sets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/appset"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/source"
)

// follow has the repositories followed that the generators read. After an error they may not have come to all of them.
func (s *Sets) follow(name types.NamespacedName, state *setState, keys []feeds.Key, err error) {
	s.mu.Lock()
	if err != nil {
		for _, k := range state.keys {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	changed := !slices.Equal(state.keys, keys)
	state.keys = keys
	s.mu.Unlock()
	if !changed {
		return
	}
	s.feeds.Want(s.owner(name), keys)
	if errors.Is(err, feeds.ErrPending) {
		// What was being fetched may have come before it was known that this set waits for it.
		s.passes.Wake(name)
	}
}

// existing are the Applications of the namespace of a set.
func (s *Sets) existing(set *appset.Set) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, one := range s.installation.Applications(set.Namespace) {
		if one.Raw != nil {
			all = append(all, &unstructured.Unstructured{Object: one.Raw})
		}
	}
	return all
}

// setFacts are what generators read.
type setFacts struct {
	sets  *Sets
	state *setState
	keys  []feeds.Key
}

func (f *setFacts) Clusters(context.Context) ([]settings.Cluster, error) {
	return f.sets.installation.Settings().Every(), nil
}

func (f *setFacts) Tree(_ context.Context, repoURL, revision, project string) (*source.Tree, string, error) {
	k := feeds.KeyOf(v1alpha1.ApplicationSource{RepoURL: repoURL, TargetRevision: revision}, project)
	if !slices.Contains(f.keys, k) {
		f.keys = append(f.keys, k)
	}
	state := f.sets.feeds.Get(k)
	switch {
	case state.Has():
		if project != "" {
			// A project that is only known by parameters cannot be asked before there are any.
			if err := f.sets.installation.Verify(project, k, state); err != nil {
				return nil, "", err
			}
		}
		return state.Tree, state.Revision, nil
	case state.Settled:
		return nil, "", fmt.Errorf("%s: %w", repoURL, state.Err)
	}
	return nil, "", feeds.ErrPending
}
