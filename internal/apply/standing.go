package apply

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// Standing is where an object stands beside its declaration.
type Standing struct {
	InSync bool
	// Known is set when no request was needed to tell.
	Known bool
	// Missing is set when there is no such object.
	Missing bool
	// Fields are paths that differ, at most a few of them; never values, which may be secret.
	Fields []string
	// Refused is why the server would not take the object: it names the field. The object is not in sync.
	Refused error
	// Wait is set when the kind or the namespace is missing.
	Wait *Need
	// Err is set when it could not be told, since the server did not answer. It may pass.
	Err error
}

// Compare lists the paths in which what the server would make of a declaration differs from what is
// there, given the declaration as it was tried; never values.
type Compare func(desired, predicted, live *unstructured.Unstructured) []string

// Standing reports where an object stands without writing it: from what is remembered when that still
// holds, else by a dry run of the write. What differs is decided by compare; nil compares
// everything but what the server keeps about an object. The answer is remembered: Drifted tells when it
// may be another one.
func (a *Applier) Standing(ctx context.Context, o Order, compare Compare) Standing {
	s, result := a.begin(ctx, o)
	switch {
	case s == nil:
		return Standing{Wait: result.Wait, Refused: result.Err}
	case s.stands() && !s.known.Missing:
		return Standing{Known: true, InSync: s.known.InSync, Fields: s.known.Fields, Refused: s.known.Refused}
	case s.trusted && !s.live.Exists:
		s.judge(engine.Memory{Missing: true})
		return Standing{Known: true, Missing: true}
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	for i := range attempts {
		standing, err := s.ask(ctx, compare)
		if !apierrors.IsConflict(err) || i == attempts-1 {
			return standing
		}
	}
	return Standing{}
}

// ask reads the object and tries the write on that version. A conflict is that of another version.
func (s *scribe) ask(ctx context.Context, compare Compare) (Standing, error) {
	objects := s.applier.cluster.Objects
	if err := s.read(ctx); err != nil {
		return Standing{Err: &ObjectError{ID: s.id, Err: err}}, err
	}
	if s.before == nil {
		objects.Forget(s.id)
		s.judge(engine.Memory{Missing: true})
		return Standing{Missing: true}, nil
	}
	standing, g := s.standing(ctx, compare)
	if standing.Err == nil && standing.Wait == nil {
		objects.Put(s.before)
		rec := objects.Reduce(s.before)
		m := memoryOf(rec, g.held)
		m.InSync, m.Settled, m.Fields, m.Refused = standing.InSync, standing.InSync && g.settled, standing.Fields, standing.Refused
		s.judge(m)
	}
	return standing, standing.Err
}

// judge remembers a standing, as of the version that it was found in, and of what was known before, which
// object one of our writes had made.
func (s *scribe) judge(m engine.Memory) {
	m.Digest = s.digest
	if s.known.Digest == s.digest {
		m.Made = s.known.Made
		// What is in sync again, say after a change of its status, needs no other write.
		m.Settled = m.Settled || m.InSync && m.Made != "" && m.Made == m.UID
	}
	if m.Settled {
		m.Made = m.UID
	}
	s.applier.remember(s.id, m)
}

// standing tries the write.
func (s *scribe) standing(ctx context.Context, compare Compare) (Standing, grip) {
	left, err := s.left(s.before)
	if err != nil {
		return Standing{Refused: &ObjectError{ID: s.id, Err: err}}, grip{}
	}
	desired := keeping(s.Object, left)
	predicted, err := s.predict(ctx, desired)
	switch {
	case err != nil && noDryRun(err):
		fields := texts(differing(desired.Object, s.before.Object, nil))
		return Standing{InSync: len(fields) == 0, Fields: fields}, grip{}
	case err != nil:
		return s.unpredicted(err), grip{}
	}
	if compare == nil {
		compare = different
	}
	fields := compare(desired, predicted, s.before)
	if s.Migrate && s.Mode == ServerSide {
		fields = append(fields, texts(dropped(s.before, desired))...)
	}
	return Standing{InSync: len(fields) == 0, Fields: fields}, s.grip(predicted, left)
}

// predict returns what the server would make of the object.
func (s *scribe) predict(ctx context.Context, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	dryRun := []string{metav1.DryRunAll}
	if s.Mode == ClientSide {
		return s.merge(ctx, dryRun)
	}
	versioned := desired.DeepCopy()
	versioned.SetResourceVersion(s.before.GetResourceVersion())
	predicted, err := s.apply(ctx, versioned, dryRun)
	if s.yields(err) {
		return s.merge(ctx, dryRun)
	}
	return predicted, err
}

// unpredicted is the standing of an object whose dry run was refused.
func (s *scribe) unpredicted(err error) Standing {
	if need := s.applier.namespaceNeed(s.id, err); need != nil {
		return Standing{Wait: need}
	}
	switch {
	case apierrors.IsNotFound(err) || kindEnds(err):
		return Standing{Err: &ObjectError{ID: s.id, Err: s.applier.notFound(s.Object, err)}}
	case Transient(err) && !mistyped(err):
		return Standing{Err: &ObjectError{ID: s.id, Err: &refusal{err}}}
	case unchangeable(err) && s.Force && !s.precious():
		// The write deletes and recreates it.
		return Standing{Fields: invalidFields(err)}
	default:
		return Standing{Fields: invalidFields(err), Refused: &ObjectError{ID: s.id, Err: s.worded(err)}}
	}
}

// grip is what an object that is in sync has of us.
type grip struct {
	// held is set when our manager owns every field that it would own after the write.
	held bool
	// settled is set when the write would move no ownership either.
	settled bool
}

func (s *scribe) grip(predicted *unstructured.Unstructured, left []place) grip {
	ours := s.applier.names.Manager
	sole := onlyManagers(s.before, ours, Keeper)
	if s.Mode == ClientSide {
		return grip{held: sole, settled: predicted == s.before}
	}
	h := homes{ours: ours, former: []string{ours}}
	then, err := h.ownersOf(predicted)
	if err != nil {
		return grip{}
	}
	now, err := h.ownersOf(s.before)
	if err != nil {
		return grip{}
	}
	wanted := then.ours.Difference(under(then.ours, leftOut(left)))
	g := grip{held: wanted.Difference(now.ours.Union(now.former)).Empty(), settled: sole}
	if s.Mode == ServerSide {
		_, moves, err := s.homes(left).rehome(s.before)
		g.settled = err == nil && !moves && wanted.Difference(now.ours).Empty()
	}
	return g
}

// different compares everything but what the server keeps about an object, its status and the annotation
// of kubectl.
func different(_, predicted, live *unstructured.Unstructured) []string {
	want, have := declarable(predicted), declarable(live)
	fields := texts(differing(want, have, nil))
	for _, f := range texts(differing(have, want, nil)) {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	slices.Sort(fields)
	return fields[:min(len(fields), maxFields)]
}

func declarable(u *unstructured.Unstructured) map[string]any {
	out := u.DeepCopy().Object
	delete(out, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(out, "metadata", field)
	}
	unstructured.RemoveNestedField(out, "metadata", "annotations", lastApplied)
	if annotations, ok, _ := unstructured.NestedMap(out, "metadata", "annotations"); ok && len(annotations) == 0 {
		unstructured.RemoveNestedField(out, "metadata", "annotations")
	}
	return out
}

// dropped are the fields that a client-side apply made last, that are still there and that are declared
// no more: taking the object over removes them. Lists are not looked into.
func dropped(live, desired *unstructured.Unstructured) []managedfields.Path {
	var original map[string]any
	if json.Unmarshal([]byte(live.GetAnnotations()[lastApplied]), &original) != nil {
		return nil
	}
	return droppedIn(original, desired.Object, live.Object, nil)
}

func droppedIn(original, desired, live map[string]any, at managedfields.Path) []managedfields.Path {
	var fields []managedfields.Path
	for key, was := range original {
		now, there := live[key]
		want, declared := desired[key]
		switch {
		case !there || was == nil || len(at) == 0 && key == "status":
		case !declared && len(at) == 1 && at[0] == "metadata" && key == "creationTimestamp":
		case !declared:
			if m, isMap := was.(map[string]any); !isMap || len(m) > 0 {
				fields = append(fields, at.To(key))
			}
		default:
			o, ok1 := was.(map[string]any)
			d, ok2 := want.(map[string]any)
			l, ok3 := now.(map[string]any)
			if ok1 && ok2 && ok3 {
				fields = append(fields, droppedIn(o, d, l, at.To(key))...)
			}
		}
	}
	slices.SortFunc(fields, func(a, b managedfields.Path) int { return slices.Compare([]string{a.String()}, []string{b.String()}) })
	return fields[:min(len(fields), maxFields)]
}
