package wrapper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/guard"
)

const (
	// longestResult is how much of what a program prints is a result.
	longestResult = 256 << 10
	// drain is how long what was printed is read after the end of the program, if others have its output open.
	drain = 5 * time.Second
)

// run runs the program, and reports its outputs. The exit code is that of the program, unless there is none.
func run(dir, message string, args []string) int {
	task, err := readTask(dir)
	if err != nil {
		return failed(message, err)
	}
	code, printed, err := execute(task, args)
	report := &Report{}
	if err == nil && task.HasOutputs() {
		report, err = collect(dir, task, printed, code == 0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		report = &Report{Error: err.Error()}
		code = OwnFailure
	} else if !task.HasOutputs() {
		return code
	}
	if err := leave(dir, message, report, task.Room); err != nil {
		return failed(message, err)
	}
	return code
}

func readTask(dir string) (*Task, error) {
	text, err := os.ReadFile(filepath.Join(dir, taskFile))
	if err != nil {
		return nil, fmt.Errorf("reading what to run: %w", err)
	}
	task := &Task{}
	return task, unpack(string(text), task)
}

// execute runs the program until its end, with the signals that are sent to this process. What it prints is returned if it is a result.
func execute(task *Task, args []string) (code int, printed []byte, err error) {
	if len(args) < 2 || args[0] != "--" {
		return 0, nil, errors.New("there is no program to run")
	}
	if len(withoutSecrets(os.Environ())) < len(os.Environ()) {
		if err := conceal(); err != nil {
			return 0, nil, fmt.Errorf("keeping Secrets from the program: %w", err)
		}
	}
	program := exec.Command(args[1], args[2:]...) //nolint:gosec,noctx // that is what the template declares; it ends by signals
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	program.Env, program.WaitDelay = withoutSecrets(os.Environ()), drain
	result := &beginning{limit: longestResult}
	if task.Result {
		program.Stdout = io.MultiWriter(os.Stdout, result)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := program.Start(); err != nil {
		return 0, nil, fmt.Errorf("starting the program: %w", err)
	}
	ended := make(chan struct{})
	go func() { _ = guard.Catch(func() error { return forward(program.Process, signals, ended) }) }()
	// A failure is in the state, and what has the output open after the end is of no interest.
	_ = program.Wait()
	close(ended)
	return exitCode(program.ProcessState), result.data.Bytes(), nil
}

// forward sends a program the signals that this process gets, until it has ended.
func forward(program *os.Process, signals <-chan os.Signal, ended <-chan struct{}) error {
	for {
		select {
		case one := <-signals:
			_ = program.Signal(one) // it may have ended
		case <-ended:
			return nil
		}
	}
}

// exitCode is the one that a shell would give.
func exitCode(state *os.ProcessState) int {
	const bySignal = 128
	if status, is := state.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return bySignal + int(status.Signal())
	}
	return state.ExitCode()
}

// leave reports: in the termination message, or by the container that prints what has no room there.
func leave(dir, message string, report *Report, room int) error {
	text, printed, err := report.message(room)
	if err != nil {
		return err
	}
	if printed != "" {
		if err := writeTo(filepath.Join(dir, reportFile), 0o644, strings.NewReader(printed)); err != nil {
			return err
		}
		if err := awaitPrinter(filepath.Join(dir, readyFile)); err != nil {
			return err
		}
	}
	return os.WriteFile(message, []byte(text), 0o666) //nolint:gosec // the file is that of the container
}

// awaitPrinter waits until the container that prints a report is there to be notified of the end of this one.
func awaitPrinter(ready string) error {
	const interval, longest = 50 * time.Millisecond, time.Minute
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	late := time.After(longest)
	for {
		if _, err := os.Stat(ready); err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-late:
			return fmt.Errorf("the container that prints large outputs did not start within %s", longest)
		}
	}
}

// printReport prints a report, if there is one, at the end of the program's container.
func printReport(dir string, out io.Writer) error {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	if err := writeTo(filepath.Join(dir, readyFile), 0o644, strings.NewReader("")); err != nil {
		return err
	}
	<-ends
	text, err := os.ReadFile(filepath.Join(dir, reportFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const line = 4000
	for len(text) > 0 {
		n := min(line, len(text))
		if _, err := fmt.Fprintf(out, "%s\n", text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// beginning keeps the beginning of what is written to it.
type beginning struct {
	data  bytes.Buffer
	limit int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.data.Write(p[:min(len(p), max(0, b.limit-b.data.Len()))])
	return len(p), nil
}
