package main

import (
	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart/argocd"
	"github.com/headgate-dev/headgate/chart/factory"
	"github.com/headgate-dev/headgate/chart/packages"
)

// host is the cluster of Argo CD, on which everything is that the environments share.
var host = factory.Destination{Server: argocd.InCluster}

// config is what runs, and what differs between the environments.
func config() factory.Config {
	return factory.Config{
		Environments: map[string]factory.Environment{
			"dev": {
				Destination: factory.Destination{Name: "dev-vcluster"},
				Replicas:    of(int32(1)),
				Images: map[string]string{
					"backstage": "gitea.cnoe.localtest.me:8443/giteaadmin/backstage:1.42.0-rc1", "nextjs": "gitea.cnoe.localtest.me:8443/giteaadmin/nextjs:2.1.0-rc3",
				},
				Values: map[string]string{"logLevel": "debug", "host": "dev.cnoe.localtest.me"},
			},
			"staging": {
				Inherits:    "dev",
				Destination: factory.Destination{Name: "staging-vcluster"},
				Replicas:    of(int32(2)),
				Images: map[string]string{
					"backstage": "gitea.cnoe.localtest.me:8443/giteaadmin/backstage:1.41.1", "nextjs": "gitea.cnoe.localtest.me:8443/giteaadmin/nextjs:2.0.7",
				},
				Values: map[string]string{"logLevel": "info", "host": "staging.cnoe.localtest.me"},
			},
		},
		ArgoCD: factory.ArgoCD{
			SyncPolicy: argocd.Automated(argocd.CreateNamespace), Retry: argocd.Retry(5, "10s", 2, "3m"), Finalizers: []string{v1alpha1.ResourcesFinalizer},
		},
		Applications: []factory.Application{
			{Name: "postgres", Namespace: "data", Destination: host, Chart: factory.Chart{Type: "postgres", Props: PostgresProps{Storage: "1Gi"}}},
			{Name: "redis", Namespace: "data", Destination: host, Chart: factory.Chart{Type: "redis"}},
			{Name: "vault", Namespace: "vault", Destination: host, Chart: factory.Chart{Type: "vault", Props: VaultProps{
				Users: map[string]string{"database/backstage": "backstage", "database/nextjs": "nextjs"},
			}}},
			login("backstage"),
			login("nextjs"),
			cluster("dev"),
			cluster("staging"),
			{
				Name: "backstage", Namespace: "backstage", Dependencies: []string{"postgres", "backstage-login"},
				Chart:        factory.Chart{Type: "backstage", Props: BackstageProps{Database: "postgres.data.svc"}},
				Environments: inTheirClusters("backstage"),
			},
			{
				Name: "nextjs", Namespace: "nextjs", Dependencies: []string{"postgres", "redis", "nextjs-login"},
				Chart:        factory.Chart{Type: "nextjs", Props: NextJSProps{Database: "postgres.data.svc", Cache: "redis://redis.data.svc:6379"}},
				Environments: inTheirClusters("nextjs"),
			},
			{
				Name: "pipelines", Namespace: project, Destination: host,
				Chart: factory.Chart{Type: "pipelines", Props: PipelinesProps{Applications: []string{"backstage", "nextjs"}}},
			},
		},
	}
}

// inTheirClusters are the environments of an application, each of which waits for its cluster, and is promoted to by a Stage.
func inTheirClusters(app string) map[string]factory.Override {
	all := map[string]factory.Override{}
	for _, environment := range []string{"dev", "staging"} {
		all[environment] = factory.Override{
			Dependencies: []string{"vcluster-" + environment}, ArgoCD: factory.ArgoCD{Annotations: promoted(app + "-" + environment)},
		}
	}
	return all
}

// login is the one that a team has for the database.
func login(team string) factory.Application {
	return factory.Application{
		Name: team + "-login", Namespace: team, Destination: host, Dependencies: []string{"vault"},
		Chart: factory.Chart{Type: "logins", Props: LoginsProps{Key: "database/" + team}},
	}
}

// cluster is the virtual cluster of an environment, ENVIRONMENT-vcluster: the chart of vCluster, and the Ingress to its API. It has the Secrets of the
// namespaces that the teams have on the host.
func cluster(environment string) factory.Application {
	name, namespace := "vcluster-"+environment, environment+"-vcluster"
	return factory.Application{
		Name: name, Namespace: namespace, Destination: host,
		Chart: factory.Chart{Type: "cluster", Props: ClusterProps{Host: namespace + ".cnoe.localtest.me", Service: name}},
		Values: map[string]any{
			"sync": map[string]any{
				"fromHost": map[string]any{"secrets": map[string]any{
					"enabled": true, "mappings": map[string]any{"byName": map[string]any{"backstage/*": "backstage/*", "nextjs/*": "nextjs/*"}},
				}},
			},
			"controlPlane": map[string]any{"proxy": map[string]any{"extraSANs": []any{namespace + ".cnoe.localtest.me"}}},
		},
		ArgoCD: factory.ArgoCD{Sources: []v1alpha1.ApplicationSource{
			{
				RepoURL: "https://charts.loft.sh", Chart: "vcluster", TargetRevision: "0.26.0",
				Helm: &v1alpha1.ApplicationSourceHelm{ReleaseName: name, ValueFiles: []string{"$values/values.yaml"}},
			},
			packages.Ref("values", name),
			packages.Source(name),
		}},
	}
}

// of is a pointer to a value.
func of[T any](value T) *T { return &value }
