package builds

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
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
	// That of steps names the node of a child, and nothing more.
	if r.Message == "" || strings.HasPrefix(r.Message, "child '") {
		r.Message = cmp.Or(cause(u), r.Message)
	}
	// The node of the entrypoint has the ID of the Workflow.
	parameters(r.Outputs, u.Object, "status", "nodes", u.GetName(), "outputs", "parameters")
	return r
}

// cause is why a run failed whose own message does not say so: the steps that did, each with its message; of what is made of steps only if
// none of these says anything.
func cause(u *unstructured.Unstructured) string {
	const most = 3
	nodes, _, _ := unstructured.NestedMap(u.Object, "status", "nodes")
	var steps, others []string
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		node, _ := nodes[id].(map[string]any)
		phase, name, message := text(node["phase"]), text(node["displayName"]), text(node["message"])
		switch {
		case phase != string(workflow.NodeFailed) && phase != string(workflow.NodeError) || message == "":
		case composed(workflow.NodeType(text(node["type"]))):
			others = append(others, name+": "+message)
		default:
			steps = append(steps, name+": "+message)
		}
	}
	if len(steps) == 0 {
		steps = others
	}
	if more := len(steps) - most; more > 0 {
		steps = append(steps[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(steps, "; ")
}

// composed reports whether the message of a node is about those below it.
func composed(node workflow.NodeType) bool {
	switch node {
	case workflow.NodeTypeDAG, workflow.NodeTypeSteps, workflow.NodeTypeStepGroup, workflow.NodeTypeTaskGroup, workflow.NodeTypeRetry:
		return true
	}
	return false
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
