package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// logFile is where what an execution prints is kept, also when the execution was removed.
func (e *Executor) logFile(uid types.UID, node string) string {
	return filepath.Join(e.options.Dir, logsDir, string(uid), node)
}

// Logs is what the execution of a node printed.
func (e *Executor) Logs(ctx context.Context, of execute.Workflow, node string, follow bool) (io.ReadCloser, error) {
	dir, err := e.place(of, node)
	if err != nil {
		return nil, err
	}
	l := &reader{ctx: ctx, name: e.logFile(of.UID, node), follow: follow, dir: dir}
	switch err := l.open(); {
	case errors.Is(err, fs.ErrNotExist) && follow && l.awaited():
		// It has printed nothing yet.
	case err != nil:
		return nil, fmt.Errorf("reading the log of %s: %w", node, err)
	}
	l.tick = time.NewTicker(look)
	return l, nil
}

// look is how often a log that is followed is read.
const look = 200 * time.Millisecond

// reader reads a log, until its execution has ended if it is followed.
type reader struct {
	ctx    context.Context //nolint:containedctx // it is that of Logs
	name   string
	dir    string
	follow bool
	file   *os.File
	tick   *time.Ticker
}

// awaited reports whether the execution has yet to end: nothing is printed once its outcome is recorded.
func (r *reader) awaited() bool {
	_, err := os.Lstat(filepath.Join(r.dir, intentFile))
	_, errLeaf := os.Lstat(filepath.Join(r.dir, leafFile))
	return err == nil && errLeaf != nil
}

func (r *reader) open() error {
	var err error
	r.file, err = os.Open(r.name)
	return err
}

// Read reads what there is, and waits for more if it is followed.
func (r *reader) Read(p []byte) (int, error) {
	for {
		// What is printed at the end is there once it has ended.
		over := !r.follow || !r.awaited()
		if r.file == nil && r.open() != nil {
			r.file = nil
		}
		if r.file != nil {
			if n, err := r.file.Read(p); n > 0 || err != nil && !errors.Is(err, io.EOF) {
				return n, err
			}
		}
		if over {
			return 0, io.EOF
		}
		select {
		case <-r.tick.C:
		case <-r.ctx.Done():
			return 0, context.Cause(r.ctx)
		}
	}
}

// Close ends it.
func (r *reader) Close() error {
	r.tick.Stop()
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Dir is where an executor keeps what it has, below the directory of a dialect's host.
func Dir(host string) string { return filepath.Join(host, "workflows") }

// Open has the logs of a directory, also while another process executes there.
func Open(dir string) execute.Logged { return &archive{dir} }

// archive are logs without an engine.
type archive struct{ dir string }

// Logs is what the execution of a node printed. One that is followed ends with its execution.
func (k *archive) Logs(ctx context.Context, of execute.Workflow, node string, follow bool) (io.ReadCloser, error) {
	e := &Executor{options: Options{Dir: k.dir}}
	return e.Logs(ctx, of, node, follow)
}
