package appset

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// clusters gives the clusters that are known. That of the installation, when it has no Secret, has no labels either,
// and is left out by any selector.
func (g *generation) clusters(body map[string]any) ([]parameters, error) {
	var said v1alpha1.ClusterGenerator
	if err := decode(body, &said); err != nil {
		return nil, err
	}
	selector, err := metav1.LabelSelectorAsSelector(&said.Selector)
	if err != nil {
		return nil, within(".selector", err)
	}
	known, err := g.facts.Clusters(g.ctx)
	if err != nil {
		return nil, fmt.Errorf("listing clusters: %w", err)
	}
	g.out.Clusters = true
	known = slices.Clone(known)
	// Those with a Secret come first, by its name, so that the order says nothing of who answered first.
	slices.SortStableFunc(known, func(a, b settings.Cluster) int {
		return cmp.Or(cmp.Compare(boolean(a.Secret == ""), boolean(b.Secret == "")), cmp.Compare(a.Secret, b.Secret))
	})
	var sets []parameters
	for _, c := range known {
		if c.Secret == "" && !selector.Empty() || c.Secret != "" && !selector.Matches(labels.Set(c.Labels)) {
			continue
		}
		params := g.cluster(c)
		if err := addValues(g.engine, said.Values, params); err != nil {
			return nil, fmt.Errorf("with cluster %q: %w", c.Name, err)
		}
		sets = append(sets, parameters{params, fmt.Sprintf("cluster %q", c.Name)})
	}
	if !said.FlatList {
		return sets, nil
	}
	all := make([]any, 0, len(sets))
	for _, set := range sets {
		all = append(all, set.values)
	}
	return []parameters{{map[string]any{"clusters": all}, "the list of clusters"}}, nil
}

func (g *generation) cluster(c settings.Cluster) map[string]any {
	params := map[string]any{"name": c.Name, "nameNormalized": normalize(c.Name), "server": c.Server, "project": c.Project}
	switch {
	case c.Secret == "":
	case g.set.Spec.GoTemplate:
		metadata := map[string]any{}
		if len(c.Labels) > 0 {
			metadata["labels"] = c.Labels
		}
		if len(c.Annotations) > 0 {
			metadata["annotations"] = c.Annotations
		}
		params["metadata"] = metadata
	default:
		for key, value := range c.Labels {
			params["metadata.labels."+key] = value
		}
		for key, value := range c.Annotations {
			params["metadata.annotations."+key] = value
		}
	}
	return params
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
