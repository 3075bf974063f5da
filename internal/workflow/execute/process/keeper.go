package process

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/guard"
)

// keep is a keeper: it starts a program, keeps what it prints, and records how it ended. It does not end with the engine.
func keep() int {
	// What ends with its parent ends with the thread that started it.
	runtime.LockOSThread()
	for _, fd := range []int{jobFile, secondFile, thirdFile} {
		syscall.CloseOnExec(fd)
	}
	signal.Ignore(os.Interrupt, syscall.SIGHUP, syscall.SIGPIPE)
	j, err := receiveJob()
	if err != nil {
		return exitUsage
	}
	k := &keeper{job: j, began: time.Now(), ends: make(chan os.Signal, 1)}
	// From here on a request to end is not missed.
	signal.Notify(k.ends, syscall.SIGTERM)
	if !k.begin() {
		return exitUsage
	}
	alive := os.NewFile(thirdFile, pipeFile)
	defer alive.Close()
	_, _ = alive.Write([]byte{1})
	o := k.run()
	o.StartedAt, o.FinishedAt = k.began, time.Now()
	if writeJSON(filepath.Join(j.Dir, outcomeFile), o) != nil {
		return exitUsage
	}
	return exitDone
}

type keeper struct {
	job   *job
	began time.Time
	ends  chan os.Signal
	inner *exec.Cmd
}

// begin records that the execution begins. There was none before.
func (k *keeper) begin() bool {
	data, err := json.Marshal(begun{PID: os.Getpid(), At: k.began})
	if err != nil {
		return false
	}
	name := filepath.Join(k.job.Dir, begunFile)
	temp, err := written(name, data)
	if err != nil {
		return false
	}
	defer os.Remove(temp)
	// A link replaces nothing.
	return os.Link(temp, name) == nil
}

// stopped is why the execution is to end; empty if it is not.
func (k *keeper) stopped() string {
	var why stopping
	if readJSON(filepath.Join(k.job.Dir, stopFile), &why) != nil {
		return ""
	}
	return why.Reason
}

// run runs the program to its end.
func (k *keeper) run() outcome {
	if why := k.stopped(); why != "" {
		return outcome{Stopped: why}
	}
	log, err := openLog(k.job)
	if err != nil {
		return failed("keeping what it prints: " + err.Error())
	}
	defer log.close()
	files, err := k.start(log)
	if err != nil {
		return failed("starting a process: " + err.Error())
	}
	reports := make(chan report, 1)
	go func() {
		_ = guard.Catch(func() error {
			var r report
			if json.NewDecoder(files.report).Decode(&r) != nil {
				close(reports)
				return nil
			}
			reports <- r
			return nil
		})
	}()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = guard.Catch(k.inner.Wait)
	}()
	why := k.watch(over)
	alone := k.job.Ability.Reason == ""
	if !alone {
		k.kill()
	}
	log.drained(alone)
	r, complete := <-reports
	o := outcome{report: r, Stopped: why, Lost: !complete}
	if k.job.Result {
		o.Result = log.result()
	}
	log.hide(&o)
	return o
}

func failed(reason string) outcome { return outcome{report: report{Setup: reason}} }

// innerFiles are our ends of the pipes to what is inside.
type innerFiles struct{ report *os.File }

// start starts what is inside.
func (k *keeper) start(log *journal) (*innerFiles, error) {
	jobRead, jobWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, err := log.pipe(true)
	if err != nil {
		return nil, err
	}
	errs, err := log.pipe(false)
	if err != nil {
		return nil, err
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil || self == "" {
		self, err = os.Executable()
	}
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat("/proc/self/exe"); err == nil {
		self = "/proc/self/exe"
	}
	k.inner = exec.Command(self) //nolint:gosec,noctx // it is this binary, and it ends as its keeper says
	k.inner.Args = []string{"headgate-step"}
	k.inner.Env = []string{marker + "=" + roleInside}
	k.inner.Dir = "/"
	k.inner.Stdout, k.inner.Stderr = out, errs
	k.inner.ExtraFiles = []*os.File{jobRead, reportWrite}
	k.inner.SysProcAttr = k.job.Ability.inner()
	if err := k.inner.Start(); err != nil {
		return nil, err
	}
	for _, theirs := range []*os.File{jobRead, reportWrite, out, errs} {
		theirs.Close()
	}
	// It reads all of it before it does anything.
	err = errors.Join(json.NewEncoder(jobWrite).Encode(k.job), jobWrite.Close())
	if err != nil {
		_ = k.inner.Process.Kill()
	}
	return &innerFiles{reportRead}, nil
}

// watch waits for the end, and brings it about: on request, at the deadline, and when the directory is gone, since no one wants the
// outcome then. It returns why.
func (k *keeper) watch(over <-chan struct{}) (why string) {
	const look = 2 * time.Second
	var deadline, grace <-chan time.Time
	insisted := false
	if !k.job.Deadline.IsZero() {
		timer := time.NewTimer(time.Until(k.job.Deadline))
		defer timer.Stop()
		deadline = timer.C
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	end := func(reason string) {
		if why != "" {
			return
		}
		why = reason
		_ = k.inner.Process.Signal(syscall.SIGTERM)
		grace = time.NewTimer(k.job.Limits.Grace).C
	}
	for {
		select {
		case <-over:
			return why
		case <-k.ends:
			if reason := k.stopped(); reason != "" {
				end(reason)
			}
		case <-deadline:
			end("Step exceeded its deadline")
		case <-grace:
			if insisted {
				k.kill()
				continue
			}
			// The second request has the program killed, and its exit code reported.
			insisted = true
			_ = k.inner.Process.Signal(syscall.SIGTERM)
			grace = time.NewTimer(look).C
		case <-tick.C:
			if _, err := os.Lstat(k.job.Dir); errors.Is(err, os.ErrNotExist) {
				k.kill()
			}
		}
	}
}

// kill ends everything inside. Without namespaces, that is its group.
func (k *keeper) kill() {
	_ = syscall.Kill(-k.inner.Process.Pid, syscall.SIGKILL)
	_ = k.inner.Process.Kill()
}
