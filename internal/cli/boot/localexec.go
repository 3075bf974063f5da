package boot

import (
	"context"
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

// localExec is whether containers of workflows are run as processes of this machine, and how.
type localExec struct{ mode string }

const localExecFlag = "allow-local-exec"

// The values of the flag. Without one it has the first.
const (
	execConfined   = "confined"
	execUnconfined = "unconfined"
)

func (l *localExec) bind(f *pflag.FlagSet) {
	f.StringVar(&l.mode, localExecFlag, "", "run the containers and scripts of Workflows as processes of this machine, as your user, for a directory of your own, on the embedded cluster: "+
		execConfined+", or "+execUnconfined+" also where the machine has no namespaces to confine them")
	f.Lookup(localExecFlag).NoOptDefVal = execConfined
}

// unable is why processes cannot be confined on this machine; empty if they can.
func unable(ctx context.Context) (string, error) { return process.Unable(ctx, sandbox.Self()) }

// check refuses programs from a repository elsewhere, whose authors would run them here, processes beside a cluster that has nodes, and those that
// nothing confines. What is left unconfined is said.
func (l *localExec) check(ctx context.Context, o *upOptions, unable func(context.Context) (string, error)) error {
	switch {
	case l.mode == "":
		return nil
	case l.mode != execConfined && l.mode != execUnconfined:
		return fmt.Errorf("--%s=%s: want %s or %s", localExecFlag, l.mode, execConfined, execUnconfined)
	case o.foreign():
		return console.Hint(errors.New("--"+localExecFlag+": the repository is elsewhere, and what others write there is never run on this machine; clone it, and read its Workflows"),
			"headgate up DIR --%s", localExecFlag)
	case o.Real():
		return fmt.Errorf("--%s: the cluster of --kubeconfig has nodes, which run containers as pods; the flag is for the embedded cluster", localExecFlag)
	case !o.IO.Child:
		return errors.New("--" + localExecFlag + ": this binary cannot be started as a keeper of processes")
	}
	reason, err := unable(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("--%s: %w", localExecFlag, err)
	case reason == "":
		return nil
	case l.mode == execConfined:
		return console.Hint(fmt.Errorf("--%s: steps of Workflows cannot be confined on this machine: %s", localExecFlag, reason),
			"headgate up DIR --%s=%s, to have them do all that your user may do, also with your credentials", localExecFlag, execUnconfined)
	}
	fmt.Fprintf(o.IO.Err, "--%s=%s: steps of Workflows may do all that your user may do, also with your credentials: %s\n", localExecFlag, execUnconfined, reason)
	return nil
}

// apply enters the flag into the dialect. No process sees the state of clusters, nor the home directory of the user.
func (l *localExec) apply(catalogue dialect.Catalogue, state string) {
	if l.mode == "" {
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
		workflows.Containers = process.Containers{Program: sandbox.Self(), Hidden: hidden, Unconfined: l.mode == execUnconfined}
	}
}
