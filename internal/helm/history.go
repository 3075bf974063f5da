package helm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fluxcd/pkg/chartutil"
	"github.com/opencontainers/go-digest"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/helm/plan"
)

// longestName is the longest name that Helm gives a release, in bytes.
const longestName = 53

// ReleaseName shortens a name that is too long for a release, as Flux does: its first 40 bytes, a dash,
// and 12 hexadecimal digits of its sha256.
func ReleaseName(name string) string {
	if len(name) <= longestName {
		return name
	}
	const head, digits = 40, 12
	sum := sha256.Sum256([]byte(name))
	return name[:head] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// History returns what the storage holds of a release, the newest revision first; nothing when there
// is no release of the name. What was recorded of its revisions before reports which artifact a chart
// came from; that goes into the digest, and Helm does not know it.
func (c *Client) History(ctx context.Context, name string, recorded ...plan.Snapshot) ([]plan.Snapshot, error) {
	releases, err := c.releases(ctx, name)
	if err != nil {
		return nil, err
	}
	out := make([]plan.Snapshot, len(releases))
	for i, r := range releases {
		out[i] = snapshot(r)
		for _, known := range recorded {
			if known.Version == r.Version && known.OCIDigest != "" {
				out[i].OCIDigest, out[i].Digest = known.OCIDigest, digestOf(r, known.OCIDigest)
			}
		}
	}
	return out, nil
}

// releases reads the records of a release, the newest first.
func (c *Client) releases(ctx context.Context, name string) ([]*releasev1.Release, error) {
	if known, remembered := c.known[name]; remembered {
		return known, nil
	}
	releases, err := c.read(ctx, name)
	if err == nil && c.known != nil {
		c.known[name] = releases
	}
	return releases, err
}

// forget drops what is remembered of a release.
func (c *Client) forget(name string) { delete(c.known, name) }

func (c *Client) read(ctx context.Context, name string) ([]*releasev1.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := c.store().History(name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history of release %s/%s: %w", c.namespace, name, err)
	}
	releases := make([]*releasev1.Release, 0, len(found))
	for _, f := range found {
		if r, ok := f.(*releasev1.Release); ok {
			releases = append(releases, r)
		}
	}
	slices.SortFunc(releases, func(a, b *releasev1.Release) int { return b.Version - a.Version })
	return releases, nil
}

// Labelled returns the last revision of every release whose objects carry labels, except of those that
// are uninstalled.
func (c *Client) Labelled(ctx context.Context, labels map[string]string) ([]plan.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := c.store().ListReleases()
	if err != nil {
		return nil, fmt.Errorf("reading the releases in namespace %q: %w", c.namespace, err)
	}
	last := map[string]*releasev1.Release{}
	for _, f := range found {
		r, ok := f.(*releasev1.Release)
		if ok && (last[r.Name] == nil || last[r.Name].Version < r.Version) {
			last[r.Name] = r
		}
	}
	var out []plan.Snapshot
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if r := last[name]; r.Info.Status != common.StatusUninstalled && carries(r, labels) {
			out = append(out, snapshot(r))
		}
	}
	return out, nil
}

// carries reports whether an object or a hook of a release has labels.
func carries(r *releasev1.Release, labels map[string]string) bool {
	content, err := rendered(r)
	if err != nil {
		return false
	}
	objects := content.Objects
	for _, h := range content.Hooks {
		objects = append(objects, h.Object)
	}
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool {
		have := o.GetLabels()
		for key, value := range labels {
			if have[key] != value {
				return false
			}
		}
		return true
	})
}

// Unlock marks a release as failed whose last action never ended, so that another one can begin. It
// reports whether there was anything to do. The caller knows that the action is no longer in progress.
func (c *Client) Unlock(ctx context.Context, name string) (plan.Snapshot, bool, error) {
	return c.mark(ctx, name, func(r *releasev1.Release) (string, bool) {
		return fmt.Sprintf("Release unlocked from stale '%s' state", r.Info.Status), unfinished(r)
	})
}

// Fail marks the last revision as failed, for a reason that shows in helm status: the objects did not
// become healthy. It reports whether there was anything to do.
func (c *Client) Fail(ctx context.Context, name, reason string) (plan.Snapshot, bool, error) {
	return c.mark(ctx, name, func(r *releasev1.Release) (string, bool) {
		return fmt.Sprintf("Release %q failed: %s", r.Name, reason), r.Info.Status == common.StatusDeployed
	})
}

func (c *Client) mark(ctx context.Context, name string, judge func(*releasev1.Release) (string, bool)) (plan.Snapshot, bool, error) {
	done, err := c.turns.take(ctx, c.namespace+"/"+name)
	if err != nil {
		return plan.Snapshot{}, false, err
	}
	defer done()
	defer c.forget(name)
	store := c.store()
	last, err := lastOf(store, name)
	if err != nil {
		return plan.Snapshot{}, false, fmt.Errorf("reading release %s/%s: %w", c.namespace, name, err)
	}
	reason, due := judge(last)
	if due {
		err = fail(store, last, reason)
	}
	return snapshot(last), due && err == nil, err
}

// unfinished reports whether an action on a release has begun and not ended.
func unfinished(r *releasev1.Release) bool {
	return r.Info.Status.IsPending() || r.Info.Status == common.StatusUninstalling
}

func fail(s *storage.Storage, r *releasev1.Release, reason string) error {
	r.SetStatus(common.StatusFailed, reason)
	if err := s.Update(r); err != nil {
		return fmt.Errorf("recording that revision %d of release %q failed: %w", r.Version, r.Name, err)
	}
	return nil
}

// snapshot is the reported state of a release, without its values.
func snapshot(r *releasev1.Release) plan.Snapshot {
	s := plan.Snapshot{
		Digest: digestOf(r, ""), Name: r.Name, Namespace: r.Namespace, Version: r.Version,
		ConfigDigest: chartutil.DigestValues(digest.SHA256, r.Config).String(),
		TestHooks:    testsOf(r),
	}
	if r.Info != nil {
		s.Status = string(r.Info.Status)
		s.FirstDeployed, s.LastDeployed, s.Deleted = r.Info.FirstDeployed, r.Info.LastDeployed, r.Info.Deleted
		s.Description = r.Info.Description
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		m := r.Chart.Metadata
		s.ChartName, s.ChartVersion, s.AppVersion = m.Name, m.Version, m.AppVersion
	}
	return s
}

// testsOf are the tests that ran, nil when none has.
func testsOf(r *releasev1.Release) map[string]plan.TestHook {
	var tests map[string]plan.TestHook
	ran := false
	for _, h := range r.Hooks {
		if !slices.Contains(h.Events, releasev1.HookTest) {
			continue
		}
		if tests == nil {
			tests = map[string]plan.TestHook{}
		}
		tests[h.Name] = plan.TestHook{Phase: string(h.LastRun.Phase), Started: h.LastRun.StartedAt, Completed: h.LastRun.CompletedAt}
		ran = ran || !h.LastRun.StartedAt.IsZero()
	}
	if !ran {
		return nil
	}
	return tests
}

// digested are the parts of a release that helm-controller digests, in the order and under the names
// in which it writes them as JSON.
type digested struct {
	Name      string           `json:"name"`
	Version   int              `json:"version"`
	Info      releasev1.Info   `json:"info"`
	Metadata  chartv2.Metadata `json:"chartMetadata"`
	Config    map[string]any   `json:"config"`
	Manifest  string           `json:"manifest"`
	Hooks     []releasev1.Hook `json:"hooks"`
	Namespace string           `json:"namespace"`
	OCIDigest string           `json:"ociDigest,omitempty"`
}

// digestOf is the digest of a release as helm-controller records it in status.history: tests do not
// count, nor does the chart beyond its metadata. The last argument is the digest of the artifact that
// the chart came from, empty when that was none.
func digestOf(r *releasev1.Release, ociDigest string) string {
	d := digested{Name: r.Name, Version: r.Version, Manifest: r.Manifest, Namespace: r.Namespace, OCIDigest: ociDigest}
	if r.Info != nil {
		d.Info = *r.Info
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		d.Metadata = *r.Chart.Metadata
	}
	if len(r.Config) > 0 {
		d.Config = r.Config
	}
	for _, h := range r.Hooks {
		if !slices.Contains(h.Events, releasev1.HookTest) {
			d.Hooks = append(d.Hooks, *h)
		}
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode(d); err != nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}
