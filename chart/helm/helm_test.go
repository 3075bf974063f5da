package helm_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/helm"
)

// files is a chart with everything that charts have.
func files(version string, more ...string) map[string]string {
	all := map[string]string{
		"Chart.yaml":             "apiVersion: v2\nname: web\nversion: " + version + "\n",
		"values.yaml":            "replicas: 1\nimage: {name: web, tag: '" + version + "'}\nextra: {kept: true, dropped: true}\n",
		"values.schema.json":     `{"type": "object", "properties": {"replicas": {"type": "integer", "minimum": 0}}}`,
		"crds/shop.yaml":         "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: shops.example.com}\nspec: {group: example.com, scope: Cluster, names: {kind: Shop, plural: shops}}\n",
		"templates/_helpers.tpl": `{{ define "web.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}`,
		"templates/NOTES.txt":    "nothing",
		"templates/all.yaml": `apiVersion: v1
kind: Service
metadata: {name: {{ include "web.name" . }}}
spec: {selector: {app: web}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ include "web.name" . }}, labels: {version: "{{ .Capabilities.KubeVersion.Version }}"}}
spec: {replicas: {{ .Values.replicas }}, template: {spec: {containers: [{name: web, image: "{{ .Values.image.name }}:{{ .Values.image.tag }}"}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: values, namespace: other}
data: {values: {{ .Values.extra | toJson | quote }}, namespace: {{ .Release.Namespace }}, upgrade: "{{ .Release.IsUpgrade }}", monitored: "{{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" }}"}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`,
		"templates/hooks.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: before, annotations: {helm.sh/hook: pre-install}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: check, annotations: {helm.sh/hook: test}}\n",
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// packed is a chart as Helm packs it.
func packed(t testing.TB, name string, files map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	compressed := gzip.NewWriter(&data)
	archive := tar.NewWriter(compressed)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := archive.WriteHeader(&tar.Header{Name: name + "/" + path, Mode: 0o644, Size: int64(len(files[path]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, files[path]); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// folder is a chart in a directory.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// repository is a Helm repository with versions of the chart web, which counts requests.
type repository struct {
	*httptest.Server
	archives map[string][]byte
	requests int
	login    string
}

func newRepository(t testing.TB, versions ...string) *repository {
	t.Helper()
	r := &repository{archives: map[string][]byte{}}
	for _, version := range versions {
		r.archives[version] = packed(t, "web", files(version))
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *repository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.requests++
	if _, password, _ := request.BasicAuth(); password != r.login {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if request.URL.Path == "/charts/index.yaml" {
		var index strings.Builder
		index.WriteString("apiVersion: v1\nentries:\n  web:\n")
		for _, version := range slices.Sorted(maps.Keys(r.archives)) {
			sum := sha256.Sum256(r.archives[version])
			index.WriteString("  - {name: web, version: " + version + ", urls: [files/web-" + version + ".tgz], digest: " + hex.EncodeToString(sum[:]) + "}\n")
		}
		_, _ = io.WriteString(w, index.String())
		return
	}
	version := strings.TrimSuffix(strings.TrimPrefix(request.URL.Path, "/charts/files/web-"), ".tgz")
	_, _ = w.Write(r.archives[version])
}

// store is a cache and a lock file of a test.
func store(t testing.TB) helm.Store {
	t.Helper()
	dir := t.TempDir()
	return helm.Store{Cache: filepath.Join(dir, "cache"), Lock: filepath.Join(dir, "charts.lock")}
}

// synth renders a chart in an App.
func synth(props helm.Props, change func(*helm.Release)) (*chart.Result, error) {
	app := chart.NewApp(chart.Settings{})
	r := helm.Chart(chart.New(app, "shop", chart.Props{Namespace: "shop"}), "web", props)
	if change != nil {
		change(r)
	}
	return app.Synth()
}

func said(r *chart.Result) []string {
	var all []string
	for _, m := range r.Manifests() {
		all = append(all, strings.Trim(m.Kind()+"/"+m.Namespace()+"/"+m.Name(), "/"))
	}
	return all
}

func TestObjects(t *testing.T) {
	base := []string{"Namespace//shop", "ConfigMap/other/values", "Service/shop/shop-web-web", "Deployment/shop/shop-web-web"}
	crd := "CustomResourceDefinition//shops.example.com"
	cases := map[string]struct {
		props helm.Props
		want  []string
	}{
		"as helm template": {want: append(slices.Clone(base), "Pod/shop/check", "Job/shop/before")},
		"without tests":    {props: helm.Props{Hooks: helm.NoTests}, want: append(slices.Clone(base), "Job/shop/before")},
		"without hooks":    {props: helm.Props{Hooks: helm.NoHooks}, want: base},
		"with definitions": {props: helm.Props{Hooks: helm.NoHooks, IncludeCRDs: true}, want: append([]string{crd}, base...)},
		"another namespace": {
			props: helm.Props{Hooks: helm.NoHooks, Namespace: "live", Release: "blue"},
			want:  []string{"Namespace//shop", "ConfigMap/other/values", "Service/live/blue-web", "Deployment/live/blue-web"},
		},
	}
	dir := folder(t, files("1.0.0"))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.props.Chart = dir
			result, err := synth(c.props, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, said(result)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAsHelm compares with what Helm itself renders.
func TestAsHelm(t *testing.T) {
	dir := folder(t, files("1.0.0"))
	loaded, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	install := action.NewInstall(action.NewConfiguration())
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, "blue", "shop"
	if install.KubeVersion, err = common.ParseKubeVersion(helm.DefaultKubeVersion); err != nil {
		t.Fatal(err)
	}
	made, err := install.Run(loaded, map[string]any{"replicas": 3, "extra": map[string]any{"dropped": nil}})
	if err != nil {
		t.Fatal(err)
	}
	release, ok := made.(*releasev1.Release)
	if !ok {
		t.Fatalf("%T", made)
	}
	text := release.Manifest
	for _, h := range release.Hooks {
		text += "---\n" + h.Manifest + "\n"
	}
	app := chart.NewApp(chart.Settings{})
	helm.Chart(chart.New(app, "c", chart.Props{}), "web", helm.Props{Chart: dir, Release: "blue", Namespace: "shop", Values: map[string]any{"replicas": 3, "extra": map[string]any{"dropped": nil}}})
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	got := result.Manifests()
	for i, document := range slices.DeleteFunc(strings.Split(text, "---\n"), func(s string) bool { return strings.TrimSpace(s) == "" }) {
		var want map[string]any
		if err := yaml.Unmarshal([]byte(document), &want); err != nil {
			t.Fatal(err)
		}
		metadata, _ := got[i].Object["metadata"].(map[string]any)
		if metadata["namespace"] == "shop" {
			delete(metadata, "namespace")
		}
		var same map[string]any
		if err := yaml.Unmarshal(got[i].YAML(), &same); err != nil {
			t.Fatal(err)
		}
		if metadata["namespace"] == nil {
			delete(same["metadata"].(map[string]any), "namespace")
		}
		if diff := cmp.Diff(want, same); diff != "" {
			t.Errorf("object %d (-helm +here):\n%s", i, diff)
		}
	}
}

func TestValues(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.yaml": "replicas: 2\nimage: {tag: a}\n", "b.yaml": "image: {tag: b, name: shop}\nextra: {dropped: null}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result, err := synth(helm.Props{
		Chart: folder(t, files("1.0.0")), Hooks: helm.NoHooks, ValuesFiles: []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")},
		Values: struct {
			Image map[string]string `json:"image"`
		}{map[string]string{"name": "own"}},
		KubeVersion: "1.33", APIVersions: []string{"monitoring.coreos.com/v1"}, Upgrade: true,
	}, func(r *helm.Release) {
		r.Patch("Deployment", "shop-web-web", chart.JSONPatch{{Op: "add", Path: "/spec/paused", Value: true}})
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(result.YAML())
	for _, want := range []string{"replicas: 2", "image: own:b", `values: '{"kept":true}'`, "namespace: shop", `upgrade: "true"`, `monitored: "true"`, "version: v1.33", "paused: true"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.ReplaceAll(want, "'", `"`)) && !strings.Contains(text, strings.NewReplacer(`"`, `\"`, "'", `"`).Replace(want)) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

// TestLocked follows a reference through the lock file and the cache.
func TestLocked(t *testing.T) {
	server := newRepository(t, "1.0.0", "1.2.0", "2.0.0-rc.1")
	s := store(t)
	props := helm.Props{Repo: server.URL + "/charts", Chart: "web", Version: "^1", Hooks: helm.NoHooks, Store: s}
	first, err := synth(props, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(first.YAML()), "image: web:1.2.0") {
		t.Errorf("not the newest in the range:\n%s", first.YAML())
	}
	lock, err := os.ReadFile(s.Lock)
	if err != nil || !strings.Contains(string(lock), "requested: ^1") || !strings.Contains(string(lock), "version: 1.2.0") || !strings.Contains(string(lock), "digest: sha256:") {
		t.Fatalf("%v\n%s", err, lock)
	}
	server.archives["1.3.0"] = packed(t, "web", files("1.3.0"))
	asked := server.requests
	again, err := synth(props, nil)
	if err != nil || !bytes.Equal(first.YAML(), again.YAML()) || server.requests != asked {
		t.Errorf("%v; %d requests for what is locked and cached", err, server.requests-asked)
	}
	props.Store.Mode = helm.Update
	newer, err := synth(props, nil)
	if err != nil || !strings.Contains(string(newer.YAML()), "image: web:1.3.0") {
		t.Errorf("%v: an update takes the newest", err)
	}
	props.Store.Mode = helm.Offline
	server.Close()
	if offline, err := synth(props, nil); err != nil || !bytes.Equal(newer.YAML(), offline.YAML()) {
		t.Errorf("offline: %v", err)
	}
	props.Store.Cache = t.TempDir()
	if _, err := synth(props, nil); err == nil || !strings.Contains(err.Error(), "is not in the cache") {
		t.Errorf("offline, not cached: %v", err)
	}
	props.Version, props.Store.Mode = "1.0.0", helm.Locked
	if _, err := synth(props, nil); err == nil || !strings.Contains(err.Error(), `version "1.0.0" is not in `+s.Lock) {
		t.Errorf("not locked: %v", err)
	}
}

// TestReplaced has another archive under the version that is locked.
func TestReplaced(t *testing.T) {
	server := newRepository(t, "1.0.0")
	s := store(t)
	props := helm.Props{Repo: server.URL + "/charts", Chart: "web", Version: "1.0.0", Store: s}
	if _, err := synth(props, nil); err != nil {
		t.Fatal(err)
	}
	locked, err := os.ReadFile(s.Lock)
	if err != nil {
		t.Fatal(err)
	}
	server.archives["1.0.0"] = packed(t, "web", files("1.0.0", "values.yaml", "replicas: 9\nimage: {name: evil, tag: x}\nextra: {}\n"))
	sum := sha256.Sum256(server.archives["1.0.0"])
	if _, err := synth(props, nil); err != nil {
		t.Errorf("the cache has what is locked: %v", err)
	}
	props.Store.Cache = t.TempDir()
	for _, version := range []string{"1.0.0", "1.x"} {
		props.Version = version
		_, err = synth(props, nil)
		for _, want := range []string{"sha256:" + hex.EncodeToString(sum[:]), strings.TrimSpace(strings.SplitAfter(string(locked), "digest: ")[1][:71]), "HEADGATE_CHARTS=update", "helm_test.go:", "shop/web"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %v", version, want, err)
			}
		}
	}
	if after, err := os.ReadFile(s.Lock); err != nil || !bytes.Equal(after, locked) {
		t.Errorf("the lock file changed: %s", after)
	}
	props.Version, props.Store.Mode = "1.0.0", helm.Update
	if _, err := synth(props, nil); err != nil {
		t.Errorf("an update: %v", err)
	}
}

// TestDamaged has a file in the cache that is not what its name says.
func TestDamaged(t *testing.T) {
	server := newRepository(t, "1.0.0")
	s := store(t)
	props := helm.Props{Repo: server.URL + "/charts", Chart: "web", Store: s}
	if _, err := synth(props, nil); err != nil {
		t.Fatal(err)
	}
	cached, err := filepath.Glob(filepath.Join(s.Cache, "*.tgz"))
	if err != nil || len(cached) != 1 {
		t.Fatal(cached, err)
	}
	if err := os.WriteFile(cached[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := synth(props, nil); err != nil {
		t.Errorf("it is fetched again: %v", err)
	}
}

// TestRegistry pulls from a registry, by a range and by a version with build metadata.
func TestRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, version := range []string{"1.0.0", "1.1.0+build.2"} {
		image, err := mutate.Append(mutate.MediaType(empty.Image, types.OCIManifestSchema1), mutate.Addendum{
			Layer: static.NewLayer(packed(t, "web", files(version)), "application/vnd.cncf.helm.chart.content.v1.tar+gzip"),
		})
		if err != nil {
			t.Fatal(err)
		}
		tag, err := name.NewTag(host + "/charts/web:" + strings.ReplaceAll(version, "+", "_"))
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(tag, image); err != nil {
			t.Fatal(err)
		}
	}
	s := store(t)
	for _, props := range []helm.Props{
		{Chart: "oci://" + host + "/charts/web", Version: "1.x"},
		{Chart: "oci://" + host + "/charts/web", Version: "1.1.0+build.2"},
		{Chart: "web", Repo: "oci://" + host + "/charts"},
	} {
		props.Store = s
		result, err := synth(props, nil)
		if err != nil || !strings.Contains(string(result.YAML()), "image: web:1.1.0+build.2") {
			t.Errorf("%+v: %v", props, err)
		}
	}
	server.Close()
	if _, err := synth(helm.Props{Chart: "oci://" + host + "/charts/web", Version: "1.x", Store: s}, nil); err != nil {
		t.Errorf("without the registry: %v", err)
	}
}

func TestLogin(t *testing.T) {
	server := newRepository(t, "1.0.0")
	server.login = "secret"
	props := helm.Props{Repo: server.URL + "/charts", Chart: "web", Store: store(t)}
	if _, err := synth(props, nil); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a login: %v", err)
	}
	props.Login = &helm.Login{Username: "me", Password: "secret"}
	if _, err := synth(props, nil); err != nil {
		t.Errorf("with it: %v", err)
	}
	if lock, err := os.ReadFile(props.Store.Lock); err != nil || strings.Contains(string(lock), "secret") {
		t.Errorf("%v\n%s", err, lock)
	}
}

// TestDependencies gives a directory the chart that it needs, locked too.
func TestDependencies(t *testing.T) {
	server := newRepository(t, "1.0.0")
	dir := folder(t, map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: outer\nversion: 1.0.0\ndependencies:\n- {name: web, version: 1.x, repository: " + server.URL + "/charts}\n",
		"values.yaml": "web: {replicas: 4}\n",
	})
	s := store(t)
	result, err := synth(helm.Props{Chart: dir, Store: s, Hooks: helm.NoHooks}, nil)
	if err != nil || !strings.Contains(string(result.YAML()), "replicas: 4") {
		t.Fatalf("%v", err)
	}
	if lock, err := os.ReadFile(s.Lock); err != nil || !strings.Contains(string(lock), "requested: 1.x") {
		t.Errorf("%v\n%s", err, lock)
	}
}

func TestMistakes(t *testing.T) {
	server := newRepository(t, "1.0.0", "1.2.0")
	remote := server.URL + "/charts"
	random := folder(t, files("1.0.0", "templates/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nstringData: {a: {{ randAlphaNum 8 }}}\n"))
	dated := folder(t, files("1.0.0", "templates/date.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '{{ now | date \"2006-01\" }}'}\n"))
	good := folder(t, files("1.0.0"))
	cases := map[string]struct {
		props helm.Props
		want  string
	}{
		"nothing":           {helm.Props{}, "set Chart"},
		"no such folder":    {helm.Props{Chart: "charts/none"}, "charts/none: no such file or directory; a chart of a repository needs Repo"},
		"no repository":     {helm.Props{Chart: "web", Repo: "stable"}, `the repository "stable" is neither`},
		"no such chart":     {helm.Props{Chart: "shop", Repo: remote}, "has no chart shop"},
		"no such version":   {helm.Props{Chart: "web", Repo: remote, Version: "9.x"}, "no version is 9.x; there are 1.0.0, 1.2.0"},
		"no version":        {helm.Props{Chart: "web", Repo: remote, Version: "newest"}, "neither a version nor a range"},
		"a mode":            {helm.Props{Chart: "web", Repo: remote, Store: helm.Store{Mode: "never"}}, "use missing, update, locked or offline"},
		"a schema":          {helm.Props{Chart: good, Values: map[string]any{"replicas": "s3cret"}}, "values.schema.json of web: /replicas: type"},
		"values":            {helm.Props{Chart: good, Values: []string{"a"}}, "a []string is not a mapping"},
		"a file of values":  {helm.Props{Chart: good, ValuesFiles: []string{"none.yaml"}}, "reading values: open none.yaml"},
		"lots":              {helm.Props{Chart: random}, "the template web/templates/secret.yaml gives something else every time"},
		"the time":          {helm.Props{Chart: dated}, "the template web/templates/date.yaml gives something else every time"},
		"a release's name":  {helm.Props{Chart: good, Release: strings.Repeat("a", 54)}, "at most 53 characters"},
		"an old Kubernetes": {helm.Props{Chart: folder(t, files("1.0.0", "Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.40.0'\n"))}, "needs Kubernetes >=1.40.0, and templates see v1.36.0"},
		"a library":         {helm.Props{Chart: folder(t, files("1.0.0", "Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library\n"))}, "is a library"},
		"a template":        {helm.Props{Chart: folder(t, files("1.0.0", "templates/bad.yaml", "{{ fail \"no luck\" }}"))}, "no luck"},
		"no object":         {helm.Props{Chart: folder(t, files("1.0.0", "templates/bad.yaml", "a: b"))}, "web/templates/bad.yaml: an object has no apiVersion or no kind"},
		"no dependency":     {helm.Props{Chart: folder(t, files("1.0.0", "Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: db, version: 1.x}]\n"))}, "the chart needs db: it is not in"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.props.Store.Mode == "" {
				c.props.Store = store(t)
			}
			_, err := synth(c.props, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "helm_test.go:") || !strings.Contains(err.Error(), "shop/web") {
				t.Errorf("%v, want %s with the line and the path", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a value is shown: %v", err)
			}
		})
	}
	if _, err := synth(helm.Props{Chart: random, Volatile: true}, nil); err != nil {
		t.Errorf("what draws lots, permitted: %v", err)
	}
	if _, err := synth(helm.Props{Chart: good}, func(r *helm.Release) { r.Patch("Deployment", "none") }); err == nil || !strings.Contains(err.Error(), "Deployment/none is not among the objects of the chart: Namespace/shop") {
		t.Errorf("a patch of nothing: %v", err)
	}
}

// TestNames has the names of releases as cdk8s makes them.
func TestNames(t *testing.T) {
	app := chart.NewApp(chart.Settings{Names: chart.CDK8sNames})
	c := chart.New(app, "shop", chart.Props{})
	dir := folder(t, files("1.0.0"))
	if name := helm.Chart(c, "web", helm.Props{Chart: dir}).Name(); !strings.HasPrefix(name, "shop-web-c8") {
		t.Error(name)
	}
	if name := helm.Chart(c, strings.Repeat("long-", 20), helm.Props{Chart: dir}).Name(); len(name) > 53 || len(name) < 40 {
		t.Error(name, len(name))
	}
}
