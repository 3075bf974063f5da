package boot

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/workflow"
)

// TestLocalExec is about who may have processes of this machine run.
func TestLocalExec(t *testing.T) {
	for name, c := range map[string]struct {
		path, kubeconfig string
		allowed, child   bool
		want             string
	}{
		"Directory":   {".", "", true, true, ""},
		"NotAllowed":  {"https://example.com/x.git", "", false, true, ""},
		"URL":         {"https://token@example.com/x.git", "", true, true, "what others write there is never run on this machine"},
		"SSH":         {"ssh://git@example.com/x.git", "", true, true, "what others write there is never run on this machine"},
		"Cluster":     {".", "kubeconfig", true, true, "the cluster of --kubeconfig has nodes"},
		"NotOfOurOwn": {".", "", true, false, "cannot be started as a keeper"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &console.Globals{IO: console.IO{Child: c.child}}
			root := &cobra.Command{}
			g.Bind(root)
			if err := root.PersistentFlags().Set("kubeconfig", c.kubeconfig); err != nil {
				t.Fatal(err)
			}
			l := localExec{allowed: c.allowed}
			err := l.check(&upOptions{Globals: g, path: c.path})
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token@")):
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
	for _, allowed := range []bool{true, false} {
		catalogue := dialects.All()
		(&localExec{allowed: allowed}).apply(catalogue, t.TempDir())
		found := false
		for _, d := range catalogue {
			if workflows, is := d.(*workflow.Dialect); is {
				found = true
				if (workflows.Containers != nil) != allowed {
					t.Errorf("allowed is %t, and containers are executed by %v", allowed, workflows.Containers)
				}
			}
		}
		if !found {
			t.Error("there is no dialect of workflows")
		}
	}
}
