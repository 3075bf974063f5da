package chart

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Main is the main function of a module that describes charts, and what "headgate synth" runs:
//
//	func main() { os.Exit(chart.Main(chart.Settings{}, describe)) }
//
//	func describe(app *chart.App) { ... }
//
// It describes and synthesizes an App and writes its files. What is returned is the exit code: 0; 1 if -check found a difference; 2 for
// mistakes. The flags are
//
//	-out DIR         where files are written; dist
//	-layout LAYOUT   chart, app, resource or folder, instead of that of the Settings
//	-only PATTERN    only charts whose path or name matches, with * and ?; files of others stay
//	-check           writes nothing, and says what differs
//	-stdout          writes one stream of YAML to stdout instead
//	-metadata        adds construct-metadata.json
//	-progress json   says what happens as one Event of JSON a line, on stderr; without it in words
func Main(settings Settings, describe func(app *App)) int {
	return Run(Describe(settings, describe))
}

// Run is Main for any Program.
func Run(program Program) int {
	return Command{Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}.Run(program)
}

// Command is a run of a Program with its surroundings.
type Command struct {
	// Args are the flags.
	Args []string
	// Stdout gets YAML, Stderr gets progress and mistakes.
	Stdout, Stderr io.Writer
}

// exit codes of Main.
const (
	exitDone = iota
	exitDiffers
	exitMistake
)

// flags are those of Main.
type flags struct {
	Options
	out, progress string
	check, stdout bool
}

// Run does what Main does.
func (c Command) Run(program Program) int {
	start := time.Now()
	var f flags
	set := flag.NewFlagSet("synth", flag.ContinueOnError)
	set.SetOutput(c.Stderr)
	set.StringVar(&f.out, "out", "dist", "the directory to write `DIR`")
	set.StringVar(&f.Layout, "layout", "", "what has a file of its own: `chart, app, resource or folder`")
	set.StringVar(&f.Only, "only", "", "only charts whose path or name matches the `PATTERN`")
	set.BoolVar(&f.check, "check", false, "write nothing, and say what differs")
	set.BoolVar(&f.stdout, "stdout", false, "write one stream of YAML to stdout")
	set.BoolVar(&f.Metadata, "metadata", false, "add construct-metadata.json")
	set.StringVar(&f.progress, "progress", "", "`json`: events of JSON on stderr")
	if err := set.Parse(c.Args); err != nil {
		return exitMistake
	}
	r := reporter{out: c.Stderr, json: f.progress == "json"}
	if set.NArg() > 0 || (f.progress != "" && !r.json) {
		r.mistake(fmt.Errorf("unknown arguments: %s; see -help", strings.Join(c.Args, " ")))
		return exitMistake
	}
	changes, err := c.synth(program, f, r, start)
	switch {
	case err != nil:
		r.mistake(err)
		return exitMistake
	case f.check && !changes.None():
		return exitDiffers
	}
	return exitDone
}

func (c Command) synth(program Program, f flags, r reporter, start time.Time) (Changes, error) {
	result, files, err := program.Synth(f.Options)
	if err != nil {
		return Changes{}, err
	}
	matching, err := result.Only(f.Only)
	if err != nil {
		return Changes{}, err
	}
	for _, one := range matching.Charts {
		r.chart(one)
	}
	r.findings(result)
	if f.stdout {
		_, err := c.Stdout.Write(matching.YAML())
		return Changes{}, err
	}
	if f.Only != "" {
		if files, err = filesOf(files, matching); err != nil {
			return Changes{}, err
		}
	}
	changes, err := Output{Dir: f.out, Check: f.check, Partial: f.Only != ""}.Write(files)
	if err != nil {
		return Changes{}, err
	}
	r.done(f, changes, matching, time.Since(start))
	return changes, nil
}
