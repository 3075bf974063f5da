// Command typed-charts describes what a small team runs: a database, an API and a web server, in staging and in production.
package main

import (
	"os"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

func main() { os.Exit(packages.Main(packages.Settings{}, describe)) }

// describe makes a package of each application in each environment.
func describe() ([]packages.Package, error) {
	charts := factory.NewRegistry()
	factory.Register(charts, "database", Database)
	factory.Register(charts, "server", Server)
	return factory.Build(charts, config(), factory.Options{
		Settings: chart.Settings{Labels: map[string]string{"app.kubernetes.io/part-of": "shop"}},
	})
}
