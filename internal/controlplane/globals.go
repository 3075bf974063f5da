package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync"

	"google.golang.org/grpc/grpclog"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/configz"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
)

// process is what the parts of Kubernetes keep once per process: loggers, exits, registries. It is
// set up once, and its lock lets one control plane start at a time.
type process struct {
	starting sync.Mutex
	once     sync.Once

	mu     sync.Mutex
	planes map[*Running]bool
	// documents are those of the first control plane; starting guards them.
	documents *documents
}

// theProcess is the one instance: what it stands for is global in the libraries themselves.
var theProcess = &process{planes: map[*Running]bool{}}

// setUp makes Kubernetes a guest that neither talks nor ends the process.
func (p *process) setUp(logs io.Writer) {
	p.once.Do(func() {
		logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
		if logs == nil {
			logs = io.Discard
		}
		klog.LogToStderr(false)
		klog.SetSlogLogger(slog.New(slog.NewTextHandler(logs, nil)))
		klog.OsExit = p.exit
		grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
		rest.SetDefaultWarningHandler(rest.NoWarnings{})
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
			func(ctx context.Context, err error, msg string, keysAndValues ...any) {
				klog.FromContext(ctx).Error(err, msg, keysAndValues...)
			},
		}
		utilruntime.ReallyCrash = false
	})
}

// exit stands in for os.Exit where Kubernetes would end the process: it reports to every plane,
// since its origin is unknown, and ends only the goroutine.
func (p *process) exit(code int) {
	p.mu.Lock()
	for plane := range p.planes {
		plane.report("kubernetes", fmt.Errorf("it tried to exit with code %d; run with --kubernetes-logs to see why", code))
	}
	p.mu.Unlock()
	runtime.Goexit()
}

func (p *process) add(r *Running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planes[r] = true
}

func (p *process) remove(r *Running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.planes, r)
}

// forget clears registries in which the parts of a second plane would find the names of the first.
func forget() {
	configz.Delete("kubecontrollermanager.config.k8s.io")
	configz.Delete("componentconfig")
	cache.ResetInformerNamesForTesting()
}

var (
	// errStopped is how parts end that were asked to.
	errStopped = errors.New("stopped")
	// errEnded is how a start ends that a part of it has ended.
	errEnded = errors.New("it ended without saying why; run with --kubernetes-logs to see")
)
