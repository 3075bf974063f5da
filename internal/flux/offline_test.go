package flux

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/offline"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// treeOf is a tree with files.
func treeOf(t *testing.T, files map[string]string) *source.Tree {
	t.Helper()
	var list []*source.File
	for name, text := range files {
		list = append(list, source.NewFile(name, 0o644, []byte(text)))
	}
	tree, err := source.NewTree(list)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// directoryOf is a directory with files.
func directoryOf(t *testing.T, files map[string]string) source.Directory {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return source.Directory{Path: dir}
}

// walked is a repository whose root is the directory "root".
func walked(t *testing.T, r dialect.Repository) *offline.Walk {
	t.Helper()
	r.Root, r.Branch = "root", "main"
	w, err := offline.New(t.Context(), dialect.Catalogue{New(Options{})}, &r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// library is a Helm repository with one chart, for one user.
func library(t *testing.T) *httptest.Server {
	t.Helper()
	packed, err := chart.Package(t.Context(), treeOf(t, map[string]string{
		"lib/Chart.yaml":    "apiVersion: v2\nname: lib\nversion: 1.2.0\n",
		"lib/values.yaml":   "k: none\n",
		"lib/other.yaml":    "k: other\n",
		"lib/crds/crd.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: libs.example.com}\n",
		"lib/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-{{ .Chart.Name }}}\n" +
			"data: {k: \"{{ .Values.k }}\", pdb: \"{{ .Capabilities.APIVersions.Has \"policy/v1/PodDisruptionBudget\" }}\"}\n",
		"lib/templates/b.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n",
	}), "lib", chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "reader" || password != "hush":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/index.yaml":
			fmt.Fprint(w, "apiVersion: v1\nentries:\n  lib:\n  - {name: lib, version: 1.2.0, urls: [lib-1.2.0.tgz]}\n")
		case r.URL.Path == "/lib-1.2.0.tgz":
			_, _ = w.Write(packed.Data)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

const offlineSources = `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: apps}
stringData: {username: reader, password: hush}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: apps}
spec: {url: "https://charts.example.com", secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: mirrored, namespace: apps}
spec: {url: "https://mirrored.example.com", secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: cloud, namespace: apps}
spec: {type: oci, url: "oci://charts.example.com", provider: aws}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: lib, namespace: apps}
spec: {chart: lib, version: 1.x, valuesFiles: [other.yaml], sourceRef: {kind: HelmRepository, name: charts}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ours, namespace: apps}
spec: {url: "https://git.example.com/ours", ref: {branch: main}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: theirs, namespace: apps}
spec: {url: "https://git.example.com/theirs"}
`

// offlineRelease renders one release of a repository.
func offlineRelease(t *testing.T, spec string) dialect.OfflineUnit {
	t.Helper()
	server := library(t)
	rewrites, err := source.ParseRewrites([]string{"https://charts.example.com=" + server.URL})
	if err != nil {
		t.Fatal(err)
	}
	release := "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: apps}\nspec: " + spec + "\n"
	mirror := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: headgate-rewrites, namespace: flux-system}\n" +
		"data: {rules: \"https://mirrored.example.com=" + server.URL + "\"}\n"
	tree := directoryOf(t, map[string]string{
		"root/all.yaml":           offlineSources + release + mirror,
		"umbrella/Chart.yaml":     "apiVersion: v2\nname: umbrella\nversion: 0.1.0\ndependencies: [{name: lib, version: 1.x, repository: \"https://charts.example.com/\"}]\n",
		"nested/Chart.yaml":       "apiVersion: v2\nname: nested\nversion: 0.1.0\n",
		"nested/templates/a.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: inner}\nspec: {interval: 1h, chartRef: {kind: HelmChart, name: lib}}\n",
	})
	units := walked(t, dialect.Repository{
		Files: tree, Fetch: func(engine.UnitID) bool { return true }, Rewrites: rewrites,
		Ours: func(url string) bool { return url == "https://git.example.com/ours" },
	}).Units
	return units[len(units)-1]
}

func TestOfflineReleases(t *testing.T) {
	cases := map[string]struct {
		reason, spec string
		want         []string
		k            string
		says         string
	}{
		"repository": {
			reason: "a login and a URL that the repository declares",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, sourceRef: {kind: HelmRepository, name: charts}}}}",
			want:   []string{"CustomResourceDefinition/libs.example.com", "ConfigMap/apps/a-lib", "ClusterRole/a"}, k: "none",
		},
		"mirrored": {
			reason: "rules that the repository declares",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, sourceRef: {kind: HelmRepository, name: mirrored}}}}",
			want:   []string{"CustomResourceDefinition/libs.example.com", "ConfigMap/apps/a-lib", "ClusterRole/a"}, k: "none",
		},
		"chart": {
			reason: "a HelmChart of its own, with other values",
			spec:   "{interval: 1h, install: {crds: Skip}, chartRef: {kind: HelmChart, name: lib}}",
			want:   []string{"ConfigMap/apps/a-lib", "ClusterRole/a"}, k: "other",
		},
		"values": {
			reason: "values go before those of the chart",
			spec:   "{interval: 1h, values: {k: mine}, targetNamespace: there, releaseName: b, chartRef: {kind: HelmChart, name: lib}}",
			want:   []string{"CustomResourceDefinition/libs.example.com", "ConfigMap/there/b-lib", "ClusterRole/a"}, k: "mine",
		},
		"umbrella": {
			reason: "a chart of the repository itself that needs another one",
			spec:   "{interval: 1h, chart: {spec: {chart: ./umbrella, sourceRef: {kind: GitRepository, name: ours}}}}",
			want:   []string{"CustomResourceDefinition/libs.example.com", "ConfigMap/apps/a-lib", "ClusterRole/a"}, k: "none",
		},
		"nested": {
			reason: "a release that a chart declares is a unit as well",
			spec:   "{interval: 1h, chart: {spec: {chart: nested, sourceRef: {kind: GitRepository, name: ours}}}}",
			want:   []string{"CustomResourceDefinition/libs.example.com", "ConfigMap/apps/inner-lib", "ClusterRole/a"}, k: "other",
		},
		"theirs": {
			reason: "another repository is not fetched",
			spec:   "{interval: 1h, chart: {spec: {chart: nested, sourceRef: {kind: GitRepository, name: theirs}}}}",
			says:   `getting chart nested of GitRepository/apps/theirs: not available offline: GitRepository/apps/theirs (https://git.example.com/theirs)`,
		},
		"version": {
			reason: "there is no such version",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, version: 2.x, sourceRef: {kind: HelmRepository, name: charts}}}}",
			says:   "getting chart lib 2.x of HelmRepository/apps/charts from \"http://127.0.0.1:",
		},
		"undeclared": {
			reason: "the repository declares no such source",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, sourceRef: {kind: HelmRepository, name: none}}}}",
			says:   "getting chart lib of HelmRepository/apps/none: the repository declares no HelmRepository/apps/none",
		},
		"cloud": {
			reason: "it requires a cloud identity",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, sourceRef: {kind: HelmRepository, name: cloud}}}}",
			says:   `getting chart lib of HelmRepository/apps/cloud from "oci://charts.example.com": HelmRepository "cloud": spec.provider is not supported`,
		},
		"bucket": {
			reason: "charts of buckets are not fetched",
			spec:   "{interval: 1h, chart: {spec: {chart: lib, sourceRef: {kind: Bucket, name: x}}}}",
			says:   "getting chart lib of Bucket/apps/x: charts of this kind of source",
		},
		"neither": {reason: "no chart is named", spec: "{interval: 1h}", says: "spec.chart or spec.chartRef is required"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			u := offlineRelease(t, c.spec)
			if c.says != "" {
				said := u.Elsewhere
				if u.Err != nil {
					said = u.Err.Error()
				}
				if !strings.Contains(said, c.says) || strings.Contains(said, "hush") {
					t.Fatalf("%s: error %q, want one with %q", c.reason, said, c.says)
				}
				return
			}
			if u.Err != nil {
				t.Fatalf("%s: %v", c.reason, u.Err)
			}
			var got []string
			for _, o := range u.Objects {
				id := engine.IDOf(o)
				got = append(got, id.String())
				if u.Kept[id] != (id.Kind == "CustomResourceDefinition") {
					t.Errorf("%s: %s is kept: %v", c.reason, id, u.Kept[id])
				}
				if id.Kind != "ConfigMap" {
					continue
				}
				want := map[string]any{"k": c.k, "pdb": "true"}
				if diff := cmp.Diff(want, o.Object["data"]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.reason, diff)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestOfflineStaysAtHome reads a repository whose charts are not requested.
func TestOfflineStaysAtHome(t *testing.T) {
	tree := directoryOf(t, map[string]string{"root/all.yaml": offlineSources + "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" +
		"metadata: {name: a, namespace: apps}\nspec: {interval: 1h, dependsOn: [{name: b}], chartRef: {kind: HelmChart, name: lib}}\n"})
	units := walked(t, dialect.Repository{Files: tree}).Units
	last := units[len(units)-1]
	if !last.Skipped || last.Err != nil || len(last.Objects) > 0 {
		t.Errorf("a release that was not asked for was rendered: %+v", last)
	}
	if want := "chart of HelmChart/apps/lib"; last.Chart.Text != want {
		t.Errorf("its chart is %q, want %q", last.Chart, want)
	}
	if len(last.Unit.Dependencies) != 1 {
		t.Errorf("it depends on %v", last.Unit.Dependencies)
	}
}
