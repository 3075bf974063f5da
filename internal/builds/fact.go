package builds

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// runFact is a Workflow as decisions see it.
func runFact(b *v1alpha1.Build, u *unstructured.Unstructured) plan.Run {
	notes := u.GetAnnotations()
	r := plan.Run{
		Name: u.GetName(), UID: u.GetUID(), Digest: notes[v1alpha1.AnnotationDigest],
		Owned: u.GetLabels()[v1alpha1.LabelBuild] == b.Name && metav1.IsControlledBy(u, b),
		Phase: dialect.Text(u, "status", "phase"), Message: dialect.Text(u, "status", "message"),
		Outputs: map[string]string{}, Arguments: map[string]string{},
	}
	r.Attempt = number(notes[v1alpha1.AnnotationAttempt])
	r.Epoch = number(notes[v1alpha1.AnnotationEpoch])
	if at, err := time.Parse(time.RFC3339, dialect.Text(u, "status", "finishedAt")); err == nil {
		r.FinishedAt = at
	}
	parameters(r.Arguments, u.Object, "spec", "arguments", "parameters")
	parameters(r.Outputs, u.Object, "status", "outputs", "parameters")
	if r.Message == "" {
		r.Message = cause(u)
	}
	// The node of the entrypoint has the ID of the Workflow.
	parameters(r.Outputs, u.Object, "status", "nodes", u.GetName(), "outputs", "parameters")
	return r
}

// cause is why a run failed whose own message does not say so: the steps that did, each with its message.
func cause(u *unstructured.Unstructured) string {
	nodes, _, _ := unstructured.NestedMap(u.Object, "status", "nodes")
	var all []string
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		node, _ := nodes[id].(map[string]any)
		phase, name, message := text(node["phase"]), text(node["displayName"]), text(node["message"])
		children, _ := node["children"].([]any)
		if (phase == "Failed" || phase == "Error") && message != "" && len(children) == 0 {
			all = append(all, name+": "+message)
		}
	}
	return strings.Join(all, "; ")
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// parameters reads a list of parameters with values.
func parameters(into map[string]string, object map[string]any, path ...string) {
	list, _, _ := unstructured.NestedSlice(object, path...)
	for _, item := range list {
		one, _ := item.(map[string]any)
		name, _ := one["name"].(string)
		if value, is := one["value"].(string); is && name != "" {
			into[name] = value
		}
	}
}

// secretFact is a Secret as decisions see it: without values that are not public.
func secretFact(u *unstructured.Unstructured, public []string) plan.Secret {
	s := plan.Secret{UID: u.GetUID(), Annotations: map[string]string{}, Empty: true, Values: map[string]string{}}
	for _, name := range []string{
		v1alpha1.AnnotationDigest, v1alpha1.AnnotationEpoch, v1alpha1.AnnotationOutputs, v1alpha1.AnnotationRun, v1alpha1.AnnotationRunUID,
		v1alpha1.AnnotationBuiltAt,
	} {
		if value, has := u.GetAnnotations()[name]; has {
			s.Annotations[name] = value
		}
	}
	if of := u.GetLabels()[v1alpha1.LabelBuild]; of != "" {
		s.Of = u.GetNamespace() + "/" + of
	}
	data, _, _ := unstructured.NestedMap(u.Object, "data")
	values := map[string][]byte{}
	for key, encoded := range data {
		text, _ := encoded.(string)
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		values[key] = value
		s.Empty = s.Empty && len(value) == 0
		if slices.Contains(public, key) {
			s.Values[key] = string(value)
		}
	}
	s.Digest = plan.SecretDigest(values)
	return s
}
