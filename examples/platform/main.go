// Command platform describes an internal developer platform: a database and a cache that teams share, and a virtual cluster for each environment,
// in which the portal and the shop of the teams
// run, with secrets from a vault and a pipeline for each image.
package main

import (
	"os"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

func main() { os.Exit(packages.Main(packages.Settings{}, describe)) }

// describe makes a package of each application in each of its environments. Those of an environment are deployed to its virtual cluster.
func describe() ([]packages.Package, error) {
	charts := factory.NewRegistry()
	factory.Register(charts, "cluster", Cluster)
	factory.Register(charts, "postgres", Postgres)
	factory.Register(charts, "redis", Redis)
	factory.Register(charts, "vault", Vault)
	factory.Register(charts, "logins", Logins)
	factory.Register(charts, "backstage", Backstage)
	factory.Register(charts, "nextjs", NextJS)
	factory.Register(charts, "pipelines", Pipelines)
	return factory.Build(charts, config(), factory.Options{
		Settings: chart.Settings{Labels: map[string]string{"app.kubernetes.io/part-of": "platform"}},
		Waves:    true,
	})
}
