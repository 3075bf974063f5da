package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// WriteMode is how an object is written.
type WriteMode int

// The modes: server-side apply, a three-way merge as kubectl apply does it on the client, and the whole
// object in place of what is there.
const (
	ServerSide WriteMode = iota
	ClientSide
	Replace
)

// Order is one object to be written, and how.
type Order struct {
	// Object is complete: with its tracking marks, and with its namespace if its kind has one.
	Object *unstructured.Unstructured
	Mode   WriteMode
	// Force deletes an object, to be recreated, when it cannot be changed in place; with Replace,
	// whenever it exists. Namespaces and CRDs are never deleted.
	Force bool
	// Migrate takes over, before a server-side apply, what MigrateManager ("kubectl-client-side-apply" if
	// it is empty), Helm and our own manager own by updates: what of it is not declared is then removed.
	Migrate        bool
	MigrateManager string
	// Ignored returns the paths of a live object that are left to others, elements of lists by their
	// indexes there. What it names is created as it is declared, and never written again.
	Ignored func(live *unstructured.Unstructured) []engine.Pointer
	// Digest is that of the declaration, with everything that says how it is written. Empty stands for one
	// that is computed; with Ignored, which has none, nothing is remembered then.
	Digest string
	// Propagation is for Force; empty stands for Foreground.
	Propagation metav1.DeletionPropagation
	// Validate leaves the validation of fields to the server's default, which warns of unknown and
	// duplicate fields, and refuses unknown ones of a server-side apply. Without it, they are ignored: an object
	// that has unknown ones is applied client-side.
	Validate bool
	// Fresh trusts no memory.
	Fresh bool
}

// Written is what became of an order.
type Written struct {
	Result
	// Object is what the server holds now; nil when nothing had to be asked, or it was refused.
	Object *unstructured.Unstructured
}

// attempts bounds how often a write is tried again that lost a race with another one.
const attempts = 5

// Write brings one object to what is declared, unless it is that already: what this process wrote and
// has not changed since takes no request.
func (a *Applier) Write(ctx context.Context, o Order) Written {
	s, result := a.begin(ctx, o)
	if s == nil {
		return Written{Result: result}
	}
	if s.settled() {
		result.Action = engine.Unchanged
		return Written{Result: result}
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	var applied *unstructured.Unstructured
	var err error
	for range attempts {
		if applied, err = s.write(ctx); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	if err != nil {
		return Written{Result: s.refused(ctx, result, err)}
	}
	if applied == nil { // it is deleted first
		return Written{Result: s.gone(result)}
	}
	result.Message, result.Drift = s.note, s.drift()
	a.cluster.Objects.Put(applied)
	// Not the record, which may already be of a later version, changed by another manager.
	rec := a.cluster.Objects.Reduce(applied)
	result.Action = s.action(applied)
	a.note(result.Entry.ID, verdict{
		digest: s.digest, uid: string(rec.UID), made: string(rec.UID), inSync: true, settled: true, held: s.heldAfter(applied),
		owned: rec.Owned, updated: rec.Updated, version: rec.ResourceVersion,
	})
	return Written{Result: result, Object: applied}
}

// heldAfter tells whether our manager owns every declared field of what it wrote. A patch or an update
// makes ours only what it changes.
func (s *scribe) heldAfter(applied *unstructured.Unstructured) bool {
	return s.Mode == ServerSide || s.note != "" || onlyManagers(applied, s.applier.names.Manager, Keeper)
}

// scribe is the way of one ordered object to the cluster.
type scribe struct {
	Order
	applier  *Applier
	id       engine.ObjectID
	resource cluster.Resource
	digest   string
	// live is the record of the object, before what was read of it when that was needed.
	live   engine.Live
	record cluster.Record
	// known is what is remembered of the object.
	known  verdict
	before *unstructured.Unstructured
	// asked is set once the object was read: it is not there when before is nil.
	asked bool
	// trusted is set when a missing record means a missing object.
	trusted bool
	// created is set once this write has created the object, whatever followed.
	created bool
	// note is what is reported about the write.
	note string
}

// begin gathers what is known of an object. It returns no scribe when the object cannot be written, for
// the reason in the result.
func (a *Applier) begin(ctx context.Context, o Order) (*scribe, Result) {
	result := Result{Entry: a.Entry(o.Object)}
	id := result.Entry.ID
	r, ok := a.cluster.Kinds.Find(o.Object.GroupVersionKind())
	if !ok || misplaced(r, o.Object) {
		return nil, a.missingKind(result, o.Object)
	}
	if r.Namespaced && id.Namespace == "" {
		result.Err = &ObjectError{ID: id, Err: errors.New(
			"metadata.namespace: required; set it on the object, or spec.destination.namespace on its application")}
		return nil, result
	}
	s := &scribe{Order: o, applier: a, id: id, resource: r, digest: o.Digest}
	if s.digest == "" {
		digest, err := o.computed()
		if err != nil {
			result.Err = &ObjectError{ID: id, Err: err}
			return nil, result
		}
		s.digest = digest
		s.Fresh = o.Fresh || o.Ignored != nil
	}
	s.trusted = a.watching(ctx, o.Object)
	s.live = a.live(id)
	s.record, _ = a.cluster.Objects.Get(id)
	s.known = a.verdict(id)
	return s, result
}

// computed is a digest of the object and of what else decides what is written.
func (o Order) computed() (string, error) {
	digest, err := engine.Digest(o.Object)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%d-%t-%t-%s-%t", digest, o.Mode, o.Force, o.Migrate, o.MigrateManager, o.Ignored != nil), nil
}

// watching begins to watch the kind of an object and tells whether its records are all there.
func (a *Applier) watching(ctx context.Context, u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	objects := a.cluster.Objects
	err := objects.WatchManaged(ctx, gvk, []string{u.GetNamespace()})
	if unwatched := objects.Unwatched([]engine.Entry{a.Entry(u)}); len(unwatched) > 0 {
		objects.Read(ctx, unwatched)
		return false
	}
	return err == nil && !a.cluster.Kinds.Young(gvk.GroupKind())
}

func (s *scribe) client() dynamic.ResourceInterface {
	return s.applier.cluster.Dynamic.Resource(s.resource.GroupVersionResource).Namespace(s.id.Namespace)
}

// write writes the object once, in its mode. Nil without an error is returned for an object that has to
// be gone before it is created.
func (s *scribe) write(ctx context.Context) (*unstructured.Unstructured, error) {
	if s.Mode == ServerSide && !s.Validate {
		// Tried without effect, since a server-side apply begins with taking fields over.
		_, err := s.apply(ctx, s.Object, []string{metav1.DryRunAll})
		s.yields(err)
	}
	if s.needsLive() {
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	switch s.Mode {
	case ClientSide:
		return s.merge(ctx, nil)
	case Replace:
		return s.replace(ctx)
	default:
		return s.applyLeaving(ctx)
	}
}

// yields has the object merged on the client from here on, when the server would not apply it for a field that it does not
// know and that should not be validated: the server ignores such a field of every other write.
func (s *scribe) yields(err error) bool {
	if s.Validate || s.Mode != ServerSide || !undeclared(err) {
		return false
	}
	s.Mode = ClientSide
	return true
}

// needsLive tells whether the object has to be read before it is written: for what others keep, for what
// is taken over, and for naming who changed it.
func (s *scribe) needsLive() bool {
	switch {
	case s.Mode != ServerSide || s.Ignored != nil || !s.trusted:
		return true
	case !s.live.Exists:
		return false
	case s.madeBefore():
		return true
	default:
		return s.Migrate && (s.live.Owned == "" || s.live.Stray || s.record.Updated != "" || s.known.digest == "")
	}
}

// read reads the object as it is; before is nil when there is none.
func (s *scribe) read(ctx context.Context) error {
	live, err := s.client().Get(ctx, s.Object.GetName(), metav1.GetOptions{})
	s.asked = s.asked || err == nil || apierrors.IsNotFound(err)
	switch {
	case apierrors.IsNotFound(err):
		s.before = nil
		return nil
	case err != nil:
		return fmt.Errorf("reading it: %w", err)
	}
	s.before = live
	return nil
}

// left are the fields of a live object that are left to others.
func (s *scribe) left(live *unstructured.Unstructured) ([]place, error) {
	if s.Ignored == nil || live == nil {
		return nil, nil
	}
	return places(live, s.Ignored(live))
}

// validation is what the server does about fields that it does not know.
func (s *scribe) validation() string {
	if s.Validate {
		return ""
	}
	return metav1.FieldValidationIgnore
}

// action tells what the write did.
func (s *scribe) action(applied *unstructured.Unstructured) engine.Action {
	uid, version := s.live.UID, strconv.FormatUint(s.live.Version, 10)
	if s.asked {
		uid = ""
	}
	if s.before != nil {
		uid, version = string(s.before.GetUID()), s.before.GetResourceVersion()
	}
	existed := uid == string(applied.GetUID())
	switch {
	case s.created, !existed && (s.asked || applied.GetGeneration() <= 1 && onlyManagers(applied, s.applier.names.Manager, Keeper)):
		return engine.Create
	case existed && version == applied.GetResourceVersion():
		return engine.Unchanged
	default:
		return engine.Configure
	}
}

func onlyManagers(u *unstructured.Unstructured, managers ...string) bool {
	for _, e := range u.GetManagedFields() {
		if e.Subresource == "" && !slices.Contains(managers, e.Manager) {
			return false
		}
	}
	return true
}

// withAnnotation returns a copy of an object with one more annotation.
func withAnnotation(u *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	out := u.DeepCopy()
	annotations := maps.Clone(u.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	out.SetAnnotations(annotations)
	return out
}
