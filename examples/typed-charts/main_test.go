package main

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/charttest"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

// TestPackages compares everything that is written with the golden files.
func TestPackages(t *testing.T) {
	charttest.GoldenProgram(t, packages.Program(packages.Settings{}, describe), "packages")
}

// TestOrder has each application wait for the one that it needs, in its own environment.
func TestOrder(t *testing.T) {
	built, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range built {
		names = append(names, one.Name)
	}
	for _, environment := range []string{"staging", "production"} {
		order := strings.Join(names, " ")
		database, api, web := strings.Index(order, "database-"+environment), strings.Index(order, "api-"+environment), strings.Index(order, "web-"+environment)
		if database < 0 || api < database || web < api {
			t.Errorf("%s: the order is %s", environment, order)
		}
	}
}

// TestMistakes shows what a person reads.
func TestMistakes(t *testing.T) {
	charts := factory.NewRegistry()
	factory.Register(charts, "server", Server)
	for name, tc := range map[string]struct {
		props ServerProps
		chart string
		want  string
	}{
		"Missing": {ServerProps{Image: "api"}, "server", "port"},
		"Unknown": {ServerProps{Image: "apy", Port: 1}, "server", `"apy"`},
		"Invalid": {ServerProps{Image: "api", Port: 1, Settings: map[string]string{"LOG_LEVEL": "x"}}, "server", "settings.LOG_LEVEL"},
		"Chart":   {ServerProps{Image: "api", Port: 1}, "sever", `"server"`},
	} {
		t.Run(name, func(t *testing.T) {
			one := config()
			one.Applications = []factory.Application{{
				Name: "api", Namespace: "shop", Environment: "staging", Chart: factory.Chart{Type: tc.chart, Props: tc.props},
			}}
			program := packages.Program(packages.Settings{}, func() ([]packages.Package, error) { return factory.Build(charts, one, factory.Options{}) })
			if _, _, err := program.Synth(chart.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want one of %s", err, tc.want)
			}
		})
	}
}
