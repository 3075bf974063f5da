package appset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// render makes an Application of a template, and lays the patch of the set over it.
func (g *generation) render(template map[string]any, params map[string]any) (*unstructured.Unstructured, error) {
	rendered, err := deepMap(g.engine, template, params)
	if err != nil {
		return nil, within("spec.template", err)
	}
	app := g.skeleton(rendered)
	if g.set.Spec.TemplatePatch == nil {
		return app, nil
	}
	text, err := g.engine.render(*g.set.Spec.TemplatePatch, params)
	if err != nil {
		return nil, within("spec.templatePatch", err)
	}
	patched, err := patchApplication(app, text)
	if err != nil {
		return nil, within("spec.templatePatch", err)
	}
	return g.skeleton(patched), nil
}

// skeleton makes an Application of metadata and a spec, and of nothing else: who generates one has no say in where it
// is, who owns it, what is done with it and what its status is.
func (g *generation) skeleton(from map[string]any) *unstructured.Unstructured {
	said, _ := from["metadata"].(map[string]any)
	spec, _ := from["spec"].(map[string]any)
	spec = maps.Clone(spec)
	if spec == nil {
		spec = map[string]any{}
	}
	if project, _ := spec["project"].(string); project == "" {
		spec["project"] = "default"
	}
	metadata := map[string]any{"namespace": g.set.Namespace}
	for _, field := range []string{"name", "labels", "annotations", "finalizers"} {
		if value := said[field]; !empty(value) {
			metadata[field] = value
		}
	}
	if metadata["finalizers"] == nil && !g.set.preserves() {
		metadata["finalizers"] = []any{v1alpha1.ResourcesFinalizer}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.ApplicationKind, "metadata": metadata, "spec": spec,
	}}
}

// patchApplication applies a strategic merge patch to an Application. The project stays what it is, so that whatever
// writes parameters does not choose it.
func patchApplication(app *unstructured.Unstructured, text string) (map[string]any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the rendered template is not YAML: %w", err)
	}
	var patch any
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	if patch == nil {
		return app.Object, nil
	}
	fields, ok := integers(patch).(map[string]any)
	if !ok {
		return nil, errors.New("the rendered template is not an object")
	}
	merged, err := strategicMerge(app.DeepCopy().Object, fields)
	if err != nil {
		return nil, err
	}
	project, _, _ := unstructured.NestedString(app.Object, "spec", "project")
	return merged, unstructured.SetNestedField(merged, project, "spec", "project")
}

// validName says what is wrong with a name, or nothing.
func validName(name string, goTemplate bool) string {
	switch {
	case name == "":
		return "set metadata.name in the template to a string with a parameter"
	case strings.Contains(name, "{{") && goTemplate:
		return "parameters contain templates, which are not rendered again"
	case strings.Contains(name, "{{"):
		return "the parameter does not exist or is not a string; names such as .path.basename require spec.goTemplate: true"
	case strings.Contains(name, "<no value>"):
		return "a parameter is missing; set goTemplateOptions: [missingkey=error] to see which"
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return `not a valid object name (lower-case letters, digits, "-" and ".", the first and last a letter or a digit, at most 253); use normalize or slugify`
	}
	return ""
}

// valid says what is wrong with an Application.
func (g *generation) valid(app *unstructured.Unstructured) error {
	var typed v1alpha1.Application
	if err := convert(app.Object, &typed); err != nil {
		return err
	}
	if typed.Spec.Source == nil && len(typed.Spec.Sources) == 0 && typed.Spec.SourceHydrator == nil {
		return errors.New("spec.source: missing")
	}
	switch to := typed.Spec.Destination; {
	case to.Server == "" && to.Name == "":
		return errors.New("spec.destination: set server or name")
	case to.Server != "" && to.Name != "":
		return errors.New("spec.destination: server and name are both set; remove one")
	}
	if g.options.Check == nil {
		return nil
	}
	return g.options.Check(app)
}

// ownerReference is the one of Applications to their set, as garbage collection reads it.
func (s *Set) ownerReference() metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ApplicationSetKind, Name: s.Name, UID: s.UID,
		Controller: &yes, BlockOwnerDeletion: &yes,
	}
}
