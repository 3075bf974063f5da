package flux

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/source"
)

// RewritesName is the ConfigMap in Namespace whose lines, of all its keys, send fetches elsewhere: each is
// a rule FROM=TO, blank, or a comment that begins with "#". Those of the command line go before it.
const RewritesName = dialect.RewritesName

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// watchRewrites follows the ConfigMap of rewrites.
func (e *Engine) watchRewrites(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error {
		return e.cluster.WatchOne(ctx, configMaps, Namespace, RewritesName, cluster.Sink{
			Put:     e.putRewrites,
			Dropped: func(*unstructured.Unstructured) { e.sources.setRewrites(e.Rewrites) },
		})
	})
}

// putRewrites takes the rules of the ConfigMap. When one cannot be read, all stay as they were.
func (e *Engine) putRewrites(u *unstructured.Unstructured) {
	given, err := declared.Read[corev1.ConfigMap](u)
	var rules source.Rewrites
	if err == nil {
		rules, err = e.Rewrites.With(ruleLines(given.Data))
	}
	if err != nil {
		text := fmt.Sprintf("the previous rules stay in effect: %s", err)
		e.Log.Info("rewrites are invalid", "object", engine.IDOf(u).String(), "error", text)
		e.sources.events.emit(u, corev1.EventTypeWarning, "RewritesIllegible", text, nil)
		return
	}
	e.sources.setRewrites(rules)
}

func ruleLines(data map[string]string) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for line := range strings.Lines(data[key]) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// setRewrites sends fetches elsewhere from now on; what is fetched from another place now is fetched again.
func (s *sources) setRewrites(rules source.Rewrites) {
	before := s.rewrites.Swap(&rules)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.feeds {
		o := f.current()
		if o == nil {
			continue
		}
		// What a chart or a bucket is fetched from is not told by its own object alone.
		if address := o.address(); address == "" || before == nil || before.Apply(address) != rules.Apply(address) {
			f.nudge()
		}
	}
}

// rewriting are the rules of now.
func (s *sources) rewriting() source.Rewrites {
	if rules := s.rewrites.Load(); rules != nil {
		return *rules
	}
	return source.Rewrites{}
}
