package digitalocean_test

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// The annotations of creations, as the contract has them.
const (
	attempt   = "provision.headgate.dev/attempt"
	pending   = "crossplane.io/external-create-pending"
	succeeded = "crossplane.io/external-create-succeeded"
	failed    = "crossplane.io/external-create-failed"
)

// pass makes one pass, and reports whether the resource is gone.
func (w *world) pass() (gone bool) {
	w.Helper()
	var (
		e     managed.External
		o     *managed.Observation
		found *managed.Finding
	)
	configuration := &unstructured.Unstructured{Object: map[string]any{"kind": "ProviderConfig", "spec": map[string]any{"credentials": map[string]any{
		"source": "Secret", "secretRef": map[string]any{"namespace": "crossplane-system", "name": "login", "key": "token"},
	}}}}
	r := managed.NewResource(w.kind(), w.object.DeepCopy(), configuration, w)
	for range 16 {
		d := managed.Next(w.facts(e, o, found))
		var err error
		w.synced, w.upToDate, w.after = d.Synced, d.UpToDate, d.After
		if d.Ready != nil {
			w.ready = d.Ready
		}
		switch d.Step {
		case managed.StepName:
			err = w.Annotate(w.Context(), r, map[string]string{managed.AnnotationExternalName: w.object.GetName()})
		case managed.StepConnect:
			e, err = w.served.Connect(w.Context(), r)
		case managed.StepFind:
			var f managed.Finding
			f, err = e.(managed.Finder).Find(w.Context(), w.unresolved())
			found = &f
		case managed.StepForget:
			err = w.ended(r, w.unresolved(), "", failed)
		case managed.StepObserve:
			var observed managed.Observation
			observed, err = e.Observe(w.Context())
			o = &observed
		case managed.StepFinalize:
			w.object.SetFinalizers([]string{managed.Finalizer})
			r.Object = w.object.DeepCopy()
		case managed.StepRelease:
			return true
		case managed.StepStop:
			return false
		default:
			err = w.act(d, r, e, found)
			w.failure(err)
			return false
		}
		if err != nil {
			w.failure(err)
			return false
		}
	}
	w.Fatal("the pass does not end")
	return false
}

// unresolved is the creation whose result is unknown.
func (w *world) unresolved() managed.Intent {
	if c := managed.CreationOf(w.object); c.Incomplete() {
		return c.Unresolved()
	}
	return managed.Intent{}
}

// act carries out what changes something.
func (w *world) act(d managed.Decision, r *managed.Resource, e managed.External, found *managed.Finding) error {
	var made managed.Result
	var err error
	switch d.Step {
	case managed.StepAdopt:
		made.Next = time.Second
		err = w.ended(r, managed.CreationOf(w.object).Last, found.Name, succeeded)
	case managed.StepUpdate:
		made, err = e.Update(w.Context())
	case managed.StepDelete:
		made, err = e.Delete(w.Context())
	case managed.StepCreate:
		made, err = w.create(r, e)
	}
	w.after = max(made.Next, time.Second)
	return err
}

func (w *world) create(r *managed.Resource, e managed.External) (managed.Result, error) {
	i := managed.Intent{Attempt: managed.CreationOf(w.object).Last.Attempt + 1, Began: w.clock.Now()}
	if err := w.Annotate(w.Context(), r, map[string]string{attempt: stamp(i, "open"), pending: i.Began.UTC().Format(time.RFC3339)}); err != nil {
		return managed.Result{}, err
	}
	made, err := e.Create(w.Context(), i)
	var ambiguous *managed.AmbiguousError
	switch {
	case errors.As(err, &ambiguous) || errors.Is(err, errKilled):
		return made, err
	case err != nil:
		return made, errors.Join(err, w.ended(r, i, "", failed))
	}
	return made, w.ended(r, i, made.ExternalName, succeeded)
}

// ended stores how a creation ended.
func (w *world) ended(r *managed.Resource, i managed.Intent, name, how string) error {
	all := map[string]string{attempt: stamp(i, "ended"), how: w.clock.Now().UTC().Format(time.RFC3339)}
	if name != "" {
		all[managed.AnnotationExternalName] = name
	}
	return w.Annotate(w.Context(), r, all)
}

func stamp(i managed.Intent, state string) string {
	return fmt.Sprintf("%s %s %s", strconv.Itoa(i.Attempt), i.Began.UTC().Format(time.RFC3339Nano), state)
}

// failure is how a pass ends with an error: another one is made after a while.
func (w *world) failure(err error) {
	if err == nil {
		return
	}
	w.synced = &managed.Verdict{Cause: managed.Cause{Reason: managed.ReasonError, Message: err.Error()}}
	w.after = 5 * time.Second
	var (
		waiting *managed.WaitingError
		invalid *managed.InvalidError
	)
	switch {
	case errors.Is(err, errKilled):
		w.restart()
	case errors.As(err, &waiting):
		w.synced, w.ready, w.after = &managed.Verdict{True: true}, &managed.Verdict{Cause: waiting.Cause}, 0
		if !waiting.Until.IsZero() {
			w.after = max(waiting.Until.Sub(w.clock.Now()), time.Second)
		}
	case errors.As(err, &invalid):
		w.after = 0
	}
}
