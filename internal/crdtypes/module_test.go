package crdtypes_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/crdtypes"
)

// program uses imported types as a person would, and prints what the SDK makes of them.
const program = `package main

import (
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/schema"

	acme "example.com/charts/imports/example.com/v1"
	old "example.com/charts/imports/old.example.com/v1beta1"
)

func main() {
	app := chart.NewApp(chart.Settings{Checks: []chart.Check{schema.Check{Definitions: append(acme.Definitions(), old.Definitions()...)}}})
	c := chart.New(app, "team", chart.Props{Namespace: "shop"})
	chart.Add(c, "tenant", &acme.Tenant{Spec: acme.TenantSpec{
		Owners: []acme.Owner{{Kind: acme.OwnerKindGroup, Name: "shop"}}, Replicas: new(0), Enabled: new(false), Mode: acme.TenantModeStrict,
		Port: new(intstr.FromInt32(80)), Memory: new(resource.MustParse("1Gi")), Values: map[string]any{"a": 1}, Anything: []string{"x"},
		Open: &acme.Open{Known: "k", Extra: map[string]any{"unknown": true}}, SelfSigned: &struct{}{}, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
		Password: &corev1.SecretKeySelector{Key: "p"}, CA: []byte("ca"),
	}})
	chart.Add(c, "room", &acme.Room{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Spec: acme.RoomSpec{Floor: 2}})
	chart.Add(c, "bag", &old.Bag{Extra: map[string]any{"full": true}})
	result, err := app.Synth()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Stdout.Write(result.YAML())
	app = chart.NewApp(chart.Settings{Checks: []chart.Check{schema.Check{Definitions: acme.Definitions()}}})
	chart.Add(chart.New(app, "team", chart.Props{}), "tenant", &acme.Tenant{Spec: acme.TenantSpec{Owners: []acme.Owner{{Kind: "Robot", Name: "x"}}, Size: 11}})
	if _, err := app.Synth(); err == nil || !strings.Contains(err.Error(), "spec.owners[0].kind") || !strings.Contains(err.Error(), "spec.size") {
		fmt.Fprintln(os.Stderr, "want errors of two fields, have", err)
		os.Exit(1)
	}
	if n := len(acme.Definitions()) + len(old.Definitions()); n != 4 {
		fmt.Fprintln(os.Stderr, "want 4 definitions, have", n)
		os.Exit(1)
	}
}
`

const synthesized = `apiVersion: example.com/v1
kind: Tenant
metadata:
  name: team-tenant
spec:
  anything:
    - x
  ca: Y2E=
  enabled: false
  memory: 1Gi
  mode: strict
  open:
    known: k
    unknown: true
  owners:
    - kind: Group
      name: shop
  password:
    key: p
  port: 80
  replicas: 0
  selector:
    matchLabels:
      a: b
  selfSigned: {}
  values:
    a: 1
---
apiVersion: example.com/v1
kind: Room
metadata:
  name: one
  namespace: shop
spec:
  floor: 2
---
apiVersion: old.example.com/v1beta1
kind: Bag
metadata:
  name: team-bag
full: true
`

// The packages compile in a module of a person, and what they describe is what the SDK writes: nothing is lost, and nothing is added.
func TestModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	dir := t.TempDir()
	definitions := read(t, "testdata/definitions/tenants.yaml", "testdata/definitions/list.yaml")
	real, err := filepath.Glob("../../deploy/*/crds/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := crdtypes.Generate(append(definitions, read(t, real...)...), crdtypes.Options{Status: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for name, data := range p.Files {
			put(t, filepath.Join(dir, "imports", filepath.FromSlash(p.Dir), name), string(data))
		}
	}
	put(t, filepath.Join(dir, "main.go"), program)
	module(t, dir)
	goCommand(t, dir, "vet", "./...")
	if got := goCommand(t, dir, "run", "."); got != synthesized {
		t.Errorf("want\n%s\nhave\n%s", synthesized, got)
	}
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// module makes a directory a module with the versions of this repository.
func module(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Go      string
		Require []struct{ Path, Version string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(goCommand(t, root, "mod", "edit", "-json")), &mod); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("module example.com/charts\n\ngo " + mod.Go + "\n\nrequire github.com/headgate-dev/headgate v0.0.0\n\nreplace github.com/headgate-dev/headgate => " + root + "\n\n")
	for _, r := range mod.Require {
		if strings.HasPrefix(r.Path, "k8s.io/api") {
			text.WriteString("require " + r.Path + " " + r.Version + "\n")
		}
	}
	for _, r := range mod.Replace {
		if strings.HasPrefix(r.Old.Path, "k8s.io/api") {
			text.WriteString("replace " + r.Old.Path + " => " + r.New.Path + " " + r.New.Version + "\n")
		}
	}
	put(t, filepath.Join(dir, "go.mod"), text.String())
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "go.sum"), string(sums))
}

func goCommand(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && strings.Contains(errs.String(), "module lookup disabled by GOPROXY=off") {
		t.Skipf("the module cache lacks something; hack/modules fetches it: %s", errs.String())
	}
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out)
}
