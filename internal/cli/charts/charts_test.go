package charts_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/charts"
	"github.com/headgate-dev/headgate/internal/cli/console"
)

// text is what a command prints, while it prints it.
type text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// call runs a command, and returns its exit code and what it prints.
func call(ctx context.Context, out, errs *text, args ...string) int {
	g := &console.Globals{IO: console.IO{In: strings.NewReader(""), Out: out, Err: errs}}
	root := &cobra.Command{Use: "headgate", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(charts.NewInit(g), charts.NewSynth(g))
	root.SetArgs(args)
	return console.Exit(ctx, g.IO, root.ExecuteContext(ctx), "")
}

// module is a new module, as "headgate init chart" creates it.
func module(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir = filepath.Join(t.TempDir(), "shop")
	var out, errs text
	if code := call(t.Context(), &out, &errs, "init", "chart", dir, "--module", "example.com/shop"); code != 0 {
		t.Fatalf("exit code %d: %s", code, &errs)
	}
	return dir
}

// synth runs the command; a module cache that lacks something skips the test.
func synth(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e text
	code = call(t.Context(), &o, &e, append([]string{"synth"}, args...)...)
	if strings.Contains(e.String(), "module lookup disabled") {
		t.Skipf("the module cache lacks something; hack/modules fetches it: %s", &e)
	}
	return code, o.String(), e.String()
}

func TestInit(t *testing.T) {
	dir := module(t)
	for name, tc := range map[string]struct {
		reason, want string
		args         []string
		code         int
	}{
		"Again":     {"files of a person stay", "go.mod", []string{"init", "chart", dir}, 2},
		"Update":    {"the copy is written again", "wrote the SDK", []string{"init", "chart", dir, "--update"}, 0},
		"NoCopy":    {"there must be one", "has no copy of the SDK", []string{"init", "chart", t.TempDir(), "--update"}, 2},
		"Module":    {"a path of a module is no URL", "not a path of a Go module", []string{"init", "chart", t.TempDir(), "--module", "https://x"}, 2},
		"Published": {"without a copy the SDK is fetched", "go get github.com/headgate-dev/headgate", []string{"init", "chart", filepath.Join(t.TempDir(), "x"), "--no-sdk"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs text
			if code := call(t.Context(), &out, &errs, tc.args...); code != tc.code || !strings.Contains(errs.String(), tc.want) {
				t.Errorf("%s: exit code %d: %s", tc.reason, code, &errs)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err != nil {
		t.Error(err)
	}
}

// TestSynth goes through what a person does with a module: writes, checks, breaks, selects.
func TestSynth(t *testing.T) {
	dir := module(t)
	dist := filepath.Join(dir, "dist")
	code, _, errs := synth(t, dir)
	if code != 0 || !strings.Contains(errs, "✓ chart hello") || !strings.Contains(errs, "5 files, 5 changed") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if code, _, errs := synth(t, dir, "--check"); code != 0 {
		t.Errorf("nothing differs: exit code %d: %s", code, errs)
	}
	replace(t, filepath.Join(dir, "main.go"), "Replicas: 2", "Replicas: 5")
	code, out, _ := synth(t, dir, "--check")
	if code != 1 || !strings.HasSuffix(out, "Deployment.hello-server.k8s.yaml differs\n") {
		t.Errorf("a difference: exit code %d: %s", code, out)
	}
	if has(t, dist, "replicas: 5") {
		t.Error("a check has written")
	}
	if code, out, _ := synth(t, dir, "--stdout"); code != 0 || !strings.Contains(out, "replicas: 5") || strings.Contains(out, "kind: Kustomization") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, _, errs := synth(t, dir, "--only", "hell"); code != 2 || !strings.Contains(errs, "hello") {
		t.Errorf("no chart of that name: exit code %d: %s", code, errs)
	}
	if code, _, errs := synth(t, dir, "--only", "hel*"); code != 0 || !has(t, dist, "replicas: 5") {
		t.Errorf("one chart: exit code %d: %s", code, errs)
	}
	// A mistake of the description, with the line of Go.
	replace(t, filepath.Join(dir, "main.go"), "Port: 9898, ", "")
	if code, _, errs := synth(t, dir); code != 2 || !strings.Contains(errs, "port") || !strings.Contains(errs, "nothing was written") {
		t.Errorf("a mistake: exit code %d: %s", code, errs)
	}
	replace(t, filepath.Join(dir, "web.go"), "p.Image,", "p.Imago,")
	if code, _, errs := synth(t, dir); code != 2 || !strings.Contains(errs, filepath.Join(dir, "web.go")+":") || !strings.Contains(errs, "p.Imago undefined") {
		t.Errorf("it does not compile: exit code %d: %s", code, errs)
	}
}

// TestSynthHelm refuses packages, which no chart of Helm can hold.
func TestSynthHelm(t *testing.T) {
	dir := module(t)
	if code, _, errs := synth(t, dir, "--format", "helm", "--out", filepath.Join(dir, "helm")); code != 2 || !strings.Contains(errs, "kustomization") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	replace(t, filepath.Join(dir, "main.go"), "os.Exit(packages.Main(packages.Settings{}, describe))", `os.Exit(chart.Main(chart.Settings{}, func(app *chart.App) {
		Web(chart.New(app, "hello", chart.Props{}), WebProps{Image: "x:1", Port: 80, Settings: map[string]string{"a": "{{ b }}"}})
	}))`)
	replace(t, filepath.Join(dir, "main.go"), "import (", "import (\n\t\"github.com/headgate-dev/headgate/chart\"")
	if code, _, errs := synth(t, dir, "--format", "helm", "--out", filepath.Join(dir, "helm"), "--chart-version", "2.0.0"); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for name, want := range map[string]string{"Chart.yaml": "version: 2.0.0", "templates/hello.k8s.yaml": `{{ "{{" }} b }}`} {
		if data, err := os.ReadFile(filepath.Join(dir, "helm", name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v\n%s", name, err, data)
		}
	}
	if code, out, errs := synth(t, dir, "--format", "helm", "--out", filepath.Join(dir, "helm"), "--check"); code != 1 || !strings.Contains(out, "Chart.yaml differs") {
		t.Errorf("another version: exit code %d: %s%s", code, out, errs)
	}
}

// TestSynthWatch has an edit written, goes on after one that does not compile, and ends with its context.
func TestSynthWatch(t *testing.T) {
	dir := module(t)
	if code, _, errs := synth(t, dir); code != 0 {
		t.Fatal(errs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs text
	ended := make(chan int)
	go func() { ended <- call(ctx, &out, &errs, "synth", dir, "--watch") }()
	wait := func(what string, is func() bool) {
		t.Helper()
		deadline := time.After(time.Minute)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for !is() {
			select {
			case <-deadline:
				t.Fatalf("waiting for %s:\n%s", what, &errs)
			case <-tick.C:
			}
		}
	}
	dist := filepath.Join(dir, "dist")
	wait("the first round", func() bool { return strings.Contains(errs.String(), "5 files, 0 changed") })
	replace(t, filepath.Join(dir, "main.go"), "Replicas: 2", "Replicas: 7")
	wait("the edit", func() bool { return has(t, dist, "replicas: 7") })
	replace(t, filepath.Join(dir, "main.go"), "Replicas: 7", "Replicas: x")
	wait("the error", func() bool { return strings.Contains(errs.String(), "undefined: x") })
	replace(t, filepath.Join(dir, "main.go"), "Replicas: x", "Replicas: 8")
	wait("the next edit", func() bool { return has(t, dist, "replicas: 8") })
	if err := os.MkdirAll(filepath.Join(dir, "ports"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ports", "ports.go"), []byte("package ports\n\nconst Web = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(dir, "main.go"), "import (", "import (\n\t\"example.com/shop/ports\"")
	replace(t, filepath.Join(dir, "main.go"), "Replicas: 8", "Replicas: ports.Web")
	wait("the edit with a new package", func() bool { return has(t, dist, "replicas: 1\n") })
	replace(t, filepath.Join(dir, "ports", "ports.go"), "= 1", "= 9")
	wait("the edit of the new package", func() bool { return has(t, dist, "replicas: 9") })
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}

func TestSynthNowhere(t *testing.T) {
	empty := t.TempDir()
	if code, _, errs := synth(t, empty); code != 2 || !strings.Contains(errs, "no go.mod") || !strings.Contains(errs, "headgate init chart") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	t.Setenv("PATH", empty)
	if code, _, errs := synth(t, empty); code != 2 || !strings.Contains(errs, "go was not found in PATH") || !strings.Contains(errs, "https://go.dev/dl") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := synth(t, empty, "--format", "helm"); code != 2 || !strings.Contains(errs, "--out") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

func replace(t *testing.T, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(from)) {
		t.Fatalf("%s does not have %q:\n%s", name, from, data)
	}
	if err := os.WriteFile(name, bytes.Replace(data, []byte(from), []byte(to), 1), 0o600); err != nil {
		t.Fatal(err)
	}
}

// has reports whether a file below a directory has a text.
func has(t *testing.T, dir, what string) bool {
	t.Helper()
	found := false
	_ = filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			data, _ := os.ReadFile(name)
			found = found || bytes.Contains(data, []byte(what))
		}
		return nil
	})
	return found
}
