package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/chart/charttest"
	"github.com/headgate-dev/headgate/chart/packages"
)

// TestPackages compares everything that is written with the packages of this directory.
func TestPackages(t *testing.T) {
	charttest.GoldenProgram(t, packages.Program(packages.Settings{}, describe), "../packages")
}

// TestOrder has each application wait for its virtual cluster and for what the environments share, and go to its own cluster.
func TestOrder(t *testing.T) {
	built, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range built {
		names = append(names, one.Name)
	}
	for _, environment := range []string{"dev", "staging"} {
		for _, team := range []string{"backstage", "nextjs"} {
			at := slices.Index(names, team+"-"+environment)
			for _, before := range []string{"vcluster-" + environment, "postgres", team + "-login"} {
				if first := slices.Index(names, before); first < 0 || at < first {
					t.Errorf("%s-%s is not after %s: %s", team, environment, before, strings.Join(names, " "))
				}
			}
		}
	}
}
