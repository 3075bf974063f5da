// Package console is what all commands share: their flags, how they name objects of any dialect, the cluster and the repository
// that they read, and the session in which a dialect acts for them. It decides nothing, and knows no command.
package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/headgate-dev/headgate/internal/buildinfo"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Globals are the flags that every command has.
type Globals struct {
	IO IO
	// Catalogue holds the dialects that there are.
	Catalogue           dialect.Catalogue
	stateDir            string
	kubeconfig, context string
}

// Bind adds the flags that every command has.
func (g *Globals) Bind(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&g.stateDir, "state-dir", "", "directory of the embedded cluster (default $XDG_STATE_HOME/headgate)")
	f.StringVar(&g.kubeconfig, "kubeconfig", "", "use the cluster of this kubeconfig instead of the embedded one")
	f.StringVar(&g.context, "context", "", "context of the kubeconfig")
}

// Real reports whether a cluster other than the embedded one was requested.
func (g *Globals) Real() bool { return g.kubeconfig != "" || g.context != "" }

// State is the directory of the embedded clusters.
func (g *Globals) State() (string, error) {
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

// ClusterDir is the directory of one embedded cluster.
func ClusterDir(state string, ephemeral bool) string {
	if ephemeral {
		return filepath.Join(state, "ephemeral")
	}
	return filepath.Join(state, "cluster")
}

// CloudDir is where the simulated cloud of a cluster is kept, below the directory of the cluster or of the engine.
const CloudDir = "cloud"

// EngineDir is the directory of what an engine keeps of a cluster that is not its own.
func EngineDir(state, host string) string {
	sum := sha256.Sum256([]byte(host))
	return filepath.Join(state, "engines", hex.EncodeToString(sum[:6]))
}

// EmbeddedKubeconfig is that of the embedded cluster that runs, or ran last.
func (g *Globals) EmbeddedKubeconfig() (string, error) {
	state, err := g.State()
	if err != nil {
		return "", err
	}
	for _, ephemeral := range []bool{true, false} {
		file := filepath.Join(ClusterDir(state, ephemeral), "kubeconfig")
		if _, err := os.Stat(file); err == nil {
			return file, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("finding the embedded cluster: %w", err)
		}
	}
	return "", Hint(fmt.Errorf("no embedded cluster in %q", state), "headgate up PATH")
}

// copyFile is the file beside the kubeconfig of an embedded cluster that names the directory which it serves as a repository.
const copyFile = "working-copy"

// RememberWorkingCopy writes down which directory the embedded cluster in a directory serves as a repository.
func RememberWorkingCopy(cluster, dir string) error {
	if err := os.WriteFile(filepath.Join(cluster, copyFile), []byte(dir), 0o600); err != nil {
		return fmt.Errorf("writing down the working copy: %w", err)
	}
	return nil
}

// WorkingCopy is the directory that the embedded cluster serves as a repository, empty when there is none, or another cluster is chosen.
func (g *Globals) WorkingCopy() string {
	if g.Real() {
		return ""
	}
	kubeconfig, err := g.EmbeddedKubeconfig()
	if err != nil {
		return ""
	}
	dir, err := os.ReadFile(filepath.Join(filepath.Dir(kubeconfig), copyFile))
	if err != nil {
		return ""
	}
	return string(dir)
}

// clientConfig is what the kubeconfig of the chosen cluster says.
func (g *Globals) clientConfig() (clientcmd.ClientConfig, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if rules.ExplicitPath = g.kubeconfig; !g.Real() {
		file, err := g.EmbeddedKubeconfig()
		if err != nil {
			return nil, err
		}
		rules.ExplicitPath = file
	}
	if g.kubeconfig != "" && !exists(g.kubeconfig) {
		return nil, fmt.Errorf("--kubeconfig %s: there is no such file", g.kubeconfig)
	}
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: g.context})
	return config, g.checkContext(config)
}

// checkContext is an error for a context that the kubeconfig does not have. One that cannot be read fails where it is used.
func (g *Globals) checkContext(config clientcmd.ClientConfig) error {
	if g.context == "" {
		return nil
	}
	raw, err := config.RawConfig()
	if err != nil {
		return nil
	}
	if _, has := raw.Contexts[g.context]; has {
		return nil
	}
	names := slices.Sorted(maps.Keys(raw.Contexts))
	return fmt.Errorf("--context %s: the kubeconfig has no such context; there are %s", g.context, orWord(strings.Join(names, ", "), "none"))
}

// RestConfig is how the chosen cluster is reached.
func (g *Globals) RestConfig() (*rest.Config, error) {
	of, err := g.clientConfig()
	if err != nil {
		return nil, err
	}
	config, err := of.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return Dressed(config), nil
}

// ContextNamespace is the namespace of the chosen context, which is "default" where it names none.
func (g *Globals) ContextNamespace() (string, error) {
	of, err := g.clientConfig()
	if err != nil {
		return "", err
	}
	namespace, _, err := of.Namespace()
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return namespace, nil
}

// Dressed names us to the server and lets requests go without a rate.
func Dressed(config *rest.Config) *rest.Config {
	config.UserAgent = "headgate/" + buildinfo.Version()
	config.QPS, config.Burst = -1, -1
	return config
}

// Client reads and writes objects of the chosen cluster.
func (g *Globals) Client() (dynamic.Interface, error) {
	config, err := g.RestConfig()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(config)
}

// Unreachable gives an error of a cluster that does not answer the next command to try.
func Unreachable(err error) error {
	if err == nil || !strings.Contains(err.Error(), "connection refused") {
		return err
	}
	return Hint(fmt.Errorf("the cluster does not respond: %w", err), "headgate up PATH, or headgate cluster start")
}
