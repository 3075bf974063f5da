// Package wrapper is what runs inside the pods of workflows, as a hidden command of this binary: an init container that lays out inputs and the binary, the
// command around the program of the template, which collects its outputs, and a container that prints outputs which are too large for a termination message.
//
// It needs no permission in the cluster: what it reports is read from the status of the pod, and from the log of that container. It refuses to send
// requests but for the inputs that a template declares.
package wrapper

import (
	"fmt"
	"io"
	"os"
)

// Command is the hidden command; the part that is meant follows it.
const Command = "workflow-pod"

// The parts of the command. Each is followed by the directory that the containers share, and by the file of the termination message; Run by "--" and
// the program, too.
const (
	Prepare = "prepare"
	Run     = "run"
	Print   = "print"
)

// Where things are, in the directory that the containers share.
const (
	// Binary is a copy of this one: the image of the program has none.
	Binary = "headgate"
	// Staging has the source of a script, in the file ScriptFile.
	Staging    = "staging"
	ScriptFile = "script"
	// Inputs has the artifacts of the template, by name.
	Inputs = "inputs"

	taskFile   = "task"
	reportFile = "report"
	readyFile  = "ready"
)

// OwnFailure is the exit code of the command itself: the program was not started, or its outputs were not collected.
const OwnFailure = 64

// Serve carries out the command if the arguments of the process are those of it, and returns the exit code.
func Serve(args []string) (code int, is bool) {
	const fewest = 5
	if len(args) < 2 || args[1] != Command {
		return 0, false
	}
	if len(args) < fewest {
		fmt.Fprintf(os.Stderr, "%s: it runs inside the pods of workflows only\n", Command)
		return OwnFailure, true
	}
	part, dir, message := args[2], args[3], args[4]
	switch part {
	case Prepare:
		if err := prepare(dir); err != nil {
			return failed(message, err), true
		}
		return 0, true
	case Print:
		if err := printReport(dir, os.Stdout); err != nil {
			return failed(message, err), true
		}
		return 0, true
	case Run:
		return run(dir, message, args[fewest:]), true
	default:
		return failed(message, fmt.Errorf("%s: unknown part %q", Command, part)), true
	}
}

// failed leaves the reason of a failure where the status of the pod shows it.
func failed(message string, err error) int {
	fmt.Fprintln(os.Stderr, err)
	// The log has it in any case.
	_ = os.WriteFile(message, []byte(err.Error()), 0o666) //nolint:gosec // the file is that of the container
	return OwnFailure
}

// writeTo creates a file that programs of any user may change: it is seen by this pod alone.
func writeTo(path string, mode os.FileMode, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, from); err != nil {
		file.Close()
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := file.Close(); err != nil {
		return err
	}
	// Whatever the umask of the image is.
	return os.Chmod(path, mode)
}
