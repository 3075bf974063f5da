package scaffold_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate"
	"github.com/headgate-dev/headgate/internal/scaffold"
)

var update = flag.Bool("update", false, "write the requirements of the copy of the SDK and of a new module")

// repository is the root of this module.
const repository = "../.."

// TestSDK builds the copy of the SDK as the module that it is, offline, and keeps its requirements those of this module.
func TestSDK(t *testing.T) {
	dir := t.TempDir()
	copySDK(t, dir)
	if *update {
		write(t, filepath.Join(dir, "go.mod"), requirements(t))
		write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(repository, "go.sum")))
		goes(t, dir, "mod", "tidy")
		write(t, "sdk.mod", read(t, filepath.Join(dir, "go.mod")))
	}
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(repository, "go.sum")))
	if diff := goes(t, dir, "mod", "tidy", "-diff"); strings.Contains(diff, "diff current/go.mod") {
		t.Errorf("sdk.mod is out of date; try: make generate\n%s", diff)
	}
	goes(t, dir, "build", "./...")
	for module, version := range versions(read(t, filepath.Join(dir, "go.mod"))) {
		if ours := versionsHere(t)[module]; ours != "" && ours != version {
			t.Errorf("the copy requires %s %s, this module %s; try: make generate", module, version, ours)
		}
	}
	for _, name := range []string{"LICENSE", "README", "chart/node.go", "api/argoproj/v1alpha1/application.go"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the copy: %v", err)
		}
	}
}

// TestSourceIsSmall keeps the binary from carrying more than the SDK: what is embedded for tests grows unseen.
func TestSourceIsSmall(t *testing.T) {
	const limit = 16 << 20
	total := int64(0)
	err := fs.WalkDir(headgate.Source(), ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		total += info.Size()
		return err
	})
	if err != nil || total > limit {
		t.Errorf("%d bytes are embedded, more than %d: %v", total, limit, err)
	}
}

// TestModule creates a module as "headgate init chart" does, and has Go tidy, build, check and test it offline.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	files, err := scaffold.Module("example.com/team/shop", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(dir, files); err != nil {
		t.Fatal(err)
	}
	copySDK(t, filepath.Join(dir, scaffold.CopyDir))
	if *update {
		updateModule(t, dir)
	}
	// It builds at once, without being tidied first.
	goes(t, dir, "build", "-mod=readonly", "-o", os.DevNull, "./...")
	if diff := goes(t, dir, "mod", "tidy", "-diff"); diff != "" {
		t.Errorf("module.mod or module.sum is out of date; try: make generate\n%s", diff)
	}
	goes(t, dir, "build", "-o", os.DevNull, "./...")
	goes(t, dir, "vet", "./...")
	goes(t, dir, "test", "./...")
	for name, text := range walk(t, dir) {
		if strings.Contains(text, "example.com/charts") {
			t.Errorf("%s has the path of the template's module", name)
		}
	}
	if main := goes(t, dir, "list", "-m"); main != "example.com/team/shop\n" {
		t.Errorf("the module is %q", main)
	}
}

// updateModule writes go.mod and go.sum of the template, from those of the SDK.
func updateModule(t *testing.T, dir string) {
	t.Helper()
	text := "module example.com/team/shop\n\n" + regexp.MustCompile(`(?m)^go .*$`).FindString(string(read(t, "sdk.mod"))) +
		"\n\nrequire github.com/headgate-dev/headgate v0.0.0\n\nreplace github.com/headgate-dev/headgate => ./" + scaffold.CopyDir + "\n\nrequire (\n"
	for module, version := range versions(read(t, "sdk.mod")) {
		text += "\t" + module + " " + version + " // indirect\n"
	}
	text += ")\n"
	write(t, filepath.Join(dir, "go.mod"), []byte(text))
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(repository, "go.sum")))
	goes(t, dir, "mod", "tidy")
	write(t, "module.mod", bytes.Replace(read(t, filepath.Join(dir, "go.mod")), []byte("example.com/team/shop"), []byte("example.com/charts"), 1))
	write(t, "module.sum", read(t, filepath.Join(dir, "go.sum")))
}

// TestReplacedRepository has a module use the SDK from a clone of this repository: the many replacements in its go.mod, which
// k8s.io/kubernetes needs, are not in the way, since nothing of the SDK reaches it.
func TestReplacedRepository(t *testing.T) {
	here, err := filepath.Abs(repository)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), fmt.Appendf(nil, "module example.com/shop\n\ngo 1.26.3\n\nrequire github.com/headgate-dev/headgate v0.0.0\n\nreplace github.com/headgate-dev/headgate => %s\n", here))
	write(t, filepath.Join(dir, "main.go"), []byte(`package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
)

func main() {
	app := chart.NewApp(chart.Settings{})
	shop := chart.New(app, "shop", chart.Props{})
	chart.Add(shop, "config", &corev1.ConfigMap{Data: map[string]string{"a": "b"}})
	fmt.Println(len(app.Node().Children()), v1alpha1.Application{}.Name)
}
`))
	// The versions are those that go.mod requires: its replacements by others hold in this module alone.
	write(t, filepath.Join(dir, "go.sum"), append(read(t, filepath.Join(repository, "go.sum")), read(t, filepath.Join(repository, "tools", "go.sum"))...))
	goes(t, dir, "mod", "tidy")
	if text := string(read(t, filepath.Join(dir, "go.mod"))); strings.Contains(text, "k8s.io/kubernetes") || strings.Contains(text, "k8s.io/client-go") {
		t.Errorf("the module requires more than the SDK needs:\n%s", text)
	}
	if out := goes(t, dir, "run", "."); out != "1 \n" {
		t.Errorf("it prints %q", out)
	}
}

func copySDK(t *testing.T, dir string) {
	t.Helper()
	files, err := scaffold.SDK(headgate.Source(), "v0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(dir, files); err != nil {
		t.Fatal(err)
	}
}

// lacking is what Go says of a module that it would have to fetch.
var lacking = regexp.MustCompile(`(?m)^.*(module lookup disabled by GOPROXY=off|GOSUMDB|sum\.golang\.org|missing go\.sum entry).*$`)

// goes runs Go, without the network unless the requirements are updated. What the module cache lacks skips the test, by name.
func goes(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOTOOLCHAIN=local")
	if !*update {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if found := lacking.FindString(errs.String()); found != "" && err != nil && !*update {
		t.Skipf("the module cache lacks something; hack/modules fetches it: %s", found)
	}
	// "go mod tidy -diff" fails if there is a difference, which it prints.
	if err != nil && args[len(args)-1] != "-diff" {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	return out.String()
}

// requirements is a go.mod with the modules that packages of the copy are built from, at the versions of this module.
func requirements(t *testing.T) []byte {
	t.Helper()
	patterns := []string{"./chart/...", "./api/argoproj/...", "./api/build/...", "./api/crossplane/...", "./api/externalsecrets/...", "./api/kargo/..."}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}{{end}}{{end}}"}, patterns...)...)
	cmd.Dir = repository
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	text := "module github.com/headgate-dev/headgate\n\n" + regexp.MustCompile(`(?m)^go .*$`).FindString(string(read(t, filepath.Join(repository, "go.mod")))) + "\n\nrequire (\n"
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "" && !seen[line] {
			seen[line] = true
			text += "\t" + line + "\n"
		}
	}
	return []byte(text + ")\n")
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+([^\s/]+\.[^\s]+) (v\S+)`)

// versions are what a go.mod requires.
func versions(text []byte) map[string]string {
	all := map[string]string{}
	for _, found := range requirement.FindAllStringSubmatch(string(text), -1) {
		all[found[1]] = found[2]
	}
	return all
}

var replacement = regexp.MustCompile(`(?m)^(?:replace)?\s+(\S+) => \S+ (v\S+)`)

// versionsHere are those that this module is built with.
func versionsHere(t *testing.T) map[string]string {
	t.Helper()
	// What is excluded is not required.
	text, _, _ := bytes.Cut(read(t, filepath.Join(repository, "go.mod")), []byte("\nexclude ("))
	all := versions(text)
	for _, found := range replacement.FindAllStringSubmatch(string(text), -1) {
		all[found[1]] = found[2]
	}
	return all
}

func walk(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name] = string(read(t, name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestVersions reads a go.mod.
func TestVersions(t *testing.T) {
	text := "module a.b/c\n\ngo 1.26.3\n\nrequire d.e/f v1.0.0\n\nrequire (\n\tg.h/i v2.0.0\n\tj.k/l/v3 v3.0.0 // indirect\n)\n"
	want := map[string]string{"d.e/f": "v1.0.0", "g.h/i": "v2.0.0", "j.k/l/v3": "v3.0.0"}
	if diff := cmp.Diff(want, versions([]byte(text))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
