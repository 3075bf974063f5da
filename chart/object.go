package chart

import (
	"maps"
	"reflect"
)

// Object is one Kubernetes object of a Chart.
type Object struct {
	node        *Node
	value       any
	labels      map[string]string
	annotations map[string]string
	patches     []Patch
}

// Add puts a Kubernetes object below scope. The object is a pointer to its Go type, a map[string]any or an *unstructured.Unstructured;
// it is read when the App is synthesized, and never changed. A type of k8s.io/api, of Headgate's API or of "headgate import" needs no
// apiVersion and kind. Without metadata.name it gets one from its path, and the namespace of its chart if its kind is namespaced.
func Add(scope Scope, id string, object any) *Object {
	o := &Object{value: object}
	o.node = join(scope, id, o)
	if o.Kind() == "CustomResourceDefinition" {
		o.node.app.define(object)
	}
	return o
}

// Node is the object's place.
func (o *Object) Node() *Node { return o.node }

// DependsOn says that the object comes after everything at and below the others, and returns the object.
func (o *Object) DependsOn(others ...Scope) *Object {
	o.node.DependsOn(others...)
	return o
}

// Patch changes what the object is converted to, after everything else: nothing filters what a patch wrote. A patch that does not
// apply is an error of Synth.
func (o *Object) Patch(patches ...Patch) *Object {
	o.patches = append(o.patches, patches...)
	return o
}

// Label sets a label of the object, whatever its Go value says, and returns the object.
func (o *Object) Label(key, value string) *Object {
	o.labels = with(o.labels, key, value)
	return o
}

// Annotate sets an annotation of the object, whatever its Go value says, and returns the object.
func (o *Object) Annotate(key, value string) *Object {
	o.annotations = with(o.annotations, key, value)
	return o
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// Value is what was given to Add.
func (o *Object) Value() any { return o.value }

// APIVersion of the object, and empty if it is unknown.
func (o *Object) APIVersion() string {
	apiVersion, _ := o.typeMeta()
	return apiVersion
}

// Kind of the object, and empty if it is unknown.
func (o *Object) Kind() string {
	_, kind := o.typeMeta()
	return kind
}

// Name is metadata.name of the value as it is now, else the name that the object gets from its place. It is empty for an object with
// metadata.generateName. Patches and resolvers may still change what is written.
func (o *Object) Name() string {
	metadata := o.metadata()
	if name := text(metadata, "name"); name != "" || text(metadata, "generateName") != "" {
		return name
	}
	return o.node.generate(o.Kind())
}

// Namespace is metadata.namespace of the value as it is now, else that of the nearest chart with one if the kind is namespaced.
func (o *Object) Namespace() string {
	if namespace := text(o.metadata(), "namespace"); namespace != "" || !o.namespaced() {
		return namespace
	}
	return o.node.namespace()
}

// Labels are those that the object is written with, from the App, its charts, its value and Label; a change to the map changes
// nothing.
func (o *Object) Labels() map[string]string {
	own, _ := o.metadata()["labels"].(map[string]any)
	labels := o.node.labels()
	for key := range own {
		labels[key] = text(own, key)
	}
	maps.Copy(labels, o.labels)
	return labels
}

// typeMeta is the apiVersion and kind that the value says, else those of its Go type.
func (o *Object) typeMeta() (apiVersion, kind string) {
	apiVersion, kind = written(o.value)
	if apiVersion != "" && kind != "" {
		return apiVersion, kind
	}
	if byType, kindByType, _, ok := kindOf(o.value); ok {
		return byType, kindByType
	}
	return apiVersion, kind
}

// written is the apiVersion and the kind that a value says itself.
func written(value any) (apiVersion, kind string) {
	switch v := value.(type) {
	case map[string]any:
		return text(v, "apiVersion"), text(v, "kind")
	case unstructuredObject:
		if o := reflect.ValueOf(value); o.Kind() == reflect.Pointer && o.IsNil() {
			return "", ""
		}
		return text(v.UnstructuredContent(), "apiVersion"), text(v.UnstructuredContent(), "kind")
	}
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return "", ""
	}
	return stringField(v, "APIVersion"), stringField(v, "Kind")
}

func stringField(v reflect.Value, name string) string {
	if field, ok := v.Type().FieldByName(name); ok && field.Type.Kind() == reflect.String && len(field.Index) < 3 {
		if value, err := v.FieldByIndexErr(field.Index); err == nil {
			return value.String()
		}
	}
	return ""
}

// Namespaced reports whether objects of the kind have a namespace; kinds that nothing is known of do.
func (o *Object) Namespaced() bool { return o.namespaced() }

// namespaced reports whether objects of the kind have a namespace; kinds that nothing is known of do.
func (o *Object) namespaced() bool {
	apiVersion, kind := o.typeMeta()
	if kinded, ok := o.value.(Kinded); ok {
		_, _, namespaced := kinded.KubernetesKind()
		return namespaced
	}
	return !clusterScoped(groupOf(apiVersion), kind) && !o.node.app.clusterScoped(groupOf(apiVersion), kind)
}

// named is the metadata of a Go type of Kubernetes.
type named interface {
	GetName() string
	GetGenerateName() string
	GetNamespace() string
	GetLabels() map[string]string
}

// metadata is the name, the namespace and the labels that the value has now.
func (o *Object) metadata() map[string]any {
	v := reflect.ValueOf(o.value)
	if !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	switch one := o.value.(type) {
	case unstructuredObject:
		return metadataOf(one.UnstructuredContent()["metadata"])
	case map[string]any:
		return metadataOf(one["metadata"])
	case named:
		labels := map[string]any{}
		for key, value := range one.GetLabels() {
			labels[key] = value
		}
		return map[string]any{"name": one.GetName(), "generateName": one.GetGenerateName(), "namespace": one.GetNamespace(), "labels": labels}
	}
	// An error of the conversion is one of Synth.
	converted, _ := plain(o.value)
	object, _ := converted.(map[string]any)
	return metadataOf(object["metadata"])
}

func metadataOf(value any) map[string]any {
	converted, _ := plain(value) // Synth converts the whole object, and reports errors
	metadata, _ := converted.(map[string]any)
	return metadata
}

// Patch is a change to a converted object: JSONPatch or Merge.
type Patch interface {
	apply(o *Manifest) error
}

// Resolver replaces a value of an object while it is synthesized: names with a prefix, secrets that are injected, waves by kind.
// The first that answers wins; the others are asked about its answer.
type Resolver interface {
	// Resolve is called with every value of an object that was converted (see Manifest), from the outside in: path is empty for the
	// object itself, and has the index of an element of a list. ok says that the value is replaced by the answer, which may be of
	// any type that an object may be of.
	Resolve(o *Object, path []string, value any) (replaced any, ok bool, err error)
}

// Check judges objects that are about to be written.
type Check interface {
	// Check is asked once for each App with all of its objects, in the order in which they are written.
	Check(manifests []Manifest) []Finding
}

// Finding is what a Check has to say of one object.
type Finding struct {
	// Manifest is the index of the object in what was checked.
	Manifest int
	// Rule is the name of the rule, Field the field that it is about ("spec.replicas"), Message what is wrong and what to write instead.
	Rule, Field, Message string
	// Severity of the finding; Synth fails for an Error only.
	Severity Severity
}

// Severity is how grave a Finding is.
type Severity int

const (
	// SeverityError keeps Synth from writing.
	SeverityError Severity = iota
	// SeverityWarning is printed.
	SeverityWarning
	// SeverityInfo is printed when requested.
	SeverityInfo
)

// String is error, warning or info.
func (s Severity) String() string {
	switch s {
	case SeverityError:
		return "error"
	case SeverityWarning:
		return "warning"
	}
	return "info"
}
