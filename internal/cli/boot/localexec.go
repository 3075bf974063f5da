package boot

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/workflow"
	"github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// localExec is whether containers of workflows are run as processes of this machine.
type localExec struct{ allowed bool }

const localExecFlag = "allow-local-exec"

func (l *localExec) bind(f *pflag.FlagSet) {
	f.BoolVar(&l.allowed, localExecFlag, false, "run the containers and scripts of Workflows as processes of this machine, as your user; for a directory of your own, on the embedded cluster")
}

// check refuses programs from a repository elsewhere, whose authors would run them here, and processes beside a cluster that has nodes.
func (l *localExec) check(o *upOptions) error {
	switch {
	case !l.allowed:
		return nil
	case o.remote():
		return console.Hint(errors.New("--"+localExecFlag+": the repository is elsewhere, and what others write there is never run on this machine; clone it, and read its Workflows"),
			"headgate up DIR --%s", localExecFlag)
	case o.Real():
		return fmt.Errorf("--%s: the cluster of --kubeconfig has nodes, which run containers as pods; the flag is for the embedded cluster", localExecFlag)
	case !o.IO.Child:
		return errors.New("--" + localExecFlag + ": this binary cannot be started as a keeper of processes")
	}
	return nil
}

// apply enters the flag into the dialect. No process sees the state of clusters, nor the home directory of the user.
func (l *localExec) apply(catalogue dialect.Catalogue, state string) {
	if !l.allowed {
		return
	}
	for _, d := range catalogue {
		workflows, is := d.(*workflow.Dialect)
		if !is {
			continue
		}
		hidden := []string{state}
		if home, err := os.UserHomeDir(); err == nil {
			hidden = append(hidden, home)
		}
		workflows.Containers = process.Containers{Program: sandbox.Self(), Hidden: hidden}
	}
}
