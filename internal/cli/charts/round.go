package charts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/progress"
	"github.com/headgate-dev/headgate/internal/synth"
)

// round is one time of building, running and writing, and another after each change.
type round struct {
	*synthOptions
	program *synth.Program
	say     *progress.Printer
	// out is the output directory, scratch one for what is written elsewhere then.
	out, scratch string
}

// Do is a round of a watch, whose errors are printed.
func (r *round) Do(ctx context.Context) {
	if err := r.once(ctx); err != nil && ctx.Err() == nil {
		r.say.Problem("synth", err.Error())
	}
}

// Chart is notified of a chart that was synthesized.
func (r *round) Chart(e chart.Event) {
	r.say.Done("chart "+e.Chart, fmt.Sprintf("%s in %s", console.Counted(e.Objects, "object"), seconds(e.Seconds)))
}

// Finding is notified of a mistake, or of what a check says.
func (r *round) Finding(e chart.Event) {
	text := e.Message
	if e.Rule != "" {
		text += " (" + e.Rule + ")"
	}
	for _, part := range []string{e.Field, e.Path} {
		if part != "" {
			text = part + ": " + text
		}
	}
	if e.File != "" {
		text = fmt.Sprintf("%s:%d: %s", synth.Shown(e.File), e.Line, text)
	}
	if e.Severity == "" {
		r.say.Problem("mistake", text)
		return
	}
	r.say.Info(e.Severity, text)
}

func (r *round) once(ctx context.Context) error {
	began := time.Now()
	if err := r.program.Build(ctx); err != nil {
		return r.helpful(err)
	}
	built := time.Since(began)
	request := synth.Request{Out: r.out, Only: r.only, Check: r.check}
	if r.stdout {
		request.Stdout = r.IO.Out
	}
	if r.format == formatHelm {
		// A chart of Helm is made of all files, whatever was written earlier.
		request.Out, request.Check = filepath.Join(r.scratch, "objects"), false
		if err := os.RemoveAll(request.Out); err != nil {
			return err
		}
	}
	done, err := r.program.Run(ctx, request, r)
	var mistakes *synth.MistakesError
	if errors.As(err, &mistakes) {
		return console.Hint(err, "headgate synth --watch, which does it again when they are fixed")
	}
	if err != nil || r.stdout {
		return err
	}
	changes := chart.Changes{Added: done.Added, Changed: done.Changed, Removed: done.Removed, Unchanged: done.Unchanged}
	if r.format == formatHelm {
		if changes, err = r.helm(request.Out); err != nil {
			return err
		}
	}
	return r.conclude(changes, fmt.Sprintf("built in %s, all in %s", seconds(built.Seconds()), seconds(time.Since(began).Seconds())))
}

// helm writes or compares the chart of Helm with what lies in a directory.
func (r *round) helm(dir string) (chart.Changes, error) {
	var files []chart.File
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		files = append(files, chart.File{Path: name, Data: data})
		return err
	})
	if err != nil {
		return chart.Changes{}, err
	}
	about := r.chart
	if about.Name == "" {
		about.Name = filepath.Base(r.out)
	}
	if files, err = about.Files(files); err != nil {
		return chart.Changes{}, err
	}
	return chart.Output{Dir: r.out, Check: r.check}.Write(files)
}

// conclude prints what differs to a person who wants to know: of a check everything, of a watch what the edit did.
func (r *round) conclude(changes chart.Changes, times string) error {
	total := len(changes.Added) + len(changes.Changed) + len(changes.Removed)
	for _, one := range []struct {
		names         []string
		differs, done string
	}{{changes.Added, "is missing", "added"}, {changes.Changed, "differs", "changed"}, {changes.Removed, "is described no more", "removed"}} {
		for _, name := range one.names {
			if r.check {
				fmt.Fprintf(r.IO.Out, "%s %s\n", filepath.Join(synth.Shown(r.out), filepath.FromSlash(name)), one.differs)
			} else if r.watch {
				r.say.Info(one.done, name)
			}
		}
	}
	if r.check && total > 0 {
		r.say.Problem(synth.Shown(r.out), console.Counted(total, "file")+" not as described; headgate synth writes them")
		return console.ErrNo
	}
	r.say.Done(synth.Shown(r.out), fmt.Sprintf("%s, %d changed; %s", console.Counted(total+changes.Unchanged-len(changes.Removed), "file"), total, times))
	return nil
}

// seconds has the digits that matter.
func seconds(s float64) string { return fmt.Sprintf("%.3fs", s) }
