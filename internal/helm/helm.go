// Package helm does what a release of Helm needs: charts, values, installs, upgrades, rollbacks, tests,
// history and drift, by the Helm SDK. Releases are stored as Helm stores them, in Secrets of type
// helm.sh/release.v1, so that the helm command reads them.
//
// It knows no dialect, it does not decide what is done next (see plan), and it does not wait for
// health: of what an action applies only hooks are waited for. Values may be secret. They are in no
// log, and those that came from a secret layer are in no error.
package helm

import (
	"io"
	"log"
	"runtime"
	"strings"
	"sync"

	"helm.sh/helm/v4/pkg/kube"
)

// FieldManager is the field manager of everything that a Client writes. It is that of Flux's
// helm-controller, so that objects which that one applied are ours without a conflict.
const FieldManager = "helm-controller"

// process is what Helm keeps once per process.
var process sync.Once

// setUp makes Helm a guest: it writes under our name, and it does not talk. Loggers that can be given
// to it are; some of its functions know the standard ones only, and print values with them.
func setUp() {
	process.Do(func() {
		kube.ManagedFieldsManager = FieldManager
		log.SetOutput(deaf{log.Writer()})
	})
}

// deaf is a writer that does not hear what Helm says. The default loggers of log and log/slog write in
// the goroutine of the caller, which is how it is known who speaks.
type deaf struct{ next io.Writer }

// Write forwards what does not come from Helm.
func (d deaf) Write(p []byte) (int, error) {
	const deepest = 64
	callers := make([]uintptr, deepest)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "helm.sh/helm/") {
			return len(p), nil
		}
		if !more {
			return d.next.Write(p)
		}
	}
}
