package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// kind is what a unit is.
type kind string

const (
	kustomization kind = "Kustomization"
	application   kind = "Application"
	release       kind = "HelmRelease"
)

// unit is one as Git declares it.
type unit struct {
	kind    kind
	name    string
	value   int
	objects int
}

// state is what Git declares.
type state struct {
	options
	world   *world
	rng     *rand.Rand
	units   []*unit
	next    int
	commits int
	// done counts what happened.
	done map[string]int
}

// add declares another unit: of ten, five are Kustomizations, four Applications, one a HelmRelease.
func (s *state) add() {
	of := kustomization
	switch n := s.next % 10; {
	case n == 9:
		of = release
	case n >= 5:
		of = application
	}
	s.units = append(s.units, &unit{kind: of, name: fmt.Sprintf("app-%05d", s.next), objects: 1 + s.rng.IntN(4)})
	s.next++
}

// change changes some units, removes some, and declares as many others.
func (s *state) change() {
	for range 5 + s.rng.IntN(15) {
		u := s.units[s.rng.IntN(len(s.units))]
		u.value++
		u.objects = 1 + s.rng.IntN(4)
	}
	for range s.rng.IntN(4) {
		at := s.rng.IntN(len(s.units))
		s.units = slices.Delete(s.units, at, at+1)
		s.add()
	}
}

// commit writes everything that is declared, and pushes it.
func (s *state) commit(ctx context.Context) error {
	for _, dir := range []string{"apps", "argo", "flux"} {
		if err := os.RemoveAll(filepath.Join(s.world.repo, dir)); err != nil {
			return err
		}
	}
	url := s.world.git.url("soak")
	files := map[string]string{"argo/.keep": "", "flux/source.yaml": fmt.Sprintf(chartTemplate, s.world.registry.Host)}
	for _, u := range s.units {
		switch u.kind {
		case kustomization:
			files["flux/"+u.name+".yaml"] = fmt.Sprintf(unitTemplate, u.name)
			files["apps/"+u.name+"/app.yaml"] = u.text()
		case application:
			files["argo/"+u.name+".yaml"] = fmt.Sprintf(applicationTemplate, u.name, url, "apps/"+u.name, "soak-argo")
			files["apps/"+u.name+"/app.yaml"] = u.text()
		case release:
			files["flux/"+u.name+".yaml"] = fmt.Sprintf(releaseTemplate, u.name, u.value)
		}
	}
	for name, text := range files {
		path := filepath.Join(s.world.repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	s.commits++
	return s.world.push(ctx)
}

func (u *unit) text() string {
	var parts []string
	for i := range u.objects {
		parts = append(parts, fmt.Sprintf(configTemplate, u.name, i, u.value))
	}
	return strings.Join(append(parts, fmt.Sprintf(deploymentTemplate, u.name)), "---\n")
}

// Times of the churn.
const (
	commitEvery = 7 * time.Second
	failEvery   = 30 * time.Second
	failFor     = 15 * time.Second
	sampleEvery = time.Minute
)

// churn commits, and has things fail, until the time is up. The controller is killed in the first half only, so that the
// process of the second half shows what it keeps.
func (s *state) churn(ctx context.Context, t *table) error {
	s.done = map[string]int{}
	began := time.Now()
	commits, failures, samples := time.NewTicker(commitEvery), time.NewTicker(min(failEvery, s.duration/4)), time.NewTicker(min(sampleEvery, s.duration/3))
	defer commits.Stop()
	defer failures.Stop()
	defer samples.Stop()
	end := time.After(s.duration)
	var over <-chan time.Time
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			s.world.git.set(well)
			return s.world.alive()
		case <-commits.C:
			s.change()
			err = s.commit(ctx)
		case <-over:
			s.world.git.set(well)
		case <-failures.C:
			over, err = s.fail(ctx, time.Since(began) < s.duration/2)
		case <-samples.C:
			t.sample(ctx, fmt.Sprintf("+%s", time.Since(began).Round(time.Second)), "")
		}
		if err != nil {
			return err
		}
		if err := s.world.alive(); err != nil {
			return err
		}
	}
}

// fail has one thing fail; over is when the Git server recovers.
func (s *state) fail(ctx context.Context, kills bool) (over <-chan time.Time, err error) {
	n := s.rng.IntN(5)
	if n == 4 && !kills {
		n = s.rng.IntN(4)
	}
	switch n {
	case 3:
		s.note("the API server restarts")
		return nil, s.world.restartPlane(ctx)
	case 4:
		s.note("the controller is killed")
		if err := s.world.kill(); err != nil {
			return nil, err
		}
		return nil, s.world.run()
	default:
		m := mood(n + 1)
		s.note(moods[m])
		s.world.git.set(m)
		return time.After(failFor), nil
	}
}

func (s *state) note(what string) {
	s.done[what]++
	fmt.Printf("%s  %s\n", time.Now().Format(time.TimeOnly), what)
}
