package boot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/planes"
)

// written is a control plane of which there is a kubeconfig, and nothing else.
type written struct {
	dir  string
	done chan error
}

func (w written) RESTConfig() *rest.Config   { return &rest.Config{} }
func (w written) Kubeconfig() string         { return filepath.Join(w.dir, "kubeconfig") }
func (w written) Done() <-chan error         { return w.done }
func (w written) Stop(context.Context) error { return nil }

func write(_ context.Context, _, dir string) (planes.Running, error) {
	w := written{dir, make(chan error)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return w, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: "https://127.0.0.1:1"}},
		Contexts:       map[string]*clientcmdapi.Context{"c": {Cluster: "c"}},
		CurrentContext: "c",
	}, w.Kubeconfig())
}

func TestClustersBeside(t *testing.T) {
	state := t.TempDir()
	main := console.ClusterDir(state, false)
	if _, err := write(t.Context(), "", main); err != nil {
		t.Fatal(err)
	}
	unlock, err := controlplane.Lock(main)
	if err != nil {
		t.Fatal(err)
	}
	pool := planes.NewPool(t.Context(), planes.Config{Dir: planesDir(main), Start: write})
	if _, _, err := pool.Acquire(t.Context(), "dev", "VirtualCluster team/dev"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run := func(args ...string) (string, error) {
		out.Reset()
		g := &console.Globals{IO: console.IO{Out: &out, Err: &out}}
		root := &cobra.Command{Use: "headgate", SilenceErrors: true, SilenceUsage: true}
		g.Bind(root)
		root.AddCommand(NewCluster(g))
		root.SetArgs(append([]string{"--state-dir", state, "cluster"}, args...))
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	text, err := run("status")
	if !errors.Is(err, console.ErrNo) || !strings.Contains(text, "stopped: https://127.0.0.1:1") ||
		!strings.Contains(strings.Join(strings.Fields(text), " "), "dev Ready - 0 VirtualCluster team/dev -") {
		t.Errorf("status: %v\n%s", err, text)
	}
	if text, err = run("kubeconfig", "dev"); err != nil || text != filepath.Join(pool.Dir("dev"), "kubeconfig")+"\n" {
		t.Errorf("kubeconfig: %v, %q", err, text)
	}
	if _, err = run("kubeconfig", "prod"); err == nil || err.Error() != `no control plane "prod": there are dev (VirtualCluster team/dev)` {
		t.Errorf("kubeconfig of one that there is not: %v", err)
	}
	if err := pool.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	unlock()
	if text, err = run("status"); !errors.Is(err, console.ErrNo) || !strings.Contains(strings.Join(strings.Fields(text), " "), "dev Stopped - 0 - -") {
		t.Errorf("status of what ran last: %v\n%s", err, text)
	}
}
