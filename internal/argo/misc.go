package argo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// tracking marks the objects of an Application.
func (e *Engine) tracking(a *app) differences.Tracking {
	t := e.settings.now().Tracking
	return differences.Tracking{
		Method: t.Method, LabelKey: t.LabelKey, InstallationID: t.InstallationID,
		AppName: differences.InstanceName(a.id.Namespace, a.id.Name, e.options.Namespace), Namespace: a.now().Spec.Destination.Namespace,
	}
}

// mark marks a hook; one whose name is too long for a label goes without.
func (e *Engine) mark(t differences.Tracking, u *unstructured.Unstructured) {
	if err := t.Mark(u); err != nil {
		e.observe(engine.IDOf(u).String(), err.Error())
	}
}

// duplicates warns of objects that stand more than once in what was rendered: in the same words, or only once it is known
// that their kind has no namespace.
func (d *driver) duplicates(a *app, w runner.Work, c *comparison) {
	times := maps.Clone(w.Repeated)
	if times == nil {
		times = map[engine.ObjectID]int{}
	}
	if a.job.rendered != nil {
		for id, n := range a.job.rendered.Duplicates {
			id.Cluster = c.cluster
			if o := c.named(id, a.now().Spec.Destination.Namespace); o != nil {
				id = o.entry.ID
			}
			times[id] = max(times[id]-1, 0) + n
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(times), engine.ObjectID.Compare) {
		c.warn(v1alpha1.ApplicationConditionRepeatedResourceWarning, fmt.Sprintf(
			"Resource %s/%s/%s/%s appeared %d times among application resources.", id.Group, id.Kind, id.Namespace, id.Name, times[id]))
	}
}

// named finds the declared object of an identity as a source has it: without the namespace of the destination, or with one
// that its kind does not have.
func (c *comparison) named(id engine.ObjectID, destination string) *compared {
	for _, namespace := range []string{cmp.Or(id.Namespace, destination), ""} {
		id.Namespace = namespace
		if o := c.find(id); o != nil {
			return o
		}
	}
	return nil
}

// runsOnce tells whether an object is a Job that its time to live deletes when it has completed.
func runsOnce(u *unstructured.Unstructured) bool {
	if u.GetKind() != "Job" || u.GroupVersionKind().Group != "batch" {
		return false
	}
	_, found, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "ttlSecondsAfterFinished")
	return found && err == nil
}

// operationOf is the requested sync.
func operationOf(obj *v1alpha1.Application) *v1alpha1.SyncOperation {
	if obj.Operation == nil {
		return nil
	}
	return obj.Operation.Sync
}

// pinOf is the revision that an Application is held at: "ID until TIME".
func pinOf(obj *v1alpha1.Application) policy.Pin {
	id, until, found := strings.Cut(obj.Annotations[AnnotationPin], " until ")
	if !found {
		return policy.Pin{}
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(until))
	if err != nil {
		return policy.Pin{}
	}
	return policy.Pin{Revision: strings.TrimSpace(id), Until: at}
}

// buildEnvironment tells whether a source may have its revision in what it renders to.
func buildEnvironment(s v1alpha1.ApplicationSource) bool {
	return strings.Contains(encoded(s), "ARGOCD_APP_REVISION")
}

// target is the name of the cluster of an Application. The caller holds the lock.
func (a *app) target() string {
	if a.view.at == nil {
		return ""
	}
	return a.view.at.Name
}

// recordOf is what is known of an object. The caller holds the lock.
func (a *app) recordOf(id engine.ObjectID) (cluster.Record, bool) {
	if a.view.at == nil {
		return cluster.Record{}, false
	}
	return a.view.at.Objects.Get(id)
}

// announce has the status say that an operation runs before hooks do: what a killed process ran is not run again. Other
// objects are known by their tracking; the status names them when the operation ends, or after a moment.
func (d *driver) announce(ctx context.Context, a *app, op *running) error {
	if op.written {
		return nil
	}
	op.written = true
	if slices.ContainsFunc(op.sync.Tasks, func(t *operation.Task) bool { return t.Hook }) {
		return d.Engine.write(ctx, a, nil)
	}
	return nil
}

// barred tells why an Application waits with what it deletes: others that read the same repositories may be about to claim
// that. What others claim by now is not deleted.
func (d *driver) barred(ctx context.Context, a *app, w runner.Work, c *comparison) (why string, err error) {
	entries := make([]engine.Entry, len(c.extras))
	for i, e := range c.extras {
		entries[i] = e.entry
	}
	deletions, err := w.Peers.Deletions(ctx, entries)
	if err != nil {
		return "", err
	}
	c.extras = slices.DeleteFunc(c.extras, func(e *extra) bool { return deletions.Claimed[e.entry.ID] })
	a.mu.Lock()
	a.view.held = deletions.Held
	a.mu.Unlock()
	return deletions.Held, nil
}

// hold waits until nothing is in the way of what is deleted.
func (d *driver) hold(a *app, c *comparison, why string) runner.Acted {
	return runner.Acted{Entries: c.entries(), Held: true, Waiting: []engine.Wait{{On: a.id, Reason: why}}}
}

// keys are those that an Application decrypts by. One that may do without has stand-ins for what they do not decrypt.
func (d *driver) keys(ctx context.Context, id engine.UnitID, obj *v1alpha1.Application) (*decrypt.Keys, error) {
	keys, err := d.decryption(ctx, obj)
	if d.Substitutes == nil {
		return keys, err
	}
	mark := d.Substitutes.Marks(id)
	if mark == nil {
		return keys, err
	}
	if err != nil {
		keys = nil
	}
	return keys.WithStandIn(mark, simulate.Label), nil
}

// decryption are the keys for what SOPS encrypted, where the Application asks for that.
func (d *driver) decryption(ctx context.Context, obj *v1alpha1.Application) (*decrypt.Keys, error) {
	provider, name, _ := strings.Cut(obj.Annotations[annotationDecryption], "/")
	switch provider {
	case "":
		return nil, nil
	case "sops":
	default:
		return nil, &failure{condition: v1alpha1.ApplicationConditionInvalidSpecError, lasting: true, err: fmt.Errorf(
			"annotation %s: %q: want sops, or sops/NAME of a Secret in namespace %s", annotationDecryption, provider, d.options.Namespace)}
	}
	name = cmp.Or(name, "sops-age")
	secret, err := d.kube.CoreV1().Secrets(d.options.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("annotation %s: reading Secret %s/%s: %w", annotationDecryption, d.options.Namespace, name, err)
	}
	keys, err := decrypt.NewKeys(secret.Data)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: Secret %s/%s: %w", annotationDecryption, d.options.Namespace, name, err)
	}
	return keys, nil
}

// serverVersion asks the cluster for its version, for charts.
func (e *Engine) serverVersion() string {
	v, err := e.kube.Discovery().ServerVersion()
	if err != nil {
		return ""
	}
	return v.GitVersion
}

// apiVersions are what the cluster serves, for charts.
func (e *Engine) apiVersions() []string {
	revision := e.home.Kinds.Revision()
	e.served.mu.Lock()
	defer e.served.mu.Unlock()
	if e.served.versions == nil || e.served.revision != revision {
		e.served.revision, e.served.versions = revision, e.listVersions()
	}
	return e.served.versions
}

// versions are what a cluster serves, as of a revision of that.
type versions struct {
	mu       sync.Mutex
	revision uint64
	versions []string
}

func (e *Engine) listVersions() []string {
	seen := map[string]bool{}
	for gk, r := range e.home.Kinds.All() {
		version := r.Version
		if gk.Group != "" {
			version = gk.Group + "/" + r.Version
		}
		seen[version], seen[version+"/"+gk.Kind] = true, true
	}
	return slices.Sorted(maps.Keys(seen))
}

// left are the fields of a live object that an Application leaves to others.
func (d *driver) left(rules differences.ObjectRules, desired *unstructured.Unstructured) func(*unstructured.Unstructured) []engine.Pointer {
	return func(live *unstructured.Unstructured) []engine.Pointer {
		fields, err := rules.Ignored(d.ctx, desired, live)
		if err != nil {
			d.observe(engine.IDOf(desired).String(), err.Error())
		}
		var pointers []engine.Pointer
		for _, f := range fields {
			if f.Live != nil {
				pointers = append(pointers, f.Live)
			}
		}
		return pointers
	}
}

// comparing is how an object is compared with what a dry run gives.
func (d *driver) comparing(rules differences.ObjectRules, options policy.CompareOptions) apply.Compare {
	comparison := differences.Comparison{Settings: d.settings.now().Compare, Rules: rules, Manager: manager}
	if options.IncludeWebhooks {
		comparison.Manager = ""
	}
	return func(desired, predicted, live *unstructured.Unstructured) []string {
		found, err := comparison.Compare(d.ctx, desired, predicted, live)
		if err != nil {
			d.observe(engine.IDOf(desired).String(), err.Error())
		}
		fields := make([]string, 0, len(found))
		for _, f := range found {
			fields = append(fields, f.Path.String())
		}
		return fields
	}
}
