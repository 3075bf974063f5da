package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/buildinfo"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// globals are the flags that every command has.
type globals struct {
	io IO
	// catalogue holds the dialects that there are.
	catalogue           dialect.Catalogue
	stateDir            string
	kubeconfig, context string
}

func (g *globals) bind(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&g.stateDir, "state-dir", "", "directory of the embedded cluster (default $XDG_STATE_HOME/headgate)")
	f.StringVar(&g.kubeconfig, "kubeconfig", "", "use the cluster of this kubeconfig instead of the embedded one")
	f.StringVar(&g.context, "context", "", "context of the kubeconfig")
}

// real reports whether a cluster other than the embedded one was requested.
func (g *globals) real() bool { return g.kubeconfig != "" || g.context != "" }

// state is the directory of the embedded clusters.
func (g *globals) state() (string, error) {
	if g.stateDir != "" {
		return filepath.Abs(g.stateDir)
	}
	if base := os.Getenv("XDG_STATE_HOME"); base != "" {
		return filepath.Join(base, "headgate"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a state directory: %w; set one with --state-dir", err)
	}
	return filepath.Join(home, ".local", "state", "headgate"), nil
}

// clusterDir is the directory of one embedded cluster.
func clusterDir(state string, ephemeral bool) string {
	if ephemeral {
		return filepath.Join(state, "ephemeral")
	}
	return filepath.Join(state, "cluster")
}

// engineDir is the directory of what an engine keeps of a cluster that is not its own.
func engineDir(state, host string) string {
	sum := sha256.Sum256([]byte(host))
	return filepath.Join(state, "engines", hex.EncodeToString(sum[:6]))
}

// embeddedKubeconfig is that of the embedded cluster that runs, or ran last.
func (g *globals) embeddedKubeconfig() (string, error) {
	state, err := g.state()
	if err != nil {
		return "", err
	}
	for _, ephemeral := range []bool{true, false} {
		file := filepath.Join(clusterDir(state, ephemeral), "kubeconfig")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("finding the embedded cluster: %w", err)
		}
	}
	return "", hint(fmt.Errorf("no embedded cluster in %q", state), "headgate up PATH")
}

// restConfig is how the chosen cluster is reached.
func (g *globals) restConfig() (*rest.Config, error) {
	var config *rest.Config
	var err error
	if g.real() {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = g.kubeconfig
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
			&clientcmd.ConfigOverrides{CurrentContext: g.context}).ClientConfig()
	} else {
		var file string
		if file, err = g.embeddedKubeconfig(); err != nil {
			return nil, err
		}
		config, err = clientcmd.BuildConfigFromFlags("", file)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return dressed(config), nil
}

// dressed names us to the server and lets requests go without a rate.
func dressed(config *rest.Config) *rest.Config {
	config.UserAgent = "headgate/" + buildinfo.Version()
	config.QPS, config.Burst = -1, -1
	return config
}

func (g *globals) client() (dynamic.Interface, error) {
	config, err := g.restConfig()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}

// unreachable gives an error of a cluster that does not answer the next command to try.
func unreachable(err error) error {
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		return err
	}
	return hint(fmt.Errorf("the cluster does not respond: %w", err), "headgate up PATH, or headgate cluster start")
}
