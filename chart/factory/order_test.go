package factory_test

import (
	"fmt"
	"math/rand"
	"strconv"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart/factory"
)

// TestOrderProperty builds random graphs without circles: every package comes after those that it waits for, in a later wave, whatever
// the order of the configuration is.
func TestOrderProperty(t *testing.T) {
	elsewhere := factory.ArgoCD{Sources: []v1alpha1.ApplicationSource{{RepoURL: "https://example.org", Path: "."}}}
	for seed := range int64(50) {
		chance := rand.New(rand.NewSource(seed)) //nolint:gosec // a seed makes a failure repeatable
		config := factory.Config{}
		for i := range 30 {
			app := factory.Application{Name: "app" + strconv.Itoa(i), Namespace: "x", ArgoCD: elsewhere}
			for range chance.Intn(4) {
				if i > 0 {
					app.Dependencies = append(app.Dependencies, "app"+strconv.Itoa(chance.Intn(i)))
				}
			}
			config.Applications = append(config.Applications, app)
		}
		needs := map[string][]string{}
		for _, app := range config.Applications {
			needs[app.Name] = app.Dependencies
		}
		chance.Shuffle(len(config.Applications), func(i, j int) {
			config.Applications[i], config.Applications[j] = config.Applications[j], config.Applications[i]
		})
		built := build(t, config, factory.Options{Waves: true})
		waves, all := map[string]int{}, objects(t, built)
		for i, pkg := range built {
			meta := all[pkg.Name+" Application"]["metadata"].(map[string]any)
			wave, err := strconv.Atoi(fmt.Sprint(meta["annotations"].(map[string]any)["argocd.argoproj.io/sync-wave"]))
			if err != nil {
				t.Fatal(err)
			}
			waves[pkg.Name] = wave
			for _, need := range needs[pkg.Name] {
				if before, done := waves[need]; !done || before >= wave {
					t.Errorf("seed %d: %s is number %d in wave %d, and waits for %s (wave %d, there: %v)", seed, pkg.Name, i, wave, need, before, done)
				}
			}
		}
		if len(built) != len(config.Applications) {
			t.Errorf("seed %d: %d packages, want %d", seed, len(built), len(config.Applications))
		}
	}
}
