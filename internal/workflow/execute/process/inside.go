package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
)

// inside is the process that starts a program, in namespaces where there are any, and takes its outputs when it has ended.
func inside() int {
	// What is dropped is dropped by a thread.
	runtime.LockOSThread()
	syscall.CloseOnExec(jobFile)
	syscall.CloseOnExec(secondFile)
	signal.Ignore(os.Interrupt, syscall.SIGHUP)
	j, err := receiveJob()
	if err != nil {
		return exitUsage
	}
	to := os.NewFile(secondFile, "report")
	r := j.execute()
	if json.NewEncoder(to).Encode(r) != nil {
		return exitUsage
	}
	return exitDone
}

// execute runs the program of the job, if it has one.
func (j *job) execute() report {
	packed, err := os.OpenRoot(filepath.Join(j.Dir, outDir))
	if err != nil {
		return report{Setup: err.Error()}
	}
	defer func() { _ = packed.Close() }()
	if err := j.enter(); err != nil {
		return report{Setup: err.Error()}
	}
	if err := j.restrain(); err != nil {
		return report{Setup: err.Error()}
	}
	if len(j.Command) == 0 {
		return report{}
	}
	program, err := j.find()
	if err != nil {
		return report{Setup: err.Error(), Missing: true}
	}
	r, err := j.start(program)
	if err != nil {
		return report{Setup: err.Error(), Missing: true}
	}
	j.collect(&r, packed)
	return r
}

// find searches for the program.
func (j *job) find() (string, error) {
	command := j.Command[0]
	if strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			command = filepath.Join(j.Cwd, command)
		}
		if executable(command) {
			return command, nil
		}
		return "", errors.New(missing(j))
	}
	for _, dir := range j.Search {
		if file := filepath.Join(dir, command); filepath.IsAbs(file) && executable(file) {
			return file, nil
		}
	}
	return "", errors.New(missing(j))
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// start runs the program to its end, and everything that it started.
func (j *job) start(program string) (report, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return report{}, err
	}
	defer null.Close()
	if info, err := os.Stat(j.Cwd); err != nil || !info.IsDir() {
		return report{}, fmt.Errorf("workingDir %q is not a directory of this machine, and none of the paths that the template declares", j.Cwd)
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	alone := j.Ability.Reason == ""
	pid, err := syscall.ForkExec(program, j.Command, &syscall.ProcAttr{
		Dir: j.Cwd, Env: j.Env, Files: []uintptr{null.Fd(), 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: alone},
	})
	if err != nil {
		return report{}, fmt.Errorf("command %s cannot be executed on this machine: %w", quoted(j.Command[0]), err)
	}
	go func() {
		for signal := syscall.SIGTERM; ; signal = syscall.SIGKILL {
			<-ends
			if alone {
				_ = syscall.Kill(-pid, signal)
			}
			_ = syscall.Kill(pid, signal)
		}
	}()
	status := await(pid)
	if alone {
		// We are the first process in here: these are all others.
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
	r := report{Code: status.ExitStatus()}
	if status.Signaled() {
		const signaled = 128
		r.Signal = int(status.Signal())
		r.Code = signaled + r.Signal
	}
	return r, nil
}

// await waits for a process, and for those that it has left behind.
func await(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return status
		case ended == pid && (status.Exited() || status.Signaled()):
			return status
		}
	}
}

// collect takes the outputs. What a program that failed did not write is not missed.
func (j *job) collect(r *report, packed *os.Root) {
	r.Parameters = map[string]string{}
	for _, p := range j.Parameters {
		if p.ValueFrom == nil || p.ValueFrom.Path == "" {
			continue
		}
		value, err := readParameter(j.path(p.ValueFrom.Path), j.Limits.Parameter)
		switch {
		case err == nil:
			r.Parameters[p.Name] = value
		case p.ValueFrom.Default != nil && errors.Is(err, fs.ErrNotExist):
			r.Parameters[p.Name] = p.ValueFrom.Default.String()
		default:
			r.miss("outputs.parameters.%s: %w", p.Name, err)
		}
	}
	for i, a := range j.Artifacts {
		err := pack(packed, fmt.Sprint(i), j.path(a.Path), a.Archive)
		switch {
		case err == nil:
			r.Artifacts = append(r.Artifacts, a.Name)
		case a.Optional && errors.Is(err, fs.ErrNotExist):
		default:
			r.miss("outputs.artifacts.%s: %w", a.Name, err)
		}
	}
}

func (j *job) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(j.Cwd, path)
}

func (r *report) miss(format string, args ...any) {
	if r.Problem == "" {
		r.Problem = fmt.Errorf(format, args...).Error()
	}
}

// readParameter reads a value, without its last line break.
func readParameter(file string, limit int) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%q is not a file", file)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+2))
	if err != nil {
		return "", err
	}
	value := strings.TrimSuffix(string(data), "\n")
	if len(value) > limit {
		return "", fmt.Errorf("%q has more than %d bytes; use an artifact for what is larger", file, limit)
	}
	return strings.ToValidUTF8(value, "\uFFFD"), nil
}

// pack packs an artifact.
func pack(into *os.Root, name, path string, strategy *v1alpha1.ArchiveStrategy) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	f, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(artifacts.Pack(f, path, strategy), f.Close())
}

// quoted is a name in a message.
func quoted(text string) string { return fmt.Sprintf("%q", text) }
