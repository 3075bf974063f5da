package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestClusters(t *testing.T) {
	shard := int64(2)
	cases := map[string]struct {
		reason   string
		secret   corev1.Secret
		want     []Cluster
		unserved []Unserved
		unknown  []Unserved
		problems []string
	}{
		"Full": {
			reason: "everything that is said of a cluster, but for what kubectl keeps of the Secret",
			secret: corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{
					Name: "one", Labels: map[string]string{SecretTypeLabel: "cluster", "stage": "production"},
					Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "hunter2", "argocd.argoproj.io/skip-reconcile": "true"},
				},
				StringData: data([]string{
					"name", "one", "server", "https://one.example.com/", "project", "web", "namespaces", "a, b", "clusterResources", "true", "shard", "2", "oops", "x", "config",
					`{"username":"u","password":"p","bearerToken":"t","tlsClientConfig":{"insecure":true,"serverName":"n","caData":"Y2E=","certData":"Y2VydA==","keyData":"a2V5"},` +
						`"proxyUrl":"http://u:p@proxy","disableCompression":true}`,
				}),
			},
			want: []Cluster{{
				Secret: "one", Name: "one", Server: "https://one.example.com", Project: "web", Namespaces: []string{"a", "b"}, ClusterResources: true, Shard: &shard,
				Labels: map[string]string{SecretTypeLabel: "cluster", "stage": "production"}, Annotations: map[string]string{"argocd.argoproj.io/skip-reconcile": "true"},
				Connection: Connection{
					Username: NewSecret("u"), Password: NewSecret("p"), BearerToken: NewSecret("t"), Insecure: true, ServerName: "n",
					Authorities: []byte("ca"), Certificate: []byte("cert"), Key: NewSecret("key"), Proxy: NewSecret("http://u:p@proxy"), Uncompressed: true,
				},
			}},
			unknown: []Unserved{{Object: "Secret one", Key: "oops"}},
		},
		"Nameless": {
			reason: "a cluster without a name has that of its server; no configuration is an empty one",
			secret: secret("two", "cluster", "server", "https://two.example.com"),
			want:   []Cluster{{Secret: "two", Name: "https://two.example.com", Server: "https://two.example.com", Labels: map[string]string{SecretTypeLabel: "cluster"}}},
		},
		"Programs": {
			reason: "logins by programs and by AWS are named, and their texts not kept",
			secret: secret("three", "cluster", "server", "https://three", "name", "three", "config", `{"awsAuthConfig":{"clusterName":"x"},"execProviderConfig":{"command":"y","env":{"T":"hunter2"}}}`),
			want:   []Cluster{{Secret: "three", Name: "three", Server: "https://three", Labels: map[string]string{SecretTypeLabel: "cluster"}, Unserved: []string{"awsAuthConfig", "execProviderConfig"}}},
			unserved: []Unserved{
				{"Secret three", "config.awsAuthConfig", ConcernEngine}, {"Secret three", "config.execProviderConfig", ConcernEngine},
			},
		},
		"NoServer": {
			reason: "a cluster has a server", secret: secret("a", "cluster", "name", "a"), problems: []string{"Secret a: server: is missing"},
		},
		"NoJSON": {
			reason: "an error says where, and not what", secret: secret("a", "cluster", "server", "https://a", "config", `{"password":"hunter2",}`),
			problems: []string{"Secret a: config: is not JSON from byte 23 on"},
		},
		"OtherJSON": {
			reason: "a field of another type", secret: secret("a", "cluster", "server", "https://a", "config", `{"tlsClientConfig":{"insecure":"hunter2"}}`),
			problems: []string{`Secret a: config: has a field "tlsClientConfig.insecure" that is not a bool`},
		},
		"NoBase64": {
			reason: "certificates are in base64", secret: secret("a", "cluster", "server", "https://a", "config", `{"tlsClientConfig":{"caData":"hunter2!"}}`),
			problems: []string{"Secret a: config: is not a JSON configuration; caData, certData and keyData must be base64"},
		},
		"Shard": {
			reason: "a shard that is none is bad, and the cluster is there", secret: secret("a", "cluster", "server", "https://a", "name", "a", "shard", "x"),
			want:     []Cluster{{Secret: "a", Name: "a", Server: "https://a", Labels: map[string]string{SecretTypeLabel: "cluster"}}},
			problems: []string{"Secret a: shard: is not a number >= 0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(Objects{Secrets: []corev1.Secret{tc.secret}})
			if diff := cmp.Diff(tc.want, got.Clusters); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([][]Unserved{tc.unserved, tc.unknown}, [][]Unserved{got.Unserved, got.Unknown}); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.problems, problemsOf(err)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDestination(t *testing.T) {
	one := Cluster{Secret: "one", Name: "one", Server: "https://one"}
	again := Cluster{Secret: "again", Name: "one", Server: "https://again"}
	own := Cluster{Secret: "own", Name: "here", Server: InClusterServer}
	cases := map[string]struct {
		reason, server, name string
		clusters             []Cluster
		off                  bool
		want                 Cluster
		err                  string
	}{
		"Server":   {reason: "by the URL of its server", server: "https://one/", clusters: []Cluster{one}, want: one},
		"Name":     {reason: "by its name", name: "one", clusters: []Cluster{one}, want: one},
		"Own":      {reason: "the own cluster is there without being declared", server: InClusterServer, want: Cluster{Name: InClusterName, Server: InClusterServer}},
		"OwnName":  {reason: "and has a name", name: InClusterName, want: Cluster{Name: InClusterName, Server: InClusterServer}},
		"Declared": {reason: "when it is declared, that holds", server: InClusterServer, clusters: []Cluster{own}, want: own},
		"Renamed":  {reason: "its name as well", name: InClusterName, clusters: []Cluster{own}, err: `there is no cluster named "in-cluster"`},
		"Off":      {reason: "it can be switched off", server: InClusterServer, clusters: []Cluster{own}, off: true, err: `cluster "https://kubernetes.default.svc" is disabled`},
		"OffName":  {reason: "and has no name then", name: InClusterName, off: true, err: `there is no cluster named "in-cluster"`},
		"Gone":     {reason: "one that nobody declared, by its server", server: "https://two", clusters: []Cluster{one}, err: `cluster "https://two" not found`},
		"Both":     {reason: "not by both", server: "https://one", name: "one", err: `the destination sets both server "https://one" and name "one"; remove one`},
		"Neither":  {reason: "nor by nothing", err: "the destination sets neither server nor name"},
		"Unknown":  {reason: "one that nobody declared", name: "two", clusters: []Cluster{one}, err: `there is no cluster named "two"`},
		"Twice":    {reason: "a name that two clusters have says nothing", name: "one", clusters: []Cluster{one, again}, err: `there are 2 clusters named "one"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Settings{Clusters: tc.clusters, InCluster: !tc.off}.Destination(tc.server, tc.name)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff(tc.err, text); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
