package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/cli"
	"github.com/headgate-dev/headgate/internal/kit"
	"github.com/headgate-dev/headgate/internal/memory"
)

// asCommand, in the environment, makes the binary of these tests the command itself, so that a test
// can kill it.
const asCommand = "HEADGATE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if code, is := cli.Child(); is {
		os.Exit(code)
	}
	// As main does: commands of several scripts run in this process, and each would write to the flags that libraries
	// register for the process.
	pflag.CommandLine = pflag.NewFlagSet(os.Args[0], pflag.ContinueOnError)
	if os.Getenv(asCommand) == "" {
		memory.Tune()
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], cli.IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Child: true})
	stop()
	os.Exit(code)
}

// process is a headgate process.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *output
	ended  chan struct{}
}

// output takes what a process prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// run starts headgate; what it prints is shown when the test fails.
func run(t *testing.T, args ...string) *process {
	t.Helper()
	return runIn(t, "", os.Environ(), args...)
}

// runIn is run in a directory, with an environment.
func runIn(t *testing.T, dir string, env []string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self, args...), output: &output{}, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append(slices.Clone(env), asCommand+"=1")
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.state())
		}
		p.kill()
		if t.Failed() {
			t.Logf("headgate %s:\n%s", strings.Join(args, " "), p.output)
		}
	})
	return p
}

// state asks the process where its units stand.
func (p *process) state() string {
	at := slices.Index(p.cmd.Args, "--state-dir")
	if at < 0 {
		return ""
	}
	var text strings.Builder
	for _, verb := range [][]string{{"get", "ks", "-o", "yaml"}, {"logs"}} {
		cmd := exec.Command(p.cmd.Path, append(verb, p.cmd.Args[at:at+2]...)...)
		cmd.Env = p.cmd.Env
		out, err := cmd.CombinedOutput()
		fmt.Fprintf(&text, "headgate %s (%v):\n%s", strings.Join(verb, " "), err, out)
	}
	return text.String()
}

// kill ends the process as a power cut would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// interrupt ends the process as Ctrl-C would, and returns its exit code.
func (p *process) interrupt() int { return p.signal(syscall.SIGINT) }

// signal sends the process a signal by which it ends, and returns its exit code.
func (p *process) signal(s os.Signal) int {
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// says waits until the process has printed something.
func (p *process) says(text string) {
	p.t.Helper()
	p.saysWithin(patience, text)
}

// saysWithin is says with a patience of its own.
func (p *process) saysWithin(patience time.Duration, text string) {
	p.t.Helper()
	pollFor(p.t, patience, 5*time.Millisecond, fmt.Sprintf("waiting until the process prints %q", text), func() (bool, string) {
		select {
		case <-p.ended:
			p.t.Fatalf("headgate ended before it printed %q", text)
		default:
		}
		return strings.Contains(p.output.String(), text), p.output.String()
	})
}

// eventually tries a condition until it holds, often enough to see what lasts for a moment; less often the longer that takes, since each try asks
// a lot of the server.
func eventually(t *testing.T, what string, try func() (bool, string)) {
	t.Helper()
	poll(t, 5*time.Millisecond, "waiting until "+what, try)
}

// configMaps are the ConfigMaps of a namespace that were applied, with the value of their one key.
func configMaps(t *testing.T, client kubernetes.Interface, namespace string) map[string]string {
	t.Helper()
	found := map[string]string{}
	list, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return found
	}
	for i := range list.Items {
		if value, ours := list.Items[i].Data["k"]; ours {
			found[list.Items[i].Name] = value
		}
	}
	return found
}

// clientOf waits for the kubeconfig of an embedded cluster and connects.
func clientOf(t *testing.T, kubeconfig string) kubernetes.Interface {
	t.Helper()
	var client kubernetes.Interface
	eventually(t, "the cluster answers", func() (bool, string) {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
		if err != nil {
			return false, err.Error()
		}
		config.QPS = -1
		if client, err = kubernetes.NewForConfig(config); err != nil {
			return false, err.Error()
		}
		_, err = client.CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		return err == nil, fmt.Sprint(err)
	})
	return client
}

// writeFile writes a file and the directories above it.
func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startKit starts a whole system, which ends with the test.
func startKit(t *testing.T, o kit.Options) *kit.Kit {
	t.Helper()
	k, err := kit.Start(t.Context(), shortDir(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return k
}

// configOf is how the cluster of a kubeconfig is reached.
func configOf(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return config
}
