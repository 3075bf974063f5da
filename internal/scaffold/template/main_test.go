package main

import (
	"testing"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/charttest"
	"github.com/headgate-dev/headgate/chart/packages"
)

// TestPackages compares what is written with the golden files in testdata. "go test ./... -update" accepts a change.
func TestPackages(t *testing.T) {
	charttest.GoldenProgram(t, packages.Program(packages.Settings{}, describe), "packages")
}

// TestWeb tests one chart by its objects.
func TestWeb(t *testing.T) {
	result := charttest.Describe(t, chart.Settings{}, func(app *chart.App) {
		Web(chart.New(app, "shop", chart.Props{Namespace: "shop"}), WebProps{Image: "shop:1.0", Port: 8080, Replicas: 3})
	})
	server := charttest.Object(t, result, "Deployment", "shop-server")
	spec, _ := server.Object["spec"].(map[string]any)
	if spec["replicas"] != int64(3) {
		t.Errorf("%v replicas, want 3", spec["replicas"])
	}
}
