package helm

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/managedfields"
)

// driftRequests bounds how many objects are compared at a time.
const driftRequests = 8

// DriftOptions say what drift is.
type DriftOptions struct {
	// Ignore are fields that a release leaves to others.
	Ignore []engine.IgnoreRule
	// Exclude are labels or annotations, in the manifest or in the cluster, of objects that are left
	// alone.
	Exclude map[string]string
}

// Difference is an object that is not what the manifest of its release says.
type Difference struct {
	ID engine.ObjectID
	// Missing reports whether the object is gone.
	Missing bool
	// Fields are JSON pointers to what differs, sorted; never values.
	Fields []string
	// Manager is the field manager that changed one of them, as far as the API server recorded it.
	Manager string

	desired *unstructured.Unstructured
}

// String tells the difference in one line.
func (d Difference) String() string {
	if d.Missing {
		return fmt.Sprintf("%s was deleted", d.ID)
	}
	fields := d.Fields
	more := ""
	if len(fields) > named {
		fields, more = fields[:named], fmt.Sprintf(" and %d more", len(d.Fields)-named)
	}
	return fmt.Sprintf("%s was changed by %q: %s%s", d.ID, d.Manager, strings.Join(fields, ", "), more)
}

// named bounds the fields that a difference names.
const named = 5

// Paths are the fields in the form in which other drift names them, at most a few.
func (d Difference) Paths() []string {
	var paths []string
	for _, pointer := range d.Fields[:min(len(d.Fields), named)] {
		parsed, err := engine.ParsePointer(pointer)
		if err != nil {
			continue
		}
		paths = append(paths, strings.Join(parsed, "."))
	}
	return paths
}

// Drift compares the last revision of a release with the cluster, by a server-side apply that is not
// carried out. Differences are in the order of the manifest, and there beside the errors of objects
// that cannot be compared.
func (c *Client) Drift(ctx context.Context, name string, o DriftOptions) ([]Difference, error) {
	manifest, err := c.Manifest(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var errs []error
	found := make([]*Difference, len(manifest.Objects))
	guard.Each(manifest.Objects, driftRequests, func(i int, object *unstructured.Unstructured) {
		difference, err := c.compare(ctx, object, o)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, fmt.Errorf("comparing %s with the cluster: %w", engine.IDOf(object), err))
		}
		found[i] = difference
	})
	var out []Difference
	for _, d := range found {
		if d != nil {
			out = append(out, *d)
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return out, errors.Join(errs...)
}

// Correct reverts what Drift found, and returns what was reverted.
func (c *Client) Correct(ctx context.Context, differences []Difference) ([]Difference, error) {
	var done []Difference
	var errs []error
	for _, d := range differences {
		client, err := c.resource(d.desired)
		if err == nil {
			_, err = client.Apply(ctx, d.desired.GetName(), d.desired, metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("reverting %s to the manifest: %w", d.ID, masked(d.desired, err)))
			continue
		}
		done = append(done, d)
	}
	return done, errors.Join(errs...)
}

// resource is the client for the kind of an object, in its namespace.
func (c *Client) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := c.connection.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, err
	}
	client := c.connection.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return client, nil
	}
	return client.Namespace(o.GetNamespace()), nil
}

// compare returns how an object differs, nil when it does not.
func (c *Client) compare(ctx context.Context, desired *unstructured.Unstructured, o DriftOptions) (*Difference, error) {
	if excluded(desired, o.Exclude) {
		return nil, nil
	}
	client, err := c.resource(desired)
	if err != nil {
		return nil, err
	}
	out := &Difference{ID: engine.IDOf(desired), desired: desired}
	live, wanted, err := versions(ctx, client, desired, o)
	switch {
	case apierrors.IsNotFound(err):
		out.Missing = true
		return out, nil
	case err != nil:
		return nil, masked(desired, err)
	case excluded(live, o.Exclude):
		return nil, nil
	}
	out.Fields = slices.DeleteFunc(differing("", settled(live), settled(wanted), nil), func(pointer string) bool { return !declares(desired, pointer) })
	if len(out.Fields) == 0 {
		return nil, nil
	}
	slices.Sort(out.Fields)
	out.Manager = managedfields.Culprit(live, FieldManager, pathsIn(live, out.Fields))
	return out, nil
}

// readings bounds how often an object is read that others write to meanwhile.
const readings = 3

// versions are an object as it is, and as an apply of the manifest would leave that very version: what another client writes between the two is not
// a difference. Fields that are left to others are taken into the manifest.
func versions(ctx context.Context, client dynamic.ResourceInterface, desired *unstructured.Unstructured, o DriftOptions) (live, wanted *unstructured.Unstructured, err error) {
	for range readings {
		if live, err = client.Get(ctx, desired.GetName(), metav1.GetOptions{}); err != nil {
			return nil, nil, err
		}
		leave(o.Ignore, live, desired)
		wanted, err = client.Apply(ctx, desired.GetName(), desired, metav1.ApplyOptions{
			FieldManager: FieldManager, Force: true, DryRun: []string{metav1.DryRunAll},
		})
		if err != nil || wanted.GetResourceVersion() == live.GetResourceVersion() {
			break
		}
	}
	return live, wanted, err
}

// leave takes fields that are left to others into the manifest as they are.
func leave(rules []engine.IgnoreRule, live, desired *unstructured.Unstructured) {
	for _, rule := range rules {
		if rule.Match != nil && !rule.Match(desired) {
			continue
		}
		for _, path := range rule.Paths {
			if value, there := path.Lookup(live.Object); there {
				path.Replace(desired.Object, value)
			} else {
				path.Remove(desired.Object)
			}
		}
	}
}

// declares reports whether a manifest has anything to say of a field: it has the field itself, something below it, or a list that the field is in.
// The data of a Secret may be declared as text.
func declares(manifest *unstructured.Unstructured, pointer string) bool {
	path, err := engine.ParsePointer(pointer)
	if err != nil {
		return true // the whole object differs
	}
	if manifest.GetKind() == "Secret" && len(path) > 0 && path[0] == "data" && manifest.Object["stringData"] != nil {
		return true
	}
	var at any = manifest.Object
	for _, part := range path {
		fields, is := at.(map[string]any)
		if !is {
			return true
		}
		if at, is = fields[part]; !is {
			return false
		}
	}
	return true
}

// pathsIn are the ways along pointers in an object.
func pathsIn(o *unstructured.Unstructured, pointers []string) []managedfields.Path {
	var paths []managedfields.Path
	for _, text := range pointers {
		pointer, err := engine.ParsePointer(text)
		if err != nil {
			continue // the whole object differs
		}
		path := managedfields.Path{}
		for i, part := range pointer {
			if index, err := strconv.Atoi(part); err == nil && inList(o, pointer[:i]) {
				path = append(path, index)
				continue
			}
			path = append(path, part)
		}
		paths = append(paths, path)
	}
	return paths
}

// inList reports whether what is at a pointer is a list.
func inList(o *unstructured.Unstructured, at engine.Pointer) bool {
	value, _ := at.Lookup(o.Object)
	_, is := value.([]any)
	return is
}

// masked is an error about an object, without what the API server quotes from a Secret.
func masked(o *unstructured.Unstructured, err error) error {
	if o.GetKind() == "Secret" && apierrors.IsInvalid(err) {
		return errors.New("the API server refuses it as invalid")
	}
	return err
}

func excluded(o *unstructured.Unstructured, by map[string]string) bool {
	for key, value := range by {
		if o.GetLabels()[key] == value || o.GetAnnotations()[key] == value {
			return true
		}
	}
	return false
}

// settled is an object without what the server writes into it.
func settled(o *unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"} {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(out.Object, "status")
	return out.Object
}

// differing collects pointers to what differs between two values.
func differing(at string, live, wanted any, into []string) []string {
	switch w := wanted.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		if !ok {
			return append(into, at)
		}
		for key, value := range w {
			into = differing(at+"/"+engine.EscapePointer(key), l[key], value, into)
		}
		for key := range l {
			if _, ok := w[key]; !ok {
				into = append(into, at+"/"+engine.EscapePointer(key))
			}
		}
		return into
	case []any:
		l, ok := live.([]any)
		if !ok || len(l) != len(w) {
			return append(into, at)
		}
		for i := range w {
			into = differing(fmt.Sprintf("%s/%d", at, i), l[i], w[i], into)
		}
		return into
	}
	if !reflect.DeepEqual(live, wanted) {
		return append(into, at)
	}
	return into
}
