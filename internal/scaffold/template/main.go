// Command charts describes what a team runs. "headgate synth" writes it to dist, and "headgate up dist" boots that.
package main

import (
	"os"

	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

func main() { os.Exit(packages.Main(packages.Settings{}, describe)) }

// describe makes a package of each application.
func describe() ([]packages.Package, error) {
	charts := factory.NewRegistry()
	factory.Register(charts, "web", Web)
	return factory.Build(charts, config(), factory.Options{})
}

// config is what runs, and where.
func config() factory.Config {
	return factory.Config{
		// What is described is applied, what is described no more is deleted, and drift is reverted.
		ArgoCD: factory.ArgoCD{SyncPolicy: argocd.Automated(argocd.CreateNamespace)},
		Applications: []factory.Application{{
			Name: "hello", Namespace: "hello",
			Chart: factory.Chart{Type: "web", Props: WebProps{
				Image: "ghcr.io/stefanprodan/podinfo:6.9.0", Port: 9898, Replicas: 2,
				Settings: map[string]string{"PODINFO_UI_MESSAGE": "hello"},
			}},
		}},
	}
}
