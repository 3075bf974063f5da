package crdtypes

import (
	"path"
	"reflect"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// knownTypes are the types of Kubernetes that definitions use, and what was found out about them.
type knownTypes struct {
	types []knownType
	// compared are the answers of matches, by schema and type.
	compared map[comparison]bool
}

type comparison struct {
	schema *Schema
	of     reflect.Type
}

// knownType is a type that a schema may equal.
type knownType struct {
	of     reflect.Type
	fields map[string]reflect.StructField
	// always are fields that are written even if nothing was said.
	always []string
	// wants is true of a schema beyond its structure.
	wants func(property string, s *Schema) bool
}

// wellKnown are the types in their order of preference. Small types, whose structure says little, are only those whose names of fields
// say it; of two types with the same structure, the name of the property says which.
func wellKnown() *knownTypes {
	k := &knownTypes{compared: map[comparison]bool{}}
	for _, t := range []reflect.Type{
		of[corev1.PodTemplateSpec](), of[corev1.PodSpec](), of[corev1.Container](), of[corev1.Volume](), of[corev1.VolumeMount](),
		of[corev1.EnvVar](), of[corev1.EnvVarSource](), of[corev1.EnvFromSource](), of[corev1.ResourceRequirements](), of[corev1.VolumeResourceRequirements](),
		of[corev1.Affinity](), of[corev1.NodeAffinity](), of[corev1.PodAffinity](), of[corev1.PodAntiAffinity](), of[corev1.NodeSelectorTerm](),
		of[corev1.Toleration](), of[corev1.TopologySpreadConstraint](), of[corev1.PodSecurityContext](), of[corev1.SecurityContext](),
		of[corev1.Probe](), of[corev1.Lifecycle](), of[corev1.LifecycleHandler](), of[corev1.ContainerPort](), of[corev1.PodDNSConfig](), of[corev1.Capabilities](), of[corev1.SELinuxOptions](),
		of[corev1.PersistentVolumeClaim](), of[corev1.PersistentVolumeClaimTemplate](), of[corev1.HostAlias](), of[corev1.VolumeDevice](), of[corev1.ContainerResizePolicy](), of[corev1.PersistentVolumeClaimSpec](), of[corev1.ServiceSpec](), of[corev1.ServicePort](),
		of[corev1.ProjectedVolumeSource](), of[corev1.CSIVolumeSource](), of[corev1.SecretVolumeSource](), of[corev1.ConfigMapVolumeSource](), of[corev1.EphemeralVolumeSource](),
		of[corev1.ObjectReference](), of[corev1.TypedObjectReference](), of[corev1.KeyToPath](),
		of[batchv1.JobTemplateSpec](), of[batchv1.JobSpec](), of[networkingv1.IngressSpec](), of[networkingv1.NetworkPolicySpec](), of[rbacv1.PolicyRule](),
		of[metav1.LabelSelector](), of[metav1.LabelSelectorRequirement](), of[metav1.Condition](),
	} {
		k.add(t, nil)
	}
	k.add(of[corev1.ConfigMapKeySelector](), named("configmap"))
	k.add(of[corev1.SecretKeySelector](), nil)
	k.add(of[corev1.LocalObjectReference](), func(_ string, s *Schema) bool { return s.Atomic })
	return k
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// named is true of properties with a word in their names, or in what is said of them.
func named(word string) func(string, *Schema) bool {
	return func(property string, s *Schema) bool {
		return strings.Contains(strings.ToLower(property), word) || strings.Contains(strings.ToLower(s.Description), word)
	}
}

func (k *knownTypes) add(t reflect.Type, wants func(string, *Schema) bool) {
	one := knownType{of: t, fields: map[string]reflect.StructField{}, wants: wants}
	one.collect(t)
	k.types = append(k.types, one)
}

func (k *knownType) collect(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			k.collect(f.Type)
			continue
		case name == "" || name == "-":
			continue
		}
		k.fields[name] = f
		if f.Type.Kind() != reflect.Struct && !strings.Contains(options, "omit") {
			k.always = append(k.always, name)
		}
	}
}

// find is the known type of an object, if it has one.
func (k *knownTypes) find(property string, s *Schema) (reflect.Type, bool) {
	if property == "metadata" && (len(s.Properties) == 0 && !s.AnyValues && s.Values == nil || isEmbeddedMetadata(s)) {
		return of[metav1.ObjectMeta](), true
	}
	for _, one := range k.types {
		if len(s.Properties) == 0 || one.wants != nil && !one.wants(property, s) || !one.similar(s) {
			continue
		}
		if k.matches(s, one.of) {
			return one.of, true
		}
	}
	return nil, false
}

// isEmbeddedMetadata reports whether an object has the fields that controller-gen writes for embedded metadata.
func isEmbeddedMetadata(s *Schema) bool {
	for _, name := range []string{"annotations", "finalizers", "labels", "name", "namespace"} {
		if s.Properties[name] == nil {
			return false
		}
	}
	return len(s.Properties) == 5
}

// similar reports whether the names of fields permit that a schema is a type: the type has all of them, and not many more. A definition
// may be older than the type.
func (k *knownType) similar(s *Schema) bool {
	if len(s.Properties) > len(k.fields) {
		return false
	}
	for name := range s.Properties {
		if _, ok := k.fields[name]; !ok {
			return false
		}
	}
	for _, name := range k.always {
		if s.Properties[name] == nil {
			return false
		}
	}
	missing := len(k.fields) - len(s.Properties)
	return missing == 0 || len(s.Properties) >= 3 && missing <= len(s.Properties) || k.of == of[corev1.ResourceRequirements]() && missing == 1
}

// matches reports whether every value that a schema describes fits into a type, and the type says nothing else than the schema.
func (k *knownTypes) matches(s *Schema, t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return k.fits(s, t)
	}
	key := comparison{s, t}
	if known, ok := k.compared[key]; ok {
		return known
	}
	answer := k.fits(s, t)
	k.compared[key] = answer
	return answer
}

func (k *knownTypes) fits(s *Schema, t reflect.Type) bool {
	if answer, special := fitsSpecial(s, t); special {
		return answer
	}
	if s.IntOrString || s.Preserve && len(s.Properties) == 0 {
		return false
	}
	switch t.Kind() {
	case reflect.String:
		return s.Type == "string"
	case reflect.Bool:
		return s.Type == "boolean"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return s.Type == "integer"
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8 && s.Type == "string" || s.Type == "array" && s.Items != nil && k.matches(s.Items, t.Elem())
	case reflect.Map:
		return s.Type == "object" && s.Values != nil && k.matches(s.Values, t.Elem())
	case reflect.Struct:
		return s.Type == "object" && k.structFits(s, t)
	}
	return false
}

// fitsSpecial answers for types that are written in a way of their own.
func fitsSpecial(s *Schema, t reflect.Type) (answer, special bool) {
	switch t {
	case intOrStringType:
		return s.IntOrString, true
	case quantityType:
		return s.IntOrString || s.Type == "string", true
	case of[metav1.Time](), of[metav1.MicroTime](), of[metav1.Duration]():
		return s.Type == "string", true
	case objectMeta:
		return s.Type == "object", true
	case of[runtime.RawExtension](), of[metav1.FieldsV1]():
		return s.Type == "object" || s.Preserve, true
	}
	return false, false
}

func (k *knownTypes) structFits(s *Schema, t reflect.Type) bool {
	if s.Values != nil || s.AnyValues {
		return false
	}
	one := knownType{of: t, fields: map[string]reflect.StructField{}}
	one.collect(t)
	// Fewer fields are those of an older version; much fewer are another type.
	if 2*len(s.Properties) < len(one.fields) {
		return false
	}
	for name, p := range s.Properties {
		if f, ok := one.fields[name]; !ok || !k.matches(p, f.Type) {
			return false
		}
	}
	for _, name := range one.always {
		if s.Properties[name] == nil {
			return false
		}
	}
	return true
}

// aliasOf is the name by which a package is imported: corev1, metav1.
func aliasOf(pkg string) string {
	dir, version := path.Split(pkg)
	if version == "intstr" || version == "resource" {
		return version
	}
	return path.Base(dir) + version
}

var (
	quantityType    = of[resource.Quantity]()
	intOrStringType = of[intstr.IntOrString]()
	typeMeta        = of[metav1.TypeMeta]()
	objectMeta      = of[metav1.ObjectMeta]()
)
