package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// The files of an execution. Each is there as a whole or not at all.
const (
	// intentFile says what is to be executed; it comes with the directory.
	intentFile = "intent.json"
	// lockFile is locked by a keeper as long as it lives, and pipeFile is open for writing in it.
	lockFile = "lock"
	pipeFile = "alive"
	// begunFile is written by a keeper before it begins, and only if there is none.
	begunFile = "begun.json"
	// stopFile says that the execution is to end, and why.
	stopFile = "stop.json"
	// outcomeFile is how it ended, as its keeper saw it; leafFile is that as the port has it, the last file to be written.
	outcomeFile = "outcome.json"
	leafFile    = "leaf.json"
	// privateDir has the directories of the process; they go with its end.
	privateDir = "private"
	// outDir is where artifacts are packed.
	outDir = "out"
)

// intent is what is to be executed. It has no secrets.
type intent struct {
	Namespace string    `json:"namespace"`
	Workflow  string    `json:"workflow"`
	UID       types.UID `json:"uid"`
	Run       plan.Run  `json:"run"`
}

func (i *intent) of() execute.Workflow {
	return execute.Workflow{NamespacedName: types.NamespacedName{Namespace: i.Namespace, Name: i.Workflow}, UID: i.UID}
}

// begun is what a keeper records before it begins.
type begun struct {
	PID int       `json:"pid"`
	At  time.Time `json:"at"`
}

// stopping is why an execution is to end.
type stopping struct {
	Reason string `json:"reason"`
}

// execution is one that has not ended.
type execution struct {
	dir    string
	intent intent
	cancel context.CancelFunc
	ended  chan struct{}
	// keeper is the one that was started here, if one was.
	keeper *exec.Cmd

	mu sync.Mutex
	// waiting is why it has not begun.
	waiting string
}

// open reads an execution.
func (e *Executor) open(dir string) (*execution, error) {
	x := &execution{dir: dir, ended: make(chan struct{})}
	return x, x.read(intentFile, &x.intent)
}

// create makes the directory, with the intent in it, and with the leaf of one that has ended already.
func (x *execution) create(leaf *plan.Leaf) error {
	fail := func(err error) error { return fmt.Errorf("recording execution %s: %w", x.intent.Run.NodeID, err) }
	if err := os.MkdirAll(filepath.Dir(x.dir), 0o700); err != nil {
		return fail(err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(x.dir), ".new-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(temp)
	err = writeJSON(filepath.Join(temp, intentFile), x.intent)
	if leaf != nil {
		err = errors.Join(err, writeJSON(filepath.Join(temp, leafFile), leaf))
	}
	if err == nil {
		err = os.Rename(temp, x.dir)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

func (x *execution) file(name string) string { return filepath.Join(x.dir, name) }

func (x *execution) has(name string) bool {
	_, err := os.Lstat(x.file(name))
	return err == nil
}

func (x *execution) read(name string, into any) error { return readJSON(x.file(name), into) }

func (x *execution) wait(reason string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waiting = reason
}

// stop records that it is to end, and requests it of its keeper, or ends the wait for one.
func (x *execution) stop(reason string) error {
	if x.has(stopFile) {
		return nil
	}
	if err := writeJSON(x.file(stopFile), stopping{reason}); err != nil {
		return fmt.Errorf("stopping %s: %w", x.intent.Run.NodeID, err)
	}
	if x.has(begunFile) {
		x.terminate()
		return nil
	}
	// A keeper that has yet to begin finds the file.
	x.cancel()
	return nil
}

// terminate signals the keeper. It holds the lock as long as it lives, and its number is its own for as long.
func (x *execution) terminate() {
	var at begun
	if x.read(begunFile, &at) != nil || at.PID <= 1 || !x.kept() {
		return
	}
	_ = syscall.Kill(at.PID, syscall.SIGTERM)
}

// kept reports whether a keeper lives.
func (x *execution) kept() bool {
	lock, err := x.lock()
	if lock != nil {
		lock.Close()
	}
	return errors.Is(err, syscall.EWOULDBLOCK)
}

// lock takes the lock of the keeper.
func (x *execution) lock() (*os.File, error) {
	f, err := os.OpenFile(x.file(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil { //nolint:gosec // it is the number of a file
		f.Close()
		return nil, err
	}
	return f, nil
}

// finish records the end, and deletes what only the process needed.
func (x *execution) finish(leaf plan.Leaf) error {
	leaf.Labels = x.intent.Run.Labels()
	if err := writeJSON(x.file(leafFile), leaf); err != nil {
		return fmt.Errorf("recording the end of %s: %w", x.intent.Run.NodeID, err)
	}
	x.tidy()
	return nil
}

func (x *execution) tidy() {
	_ = discard(x.file(privateDir))
	_ = discard(x.file(outDir))
	for _, name := range []string{outcomeFile, pipeFile, lockFile} {
		_ = os.Remove(x.file(name))
	}
}

// leaf is what the port has of an execution.
func (e *Executor) leaf(dir string) (plan.Leaf, error) {
	var leaf plan.Leaf
	err := readJSON(filepath.Join(dir, leafFile), &leaf)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return leaf, err
	}
	leaf = plan.Leaf{Phase: v1alpha1.NodePending, Host: e.ability.Host}
	var at begun
	switch err := readJSON(filepath.Join(dir, begunFile), &at); {
	case err == nil:
		leaf.Phase, leaf.StartedAt = v1alpha1.NodeRunning, at.At
		return leaf, nil
	case !errors.Is(err, fs.ErrNotExist):
		return leaf, err
	}
	if x := e.activeAt(dir); x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		leaf.Message = x.waiting
	}
	return leaf, nil
}

// readJSON reads a file that is there as a whole.
func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("reading %q: %w", name, err)
	}
	return nil
}

// writeJSON writes a file so that a reader sees all of it or nothing, whenever this process is killed.
func writeJSON(name string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	temp, err := written(name, data)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	return os.Rename(temp, name)
}

// written writes a file beside one that is to be.
func written(name string, data []byte) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	return f.Name(), errors.Join(err, f.Sync(), f.Close())
}
