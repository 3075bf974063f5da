package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog" //nolint:depguard // what libraries log with it goes nowhere
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/headgate-dev/headgate/internal/guard"
)

const (
	// childName is what a child is called in a list of processes.
	childName = "headgate-render"
	// marker, in the environment, has the binary be a child: the limits of memory and output, in bytes.
	marker = "HEADGATE_RENDER"
)

// environment is that of a child: times in templates are those of the same place.
func environment(l Limits) []string {
	env := []string{fmt.Sprintf("%s=%d,%d", marker, l.Memory, l.Output)}
	if zone, is := os.LookupEnv("TZ"); is {
		env = append(env, "TZ="+zone)
	}
	return env
}

// isChild reports whether this process was started as a child. One that does not serve must not start others.
func isChild() bool {
	_, is := os.LookupEnv(marker)
	return is
}

// Serve makes this process a child, if it was started as one, and returns its exit code when it has served. It has to be called
// before anything else. jobs are all that there are.
func Serve(jobs ...Job) (code int, is bool) {
	value, is := os.LookupEnv(marker)
	if !is {
		return 0, false
	}
	memory, output, ok := limitsOf(value)
	if !ok {
		return 2, true
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	in, out, fatal := os.Stdin, os.Stdout, os.Stderr
	// Without a reference the file would be closed, into which the runtime prints why the process ends.
	defer runtime.KeepAlive(fatal)
	// What libraries print must not be taken for an answer, nor for why the process ended.
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		os.Stdin, os.Stdout, os.Stderr = null, null, null
	}
	log.SetOutput(io.Discard)
	slog.SetDefault(slog.New(slog.DiscardHandler))
	confine(memory)
	s := &server{out: out, jobs: jobs, output: output, memory: memory, answers: make(chan answer)}
	return s.serve(bufio.NewReader(in)), true
}

func limitsOf(value string) (memory, output int64, ok bool) {
	first, second, _ := strings.Cut(value, ",")
	memory, err := strconv.ParseInt(first, 10, 64)
	output, errOutput := strconv.ParseInt(second, 10, 64)
	return memory, output, err == nil && errOutput == nil && memory > 0
}

// confine bounds what this process allocates.
func confine(memory int64) {
	const lazy = 400
	debug.SetGCPercent(lazy)
	debug.SetMemoryLimit(memory)
	debug.SetMaxStack(maxStack)
	debug.SetTraceback("none")
	limitData(memory)
}

// server is the other end of the pipes, in a child.
type server struct {
	jobs           []Job
	memory, output int64
	answers        chan answer

	mu  sync.Mutex
	out io.Writer
}

type answer struct {
	data []byte
	err  error
}

// serve runs jobs until no more can come. It then returns, whether a job is running or not.
func (s *server) serve(in io.Reader) int {
	for {
		kind, said, err := receive(in, maxInput+headSize)
		if err != nil {
			return 0
		}
		switch kind {
		case frameJob:
			if s.send(frameBegun, nil) != nil {
				return 0
			}
			go s.run(said)
		case frameAnswer:
			s.answers <- answer{data: said}
		case frameDenied:
			s.answers <- answer{err: errors.New(string(said))}
		default:
			return 2
		}
	}
}

// Ask asks who ordered the job.
func (s *server) Ask(question []byte) ([]byte, error) {
	if err := s.send(frameAsk, question); err != nil {
		return nil, err
	}
	a := <-s.answers
	return a.data, a.err
}

func (s *server) send(kind byte, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return send(s.out, kind, payload)
}

// run runs one job and sends what it gives. If that cannot be sent, the process that reads it has ended.
func (s *server) run(payload []byte) {
	var o order
	if err := Decode(payload, &o); err != nil {
		_ = s.send(frameFailed, []byte(err.Error()))
		return
	}
	for _, job := range s.jobs {
		if job.Name() != o.Job {
			continue
		}
		out, err := guarded(job, o.Input, s)
		switch {
		case err != nil:
			_ = s.send(frameFailed, clipped(err.Error()))
		case int64(len(out)) > s.output:
			_ = s.send(frameLarge, nil)
		case used() > s.memory/2:
			_ = s.send(frameLast, out)
		default:
			_ = s.send(frameDone, out)
		}
		return
	}
	_ = s.send(frameFailed, []byte("no job has the name "+o.Job))
}

// clipped is the text of an error as far as people read it.
func clipped(text string) []byte {
	const most = 64 << 10
	return []byte(text[:min(len(text), most)])
}

// guarded runs a job whose panics are errors.
func guarded(job Job, input []byte, asking Asker) (out []byte, err error) {
	err = guard.Catch(func() error {
		var err error
		out, err = job.Run(input, asking)
		return err
	})
	return out, err
}

// used is the memory that the runtime holds.
func used() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()) //nolint:gosec // memory is no more than that
}
