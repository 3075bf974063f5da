package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// launch starts a keeper for an execution. A keeper that cannot begin leaves nothing: it is launched again.
func (e *Executor) launch(ctx context.Context, x *execution) error {
	if err := x.empty(); err != nil {
		return fmt.Errorf("preparing %s: %w", x.intent.Run.NodeID, err)
	}
	j, err := e.prepare(ctx, x)
	if err != nil {
		return err
	}
	lock, err := x.lock()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil // it is only being asked whether a keeper lives
	}
	if err != nil {
		return fmt.Errorf("locking %s: %w", x.intent.Run.NodeID, err)
	}
	defer lock.Close()
	if err := e.spawn(x, j, lock); err != nil {
		return fmt.Errorf("starting the keeper of %s: %w", x.intent.Run.NodeID, err)
	}
	return nil
}

// empty makes the directories of a process that has not begun, without what an attempt to prepare it has left.
func (x *execution) empty() error {
	for _, dir := range []string{privateDir, outDir} {
		if err := discard(x.file(dir)); err != nil {
			return err
		}
	}
	for _, dir := range []string{filepath.Join(privateDir, "root"), outDir} {
		if err := os.MkdirAll(x.file(dir), 0o755); err != nil { //nolint:gosec // the directory above is closed to others
			return err
		}
	}
	return nil
}

// spawn starts the keeper, and hands it the job and the lock.
func (e *Executor) spawn(x *execution, j *job, lock *os.File) error {
	if err := syscall.Mkfifo(x.file(pipeFile), 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	// It is opened for reading first, since it can be opened for writing then.
	read, err := os.OpenFile(x.file(pipeFile), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer read.Close()
	alive, err := os.OpenFile(x.file(pipeFile), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer alive.Close()
	jobRead, jobWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer jobWrite.Close()
	cmd := exec.Command(e.options.Program) //nolint:gosec,noctx // it is this binary, and it outlives the engine
	cmd.Args = []string{"headgate-keeper"}
	cmd.Env = []string{marker + "=" + roleKeeper}
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{jobRead, lock, alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	jobRead.Close()
	if err != nil {
		return err
	}
	x.keeper = cmd
	return json.NewEncoder(jobWrite).Encode(j)
}

// prepare puts together what a process gets.
func (e *Executor) prepare(ctx context.Context, x *execution) (*job, error) {
	// It may have been recorded where it could be confined.
	if reason := e.unconfined(); reason != "" {
		return nil, never("%s", reason)
	}
	run := &x.intent.Run
	p := &preparation{
		executor: e, x: x, run: run, container: containerOf(run.Template),
		account: e.account(x.intent.Namespace, accountOf(run)),
		job: &job{
			Dir: x.dir, Log: e.logFile(x.intent.UID, run.NodeID), Ability: e.ability, Deadline: run.Deadline, Result: run.Result, Limits: e.options.Limits,
			Parameters: run.Template.Outputs.Parameters, Artifacts: run.Template.Outputs.Artifacts,
		},
	}
	p.job.Image = p.container.Image
	for _, part := range []func(context.Context) error{p.standard, p.environment, p.identity, p.volumes, p.inputs, p.outputs, p.command} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return p.job, nil
}

// accountOf is the name of the account of an execution.
func accountOf(run *plan.Run) string {
	for _, name := range []string{run.Template.ServiceAccountName, run.Settings.ServiceAccountName} {
		if name != "" {
			return name
		}
	}
	return "default"
}
