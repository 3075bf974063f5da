package apply

import (
	"context"
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

// plan says that an object is unchanged that stands as it was written.
func (s *scribe) plan() engine.Action {
	if s.settled() {
		return engine.Unchanged
	}
	return engine.Configure
}

// do writes the object.
func (s *scribe) do(ctx context.Context, result Result) Written {
	a := s.applier
	var applied *unstructured.Unstructured
	var err error
	for range attempts {
		applied, err = s.write(ctx)
		if vanished := s.before != nil && apierrors.IsNotFound(err); vanished {
			// It was deleted after it was read: the next attempt reads again, and creates it.
			s.trusted = false
			continue
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	if err != nil {
		return Written{Result: s.refused(ctx, result, err)}
	}
	if applied == nil {
		return Written{Result: s.gone(result, "deleted, to be recreated as declared")}
	}
	if applied.GetDeletionTimestamp() != nil {
		// Whatever was written goes with it.
		return Written{Result: s.gone(result, "being deleted, to be recreated as declared")}
	}
	result.Message, result.Drift = s.note, s.drift()
	a.cluster.Objects.Put(applied)
	// Not the record, which may already be of a later version, changed by another manager.
	rec := a.cluster.Objects.Reduce(applied)
	result.Action = s.action(applied)
	made := memoryOf(rec, s.heldAfter(applied))
	made.Digest, made.Made, made.InSync, made.Settled = s.digest, made.UID, true, true
	a.remember(result.Entry.ID, made)
	return Written{Result: result, Object: applied}
}

// heldAfter reports whether our manager owns every declared field of what it wrote. A patch or an update
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
	live engine.Live
	// known is what is remembered of the object.
	known  engine.Memory
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
	r, result, ok := a.place(o, "spec.destination.namespace on its application")
	if !ok {
		return nil, result
	}
	id := result.Entry.ID
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
	s.marked(s.live.Marks)
	s.known = a.recall(id, false)
	return s, result
}

// watching begins to watch the kind of an object and reports whether its records are all there.
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

// needsLive reports whether the object has to be read before it is written: for what others keep, for what
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
		return s.Migrate && (s.live.Owned == "" || s.live.Stray || s.live.Updated != "" || s.known.Digest == "")
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
	s.marked(s.applier.marks(live))
	return nil
}

// marked takes from the live object how it is written: a user may have said so there.
func (s *scribe) marked(marks engine.Marks) {
	s.Force = s.Force || marks.Force
	if marks.Replace {
		s.Mode = Replace
	}
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

// action reports what the write did.
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
