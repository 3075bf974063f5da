package migration

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/flux/sources"
)

// fetchTime bounds how long the other controllers of Flux wait until source-controller has fetched what Headgate served.
const fetchTime = time.Minute

// artifacts are the addresses of the artifacts in the cluster, by the names of their sources. Suspended sources are left out: nothing fetches them
// before they are resumed.
func (m *Migration) artifacts(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	if m.of != Flux {
		return all, nil
	}
	for _, resource := range sources.FetchedResources() {
		list, err := m.dynamic.Resource(resource).List(ctx, metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			address, _, _ := unstructured.NestedString(u.Object, "status", "artifact", "url")
			if address != "" && !sources.Suspended(u) {
				all[u.GetKind()+"/"+u.GetNamespace()+"/"+u.GetName()] = address
			}
		}
	}
	return all, nil
}

// fetched waits until source-controller runs and no source names an artifact where Headgate served it: what starts before that fetches from an address
// that is gone, and tries again minutes later. Sources that cannot be fetched are named, and the others go on without them.
func (m *Migration) fetched(ctx context.Context, d Controller, ours map[string]string) error {
	if err := m.running(ctx, d); err != nil {
		return err
	}
	waiting := map[string]bool{}
	bounded, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	err := m.until(bounded, "source-controller to fetch what Headgate served", func() (bool, error) {
		now, err := m.artifacts(ctx)
		if err != nil {
			return false, err
		}
		clear(waiting)
		for name, address := range now {
			if ours[name] == address {
				waiting[name] = true
			}
		}
		return len(waiting) == 0, nil
	})
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		m.say("not fetched", strings.Join(slices.Sorted(maps.Keys(waiting)), ", ")+": flux get sources all -A says why")
		return nil
	}
	return err
}
