package main

import (
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/factory"
)

// config is what runs, and what differs between the environments.
func config() factory.Config {
	return factory.Config{
		Environments: map[string]factory.Environment{
			"staging": {
				Replicas: of(int32(1)),
				Images:   map[string]string{"api": "registry.example.dev/shop/api:1.5.0-rc2", "web": "registry.example.dev/shop/web:2.1.0-rc1"},
				Values:   map[string]string{"logLevel": "debug"},
			},
			// What production does not set is as in staging.
			"production": {
				Inherits: "staging",
				Replicas: of(int32(3)),
				Images:   map[string]string{"api": "registry.example.dev/shop/api:1.4.2", "web": "registry.example.dev/shop/web:2.0.7"},
				Values:   map[string]string{"logLevel": "warn"},
			},
		},
		ArgoCD: factory.ArgoCD{SyncPolicy: argocd.Automated(argocd.CreateNamespace), Retry: argocd.Retry(5, "10s", 2, "3m")},
		Applications: []factory.Application{
			{
				Name: "database", Namespace: "shop",
				Chart: factory.Chart{Type: "database", Props: DatabaseProps{Storage: "1Gi"}},
				Environments: map[string]factory.Override{
					"staging":    {Namespace: "shop-staging"},
					"production": {Namespace: "shop-production", Props: DatabaseProps{Storage: "20Gi"}},
				},
			},
			{
				Name: "api", Namespace: "shop", Dependencies: []string{"database"},
				Chart: factory.Chart{Type: "server", Props: ServerProps{
					Image: "api", Port: 8080, Settings: map[string]string{"DATABASE_HOST": "database"}, Secrets: []string{databaseSecret},
				}},
				Environments: both(),
			},
			{
				Name: "web", Namespace: "shop", Dependencies: []string{"api"},
				Chart:        factory.Chart{Type: "server", Props: ServerProps{Image: "web", Port: 3000, Settings: map[string]string{"API_URL": "http://api:8080"}}},
				Environments: both(),
			},
		},
	}
}

// both environments have namespaces of their own.
func both() map[string]factory.Override {
	return map[string]factory.Override{"staging": {Namespace: "shop-staging"}, "production": {Namespace: "shop-production"}}
}

// of is a pointer to a value.
func of[T any](value T) *T { return &value }
