package boot

import (
	"context"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/workflow"
	"github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// TestLocalExec decides which repositories may have processes run on this machine.
func TestLocalExec(t *testing.T) {
	const lacks = "user.max_user_namespaces is 0: sysctl -w user.max_user_namespaces=15000"
	for name, c := range map[string]struct {
		path, kubeconfig string
		args             []string
		child            bool
		unable           string
		want, says       string
	}{
		"Directory":         {path: ".", args: []string{"--allow-local-exec"}, child: true},
		"Confined":          {path: ".", args: []string{"--allow-local-exec=confined"}, child: true},
		"NotAllowed":        {path: "https://example.com/x.git", child: true, unable: lacks},
		"URL":               {path: "https://token@example.com/x.git", args: []string{"--allow-local-exec"}, child: true, want: "what others write there is never run on this machine"},
		"SSH":               {path: "ssh://git@example.com/x.git", args: []string{"--allow-local-exec"}, child: true, want: "what others write there is never run on this machine"},
		"Package":           {path: ".", args: []string{"--allow-local-exec", "--package=https://github.com/example/stacks//basic"}, child: true, want: "what others write there is never run on this machine"},
		"Cluster":           {path: ".", kubeconfig: "kubeconfig", args: []string{"--allow-local-exec"}, child: true, want: "the cluster of --kubeconfig has nodes"},
		"NotOfOurOwn":       {path: ".", args: []string{"--allow-local-exec"}, want: "cannot be started as a keeper"},
		"Other":             {path: ".", args: []string{"--allow-local-exec=yes"}, child: true, want: "--allow-local-exec=yes: want confined or unconfined"},
		"NoNamespaces":      {path: ".", args: []string{"--allow-local-exec"}, child: true, unable: lacks, want: "cannot be confined on this machine: " + lacks},
		"Unconfined":        {path: ".", args: []string{"--allow-local-exec=unconfined"}, child: true, unable: lacks, says: "may do all that your user may do, also with your credentials: " + lacks},
		"UnconfinedForURL":  {path: "https://example.com/x.git", args: []string{"--allow-local-exec=unconfined"}, child: true, unable: lacks, want: "what others write there is never run on this machine"},
		"UnconfinedButAble": {path: ".", args: []string{"--allow-local-exec=unconfined"}, child: true},
	} {
		t.Run(name, func(t *testing.T) {
			var says strings.Builder
			g := &console.Globals{IO: console.IO{Child: c.child, Err: &says}}
			root := &cobra.Command{}
			g.Bind(root)
			if err := root.PersistentFlags().Set("kubeconfig", c.kubeconfig); err != nil {
				t.Fatal(err)
			}
			o := upOptions{Globals: g, path: c.path}
			f := pflag.NewFlagSet("up", pflag.ContinueOnError)
			o.localExec.bind(f)
			f.StringArrayVar(&o.packages, "package", nil, "")
			if err := f.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			err := o.localExec.check(t.Context(), &o, func(context.Context) (string, error) { return c.unable, nil })
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token@")):
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			if got := says.String(); (got != "") != (c.says != "") || !strings.Contains(got, c.says) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
	for _, mode := range []string{"", execConfined, execUnconfined} {
		catalogue := dialects.All()
		(&localExec{mode: mode}).apply(catalogue, t.TempDir())
		found := false
		for _, d := range catalogue {
			workflows, is := d.(*workflow.Dialect)
			if !is {
				continue
			}
			found = true
			containers, of := workflows.Containers.(process.Containers)
			if of != (mode != "") || containers.Unconfined != (mode == execUnconfined) {
				t.Errorf("the mode is %q, and containers are executed by %v", mode, workflows.Containers)
			}
		}
		if !found {
			t.Error("there is no dialect of workflows")
		}
	}
}
