package process

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// engineDir, in the environment, has the test binary be an engine that is killed.
const engineDir = "HEADGATE_TEST_ENGINE"

// order is what such an engine is to do.
type order struct {
	Host   string
	Source string
}

// engineThatIsKilled starts one execution, says so, and waits for its end by others.
func engineThatIsKilled(dir string) {
	var o order
	if readJSON(filepath.Join(dir, "order.json"), &o) != nil {
		return
	}
	options, err := optionsIn(dir, o.Host)
	if err != nil {
		return
	}
	e, err := New(context.Background(), options)
	if err != nil {
		return
	}
	run := plan.Run{Kind: plan.Pod, NodeID: "n", NodeName: "n", Name: "n", Template: shell(o.Source), Result: true}
	run.Settings.ServiceAccountName = "builder"
	if e.Start(context.Background(), workflow(), run) != nil {
		return
	}
	_, _ = os.Stdout.WriteString("started\n")
	_ = os.Stdout.Close()
	select {}
}

// killedEngine is a process that has started an execution in the directory of a world.
func (w *world) killedEngine(source string, kill func() bool) {
	w.t.Helper()
	if err := writeJSON(filepath.Join(w.dir, "order.json"), order{w.api.URL, source}); err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0]) //nolint:gosec // it is the test
	cmd.Env = append(os.Environ(), engineDir+"="+w.dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	_, _ = bufio.NewReader(out).ReadString('\n')
	if kill != nil {
		w.until("n", func(plan.Leaf) bool { return kill() })
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func (w *world) has(name string) bool {
	_, err := os.Lstat(filepath.Join(w.dir, "steps", "runs", "11-22", "n", name))
	return err == nil
}

// TestKilledEngine kills the engine in each state that an execution may be in. The next one brings it to its end, and the program has run once.
func TestKilledEngine(t *testing.T) {
	for name, when := range map[string]func(w *world) func() bool{
		"Recorded": func(*world) func() bool { return nil },
		"Begun":    func(w *world) func() bool { return func() bool { return w.has(begunFile) } },
		"Running":  func(w *world) func() bool { return func() bool { return strings.Contains(w.log("n"), "running") } },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.end()
			w.killedEngine("echo running; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo over", when(w))
			w.start()
			leaf := w.until("n", ended)
			if leaf.Phase != v1alpha1.NodeSucceeded || *leaf.Outputs.Result != "running\nover" {
				t.Errorf("it is %s: %s %q", leaf.Phase, leaf.Message, w.log("n"))
			}
		})
	}
}

// TestOutcomeWhileNoEngineRuns is about a program that ends when nothing but its keeper is there.
func TestOutcomeWhileNoEngineRuns(t *testing.T) {
	w := newWorld(t)
	w.end()
	w.killedEngine("echo running; exit 5", func() bool { return w.has(outcomeFile) || w.has(leafFile) })
	w.start()
	if leaf := w.until("n", ended); leaf.Phase != v1alpha1.NodeFailed || *leaf.Outputs.ExitCode != "5" {
		t.Errorf("it is %s: %s", leaf.Phase, leaf.Message)
	}
}

// TestStopAfterRestart stops what another engine has started.
func TestStopAfterRestart(t *testing.T) {
	w := newWorld(t)
	w.end()
	w.killedEngine("echo running; sleep 600", func() bool { return strings.Contains(w.log("n"), "running") })
	w.start()
	if leaf := w.until("n", func(plan.Leaf) bool { return true }); leaf.Phase != v1alpha1.NodeRunning {
		t.Errorf("after the restart it is %s", leaf.Phase)
	}
	if err := w.Stop(t.Context(), w.of, "n", "enough"); err != nil {
		t.Fatal(err)
	}
	if leaf := w.until("n", ended); leaf.Phase != v1alpha1.NodeFailed || leaf.Message != "enough" {
		t.Errorf("it is %s: %s", leaf.Phase, leaf.Message)
	}
}

// TestLost is about a keeper that was killed: the program ends with it, and its outcome is unknown.
func TestLost(t *testing.T) {
	w := newWorld(t)
	w.run("n", shell("echo $$; sleep 600"))
	w.until("n", func(plan.Leaf) bool { return w.log("n") != "" })
	var at begun
	if err := readJSON(filepath.Join(w.dir, "steps", "runs", "11-22", "n", begunFile), &at); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(at.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	leaf := w.until("n", ended)
	if leaf.Phase != v1alpha1.NodeError || !leaf.Transient || leaf.Final || !strings.Contains(leaf.Message, "it is unknown how the process ended") {
		t.Errorf("it is %s, transient %t: %s", leaf.Phase, leaf.Transient, leaf.Message)
	}
}

// TestTwice is about requests that are repeated, and keepers that are: there is one execution.
func TestTwice(t *testing.T) {
	w := newWorld(t)
	w.run("n", shell("echo once"))
	w.run("n", shell("echo twice"))
	succeeded(t, w, "n", w.until("n", ended))
	w.run("n", shell("echo again"))
	if leaf := w.until("n", ended); *leaf.Outputs.Result != "once" {
		t.Errorf("it printed %q", *leaf.Outputs.Result)
	}
	k := &keeper{job: &job{Dir: filepath.Join(w.options.Dir, "runs", "11-22", "n")}}
	if k.begin() {
		t.Error("a second keeper begins")
	}
}

// TestHalfAJob is about an engine that is killed while it hands over what is to be done: nothing begins.
func TestHalfAJob(t *testing.T) {
	dir := t.TempDir()
	data, err := json.Marshal(job{Dir: dir, Command: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	cmd := exec.Command(os.Args[0]) //nolint:gosec // it is the test
	cmd.Env = []string{marker + "=" + roleKeeper}
	cmd.ExtraFiles = []*os.File{read, null, null}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = write.Write(data[:len(data)-1])
	write.Close()
	_ = cmd.Wait()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it has begun: %v", left)
	}
}
