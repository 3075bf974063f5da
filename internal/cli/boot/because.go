package boot

import (
	"context"
	"slices"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/below"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Bounds of what is said of the workloads that units wait for: how many, and how long the cluster is asked.
const (
	maxBecause     = 3
	becauseTimeout = 5 * time.Second
)

// because says what is wrong below workloads that units wait for, a line each: the Pod, the claim or the event at the end.
func (s *system) because(ctx context.Context, states []runner.State) []string {
	ctx, cancel := context.WithTimeout(ctx, becauseTimeout)
	defer cancel()
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		return nil
	}
	reader := below.New(client)
	var lines []string
	for _, id := range awaited(states) {
		// That a cluster cannot be asked is no news here: the units say so.
		f, ill, err := reader.Of(ctx, id)
		if err != nil || !ill || len(f.Below) == 0 {
			continue
		}
		for len(f.Below) > 0 {
			f = f.Below[0]
		}
		if line := "    " + f.ID.String() + ": " + console.OneLine(f.Text); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if len(lines) == maxBecause {
			break
		}
	}
	return lines
}

// awaited are the objects of the home cluster that units wait for which are not ready.
func awaited(states []runner.State) []engine.ObjectID {
	var ids []engine.ObjectID
	for _, st := range states {
		if st.Ready || st.Suspended {
			continue
		}
		for _, w := range st.Waits {
			if id, is := w.On.(engine.ObjectID); is && id.Cluster == "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
