package planes_test

import (
	"slices"
	"testing"

	"github.com/headgate-dev/headgate/internal/planes"
)

// TestFind finds planes by each of the names that people know them by.
func TestFind(t *testing.T) {
	const dev, staging = "dev-vcluster-vcluster-de-f0c194c039f40b14", "staging-vcluster-vcluste-e954ab62aafe92bf"
	running := []planes.Status{
		{Name: dev, Users: []string{"VirtualCluster dev-vcluster/vcluster-dev"}},
		{Name: staging, Users: []string{"VirtualCluster staging-vcluster/vcluster-staging"}},
		{Name: "plain", Users: []string{"a test"}},
	}
	stopped := []planes.Status{{Name: dev}, {Name: staging}, {Name: "plain"}}
	for _, c := range []struct {
		name string
		all  []planes.Status
		want []string
	}{
		{dev, running, []string{dev}},
		{"plain", running, []string{"plain"}},
		{"dev-vcluster/vcluster-dev", running, []string{dev}},
		{"dev-vcluster/vcluster-dev", stopped, []string{dev}},
		{"dev-vcluster", running, []string{dev}},
		{"dev-vcluster", stopped, []string{dev}},
		{"vcluster-staging", running, []string{staging}},
		{"vcluster-staging", stopped, nil},
		{"staging", running, []string{staging}},
		{"dev-vcluster/other", running, nil},
		{"other/vcluster-dev", running, nil},
		{"de", stopped, nil},
		{"", stopped, nil},
	} {
		var got []string
		for _, s := range planes.Find(c.all, c.name) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q of %d control planes: %q, want %q", c.name, len(c.all), got, c.want)
		}
	}
}
