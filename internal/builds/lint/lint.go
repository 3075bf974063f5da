// Package lint says of objects that build images and make machines from them what they do with the controllers of upstream, and what they do
// here: of Workflows, of Objects of provider-kubernetes, of Droplets and images, and of what deletes a Secret to have an image built again.
//
// It takes the objects of one unit and returns findings. It knows nothing of files and refuses to guess: a finding is about a field that is there,
// or about one that is missing although something names it.
package lint

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/provision/trio"
)

// Finding is about one object.
type Finding struct {
	// Object is what it is about, Field the last name of the path of the field.
	Object *unstructured.Unstructured
	Field  string
	// Upstream is what happens with the controllers of upstream, Here what happens with Headgate.
	Upstream, Here string
	// Wrong is set for what does not work here either.
	Wrong bool
}

// Check evaluates the objects of a unit.
func Check(unit []*unstructured.Unstructured) []Finding {
	c := &checker{unit: unit}
	for _, u := range unit {
		c.object(u)
	}
	return c.found
}

type checker struct {
	unit  []*unstructured.Unstructured
	found []Finding
	// told is set once the order of the first apply has been mentioned.
	told bool
}

func (c *checker) tell(u *unstructured.Unstructured, field, upstream, here string) {
	c.found = append(c.found, Finding{Object: u, Field: field, Upstream: upstream, Here: here})
}

func (c *checker) wrong(u *unstructured.Unstructured, field, upstream, here string) {
	c.found = append(c.found, Finding{Object: u, Field: field, Upstream: upstream, Here: here, Wrong: true})
}

// object evaluates one object.
func (c *checker) object(u *unstructured.Unstructured) {
	switch {
	case trio.IsObject(u):
		c.order(u)
		c.wrapped(u)
	case trio.IsDroplet(u):
		c.order(u)
		c.droplet(u)
	case isImage(u):
		c.image(u)
	case trio.IsWorkflow(u), u.GetKind() == "WorkflowTemplate", u.GetKind() == "ClusterWorkflowTemplate":
		spec, _, _ := unstructured.NestedMap(u.Object, "spec")
		c.workflow(u, spec)
	case u.GetKind() == "CronJob", u.GetKind() == "CronWorkflow":
		c.deletes(u)
	}
}

// order is about the first apply: kinds exist upstream once their provider is installed.
func (c *checker) order(u *unstructured.Unstructured) {
	if c.told {
		return
	}
	for _, other := range c.unit {
		kind := other.GetKind()
		if kind == "CustomResourceDefinition" || kind == "Provider" && strings.HasPrefix(other.GetAPIVersion(), "pkg.crossplane.io/") {
			c.told = true
			c.tell(u, "kind", fmt.Sprintf("the first apply fails with \"no matches for kind\": the kind exists once %s %s has been installed", kind, other.GetName()),
				"the kinds are served from the start, and the Provider installs nothing")
			return
		}
	}
}

// wrapped evaluates an Object of provider-kubernetes.
func (c *checker) wrapped(u *unstructured.Unstructured) {
	if r, is := trio.ReaderOf(u); is {
		c.reader(u, r)
		return
	}
	m := &unstructured.Unstructured{Object: trio.Manifest(u)}
	if m.Object == nil || !trio.IsWorkflow(m) {
		return
	}
	spec, _, _ := unstructured.NestedMap(m.Object, "spec")
	if trio.IsRunTemplate(u) {
		c.trigger(u, m)
	}
	c.workflow(u, spec)
	c.ttl(u, spec)
}

// trigger evaluates an Object that wraps a Workflow with generateName.
func (c *checker) trigger(u, m *unstructured.Unstructured) {
	c.tell(u, "generateName", fmt.Sprintf("generateName is ignored: the one Workflow is called %s, and never runs again", u.GetName()),
		fmt.Sprintf("it stands for the Build %s: one run per content, called %s-DIGEST-ATTEMPT", u.GetName(), u.GetName()))
	outputs := trio.Outputs(u, c.unit)
	if len(outputs) == 0 {
		c.tell(u, "manifest", "nothing has it run again", "no Object of the unit reads a Secret that the run writes, so that it runs again only for other content: name the Secrets with the annotation "+trio.AnnotationOutputs)
		return
	}
	for _, o := range outputs {
		c.tell(u, "manifest", fmt.Sprintf("nothing runs when Secret %s is deleted: no edge leads from it to this Object, whose Workflow exists", o),
			fmt.Sprintf("Secret %s is its output: to delete it has the workflow run once more", o))
	}
	if policy, _, _ := unstructured.NestedString(u.Object, "spec", "deletionPolicy"); policy == "Delete" {
		c.tell(u, "deletionPolicy", "it has the Workflow deleted with this Object, and starts no run", "the same: it has the Build and its runs deleted with this Object")
	}
}

// reader evaluates an Object that reads a Secret.
func (c *checker) reader(u *unstructured.Unstructured, r trio.Reader) {
	if trio.IsBare(u) && !policies(u) {
		c.tell(u, "manifest", fmt.Sprintf("without managementPolicies: [Observe] it creates an empty Secret %s where there is none", r.Reads),
			"a manifest without content is observed: nothing is created")
	}
	details, _, _ := unstructured.NestedSlice(u.Object, "spec", "connectionDetails")
	alias, bare := 0, 0
	for _, item := range details {
		one, _ := item.(map[string]any)
		switch {
		case one["fromFieldPath"] != nil:
			alias++
		case one["apiVersion"] == nil || one["kind"] == nil:
			bare++
		}
	}
	if alias > 0 {
		c.tell(u, "fromFieldPath", fmt.Sprintf("the field is unknown and dropped%s, so that the Object is never synced and Secret %s stays empty", times(alias), r.Connection),
			"it is an alias of fieldPath; what it refers to is the manifest itself")
	}
	if bare > 0 {
		c.tell(u, "connectionDetails", fmt.Sprintf("a reference without apiVersion and kind%s fails, so that the Object is never synced", times(bare)), "it refers to the manifest itself")
	}
}

// times says how often something is there that is said once of an object.
func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// policies reports whether an Object says what may be done.
func policies(u *unstructured.Unstructured) bool {
	_, has, _ := unstructured.NestedSlice(u.Object, "spec", "managementPolicies")
	old, _, _ := unstructured.NestedString(u.Object, "spec", "managementPolicy")
	return has || old == "Observe"
}
