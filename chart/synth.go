package chart

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/chart/internal/document"
)

// Result is what an App describes.
type Result struct {
	// Charts are those of the App, each after those that it depends on and after those below it.
	Charts []Synthesized
	// Findings are what the checks of the App have to say that is not an error; Manifest is an index of Manifests.
	Findings []Finding
	// Dependent says that a chart depends on another, so that names of files say the order.
	Dependent bool

	names NameMode
}

// Synthesized is a chart with its objects as they are written.
type Synthesized struct {
	// Name of the chart, for names of files.
	Name string
	// Path of the chart in the App.
	Path string
	// Manifests are the objects, each after those that it depends on, in the order of making otherwise.
	Manifests []Manifest
	// Elapsed is how long it took.
	Elapsed time.Duration

	// dependent says that an object depends on another.
	dependent bool
}

// Manifests are the objects of all charts, in the order of their dependencies.
func (r *Result) Manifests() []Manifest {
	var all []Manifest
	for _, c := range r.Charts {
		all = append(all, c.Manifests...)
	}
	return all
}

// YAML is all objects as one stream of documents.
func (r *Result) YAML() []byte { return YAML(r.Manifests()...) }

// Synth converts, resolves, patches and checks all objects. Its error is of type Errors: every mistake, with its path and line.
func (a *App) Synth() (*Result, error) {
	s := synthesis{app: a, errors: slices.Clone(a.errors), names: map[identity]Manifest{}}
	charts, err := orderCharts(a)
	if err != nil {
		return nil, append(s.errors, s.of(&a.node, err))
	}
	r := &Result{Charts: make([]Synthesized, 0, len(charts)), Dependent: s.dependent(), names: a.settings.Names}
	for _, c := range charts {
		r.Charts = append(r.Charts, s.chart(c))
	}
	s.strays()
	s.check(r)
	if len(s.errors) > 0 {
		return nil, s.errors
	}
	return r, nil
}

// synthesis is one run of Synth.
type synthesis struct {
	app    *App
	errors Errors
	names  map[identity]Manifest
}

// identity is what two objects cannot share.
type identity struct{ group, kind, namespace, name string }

// of is an error of a place, unless it says already where it is.
func (s *synthesis) of(n *Node, err error) *Error {
	var placed *Error
	if errors.As(err, &placed) {
		return placed
	}
	return &Error{Path: n.Path(), At: n.at, Err: err}
}

func (s *synthesis) chart(c *Chart) Synthesized {
	start := time.Now()
	done := Synthesized{Name: fileName(c.node), Path: c.node.Path()}
	objects, err := orderObjects(c)
	if err != nil {
		s.errors = append(s.errors, s.of(c.node, err))
		return done
	}
	for _, n := range c.node.ours(nil) {
		done.dependent = done.dependent || slices.ContainsFunc(n.needs, func(one need) bool { return one.on.Chart() == c })
	}
	for _, o := range objects {
		m, err := s.manifest(o)
		if err == nil {
			err = s.claim(m)
		}
		if err != nil {
			s.errors = append(s.errors, s.of(o.node, err))
			continue
		}
		done.Manifests = append(done.Manifests, m)
	}
	done.Elapsed = time.Since(start)
	return done
}

// claim refuses a second object of one kind, namespace and name.
func (s *synthesis) claim(m Manifest) error {
	id := identity{groupOf(m.APIVersion()), m.Kind(), m.Namespace(), m.Name()}
	if id.name == "" {
		return nil // the API server generates it
	}
	first, taken := s.names[id]
	if !taken {
		s.names[id] = m
		return nil
	}
	where := ""
	if id.namespace != "" {
		where = fmt.Sprintf(" in namespace %q", id.namespace)
	}
	return fmt.Errorf("%s %q%s is described twice: first by %s (%s); give one of them another name", id.kind, id.name, where, first.Path, first.At)
}

// manifest is an object as it is written.
func (s *synthesis) manifest(o *Object) (Manifest, error) {
	m := Manifest{Path: o.node.Path(), At: o.node.at}
	object, err := s.object(o)
	if err != nil {
		return m, err
	}
	if object, err = resolve(s.app.settings.Resolvers, o, object); err != nil {
		return m, err
	}
	tidy(object)
	m.Object = object
	if err := patch(&m, o.patches); err != nil {
		return m, err
	}
	return m, nil
}

// object is the value of an object with its kind, its name, its namespace and its labels.
func (s *synthesis) object(o *Object) (map[string]any, error) {
	converted, err := plain(o.value)
	if err != nil {
		return nil, err
	}
	object, ok := converted.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a %T is not an object; give a pointer to its Go type, a map[string]any or an *unstructured.Unstructured", o.value)
	}
	apiVersion, kind := o.typeMeta()
	if apiVersion == "" || kind == "" {
		return nil, errKind(o.value)
	}
	object["apiVersion"], object["kind"] = apiVersion, kind
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		if object["metadata"] != nil {
			return nil, errors.New("metadata is not a mapping")
		}
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	return object, s.complete(o, metadata, kind)
}

// complete adds to the metadata of an object what it does not say itself.
func (s *synthesis) complete(o *Object, metadata map[string]any, kind string) error {
	if text(metadata, "name") == "" && text(metadata, "generateName") == "" {
		metadata["name"] = o.node.generate(kind)
		if metadata["name"] == "" {
			return errors.New("no name can be made of the path; set metadata.name")
		}
	}
	if text(metadata, "namespace") == "" {
		delete(metadata, "namespace")
		if namespace := o.node.namespace(); namespace != "" && o.namespaced() {
			metadata["namespace"] = namespace
		}
	}
	if err := merge(metadata, "labels", o.node.labels(), o.labels); err != nil {
		return err
	}
	return merge(metadata, "annotations", nil, o.annotations)
}

// merge puts pairs under and over those that metadata has.
func merge(metadata map[string]any, field string, under, over map[string]string) error {
	if len(under) == 0 && len(over) == 0 {
		return nil
	}
	own, ok := metadata[field].(map[string]any)
	if !ok && metadata[field] != nil {
		return fmt.Errorf("metadata.%s is not a mapping", field)
	}
	pairs := map[string]any{}
	for key, value := range under {
		pairs[key] = value
	}
	maps.Copy(pairs, own)
	for key, value := range over {
		pairs[key] = value
	}
	metadata[field] = pairs
	return nil
}

// tidy drops what is null, and from metadata what is empty.
func tidy(object map[string]any) {
	dropNulls(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		dropEmpty(metadata)
	}
}

func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			if one == nil {
				delete(v, key)
				continue
			}
			dropNulls(one)
		}
	case []any:
		for _, one := range v {
			dropNulls(one)
		}
	}
}

func dropEmpty(m map[string]any) {
	for key, value := range m {
		switch v := value.(type) {
		case map[string]any:
			dropEmpty(v)
			if len(v) == 0 {
				delete(m, key)
			}
		case []any:
			if len(v) == 0 {
				delete(m, key)
			}
		}
	}
}

// strays are objects outside all charts.
func (s *synthesis) strays() {
	for _, n := range s.app.node.ours(nil) {
		if _, ok := n.scope.(*Object); ok {
			s.errors = append(s.errors, s.of(n, errors.New("it is in no chart; make one with chart.New and add the object below it")))
		}
	}
}

// dependent reports whether charts of the App depend on one another.
func (s *synthesis) dependent() bool {
	for _, n := range s.app.node.all(nil) {
		c := n.Chart()
		if n.scope == Scope(c) && n.parent.Chart() != nil {
			return true
		}
		if slices.ContainsFunc(n.needs, func(one need) bool { return one.on.Chart() != c }) {
			return true
		}
	}
	return false
}

// check has the checks of the App judge what is about to be written.
func (s *synthesis) check(r *Result) {
	manifests := r.Manifests()
	for _, check := range s.app.settings.Checks {
		for _, finding := range check.Check(manifests) {
			if finding.Severity != SeverityError {
				r.Findings = append(r.Findings, finding)
				continue
			}
			problem := &Error{Err: errors.New(finding.String())}
			if finding.Manifest >= 0 && finding.Manifest < len(manifests) {
				problem.Path, problem.At = manifests[finding.Manifest].Path, manifests[finding.Manifest].At
			}
			s.errors = append(s.errors, problem)
		}
	}
}

// String is "field: message (rule)".
func (f Finding) String() string {
	said := f.Message
	if f.Field != "" {
		said = f.Field + ": " + said
	}
	if f.Rule != "" {
		said += " (" + f.Rule + ")"
	}
	return said
}

// fileName is the name of a chart in names of files: a DNS label, and with a hash in the mode CDK8sNames as cdk8s has it.
func fileName(n *Node) string {
	components := n.Components()
	if n.app.settings.Names == CDK8sNames {
		return cdk8sName(components, address(components)[:hashLength], maxName)
	}
	if name := plainName(components, maxName); name != "" {
		return name
	}
	return strings.ToLower(address(components))
}

// patch applies the patches of an object, on the object with an order of its keys.
func patch(m *Manifest, patches []Patch) error {
	if len(patches) == 0 {
		return nil
	}
	m.ordered, _ = document.New(m.Object).(*document.Map)
	for _, one := range patches {
		if err := one.apply(m); err != nil {
			return err
		}
	}
	m.Object, _ = document.Plain(m.ordered).(map[string]any)
	return nil
}
