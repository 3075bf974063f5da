package commands

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo/destination"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// clusterSecrets selects the Secrets that declare clusters.
const clusterSecrets = "argocd.argoproj.io/secret-type=cluster"

// Clusters are those that Argo CD knows by Secrets, with that of the installation first.
func (Verbs) Clusters(ctx context.Context, s dialect.Session) ([]dialect.Cluster, error) {
	secrets := s.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(namespace)
	list, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: clusterSecrets})
	if err != nil {
		return clustersOf(settings.Defaults()), fmt.Errorf("listing the clusters of Argo CD, which are Secrets in namespace %q: %w", namespace, err)
	}
	var objects settings.Objects
	for i := range list.Items {
		var secret corev1.Secret
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &secret); err == nil {
			objects.Secrets = append(objects.Secrets, secret)
		}
	}
	// A Secret that is bad declares no cluster, which the engine reports; the others do.
	known, _ := settings.Read(objects)
	return clustersOf(known), nil
}

// clustersOf are the clusters of settings. Those that share a name are called by their addresses.
func clustersOf(s settings.Settings) []dialect.Cluster {
	// Commands show what is declared, also where the cluster of the installation is disabled as a destination.
	s.InCluster = true
	every := s.Every()
	count := map[string]int{}
	for _, c := range every {
		count[c.Name]++
	}
	var home, others []dialect.Cluster
	for _, c := range every {
		one := dialect.Cluster{Name: printable(c.Name), Server: c.Server}
		if count[c.Name] > 1 {
			one.Name = printable(c.Server)
		}
		if one.Home = c.Server == settings.InClusterServer; one.Home {
			home = append(home, one)
			continue
		}
		one.Config, one.Err = destination.Config(c)
		others = append(others, one)
	}
	return append(home, others...)
}

// ClusterOf is the cluster that an Application deploys to.
func (Verbs) ClusterOf(u *unstructured.Unstructured, clusters []dialect.Cluster) string {
	if kindOf(u) != applicationKind {
		return ""
	}
	server, name := strings.TrimRight(dialect.Text(u, "spec", "destination", "server"), "/"), dialect.Text(u, "spec", "destination", "name")
	for _, c := range clusters {
		if server != "" && c.Server == server || server == "" && name != "" && c.Name == printable(name) {
			return c.Name
		}
	}
	return printable(cmp.Or(name, server))
}

// printable is a name without what would command a terminal: Secrets and Applications are written by others.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, name)
}
