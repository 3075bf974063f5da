package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/provision/trio"
)

// droplet evaluates where the image of a Droplet is from, and what becomes of another image.
func (c *checker) droplet(u *unstructured.Unstructured) {
	fields, _, _ := unstructured.NestedMap(u.Object, "spec", "forProvider")
	if name, _ := fields["name"].(string); name == "" && !strings.HasPrefix(u.GroupVersionKind().Group, "compute.") {
		c.tell(u, "forProvider", "it is rejected: spec.forProvider.name is a required parameter", fmt.Sprintf("it has the name of the resource: %s", u.GetName()))
	}
	from, follows := fields["imageFrom"], false
	switch {
	case trio.NeedsImage(u):
		follows = c.inferred(u)
	case from != nil:
		follows = true
		c.tell(u, "imageFrom", "the field is unknown: no resource takes an image from a Secret", "the Droplet waits for the Secret, and follows it")
	default:
		if image, _ := fields["image"].(string); mutable(image) {
			c.tell(u, "image", fmt.Sprintf("image %q: if that is the name of a private image, it is rejected, since private images have no slug", image),
				"a name resolves to the newest private image of that name which is available, and its number is recorded")
		}
	}
	if !follows {
		return
	}
	c.tell(u, "image", "another image is refused: the update requires a replacement, and none is made; a Droplet that was deleted is noticed after 10 minutes, one that is powered off never",
		"another image replaces the Droplet (policy Recreate by default; CreateBeforeDestroy and RebuildInPlace keep more); one that was deleted is created again within the poll, with the recorded image and another address")
}

// inferred is about a Droplet that names no image.
func (c *checker) inferred(u *unstructured.Unstructured) bool {
	const upstream = "an image is required and nothing fills it in: DigitalOcean rejects the Droplet"
	image, why := trio.ImageOf(u, c.unit)
	if why != "" {
		c.wrong(u, "image", upstream, why)
		return false
	}
	c.tell(u, "image", upstream, fmt.Sprintf("it is taken from %s", image))
	return true
}

// mutable reports whether the name of an image is one that is used again.
func mutable(image string) bool { return strings.HasSuffix(image, "-latest") }

func isImage(u *unstructured.Unstructured) bool {
	gvk := u.GroupVersionKind()
	return gvk.Kind == "Image" && strings.HasPrefix(gvk.Group, "custom.digitalocean.")
}

// image evaluates a custom image.
func (c *checker) image(u *unstructured.Unstructured) {
	distribution, _, _ := unstructured.NestedString(u.Object, "spec", "forProvider", "distribution")
	if strings.EqualFold(distribution, "nixos") {
		c.tell(u, "distribution", fmt.Sprintf("distribution %q is rejected", distribution), "it is stored as Unknown, as DigitalOcean does")
	}
}

// workflow evaluates the spec of a workflow, where it is written or wrapped.
func (c *checker) workflow(u *unstructured.Unstructured, spec map[string]any) {
	ref, _ := spec["workflowTemplateRef"].(map[string]any)
	if name, _ := ref["name"].(string); name != "" && !c.has("WorkflowTemplate", name) && !c.has("ClusterWorkflowTemplate", name) && c.has("Workflow", name) {
		c.wrong(u, "workflowTemplateRef", fmt.Sprintf("there is no WorkflowTemplate %s: the run fails, while the Workflow of that name runs when it is applied", name),
			fmt.Sprintf("the same: the run waits for a WorkflowTemplate %s; change the kind of the Workflow %s to WorkflowTemplate", name, name))
	}
	text := strings.Join(commands(spec), "\n")
	if strings.Contains(text, "doctl compute image create") && !strings.Contains(text, "--wait") {
		c.tell(u, "args", "the import takes up to an hour after the command has ended, so that a Secret is written before the image is available",
			"the Droplet waits until an image of that name is available; an image in a Build is registered once per digest and waited for")
		if strings.Contains(text, "--name") && regexp.MustCompile(`image create[^\n]*--name`).MatchString(text) {
			c.wrong(u, "args", "doctl compute image create has no flag --name: the name is its argument", "the same: the command comes with the container")
		}
	}
	if mutableName.MatchString(text) {
		c.tell(u, "args", "a name such as nixos-latest is no slug: private images have none, and names are not unique, so that another image does not change the Secret",
			"a name resolves to the newest available image of that name, whose number is recorded; a Build publishes the number itself")
	}
}

// mutableName matches a literal of a Secret with a name that is used again.
var mutableName = regexp.MustCompile(`--from-literal=[A-Za-z0-9_.-]+=[A-Za-z0-9_.-]*-latest\b`)

// commands are the texts of commands, arguments and scripts, at any depth.
func commands(v any) []string {
	var all []string
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if slices.Contains([]string{"command", "args", "source"}, key) {
				all = append(all, words(inner)...)
				continue
			}
			all = append(all, commands(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, commands(inner)...)
		}
	}
	slices.Sort(all)
	return all
}

// words are the texts of a command as one, in their order.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var parts []string
		for _, one := range v {
			text, _ := one.(string)
			parts = append(parts, text)
		}
		return []string{strings.Join(parts, " ")}
	}
	return nil
}

func (c *checker) has(kind, name string) bool {
	return slices.ContainsFunc(c.unit, func(u *unstructured.Unstructured) bool {
		return u.GetKind() == kind && strings.HasPrefix(u.GetAPIVersion(), "argoproj.io/") && u.GetName() == name
	})
}

// ttl is about a run that deletes itself below an Object that declares it.
func (c *checker) ttl(u *unstructured.Unstructured, spec map[string]any) {
	field := ""
	for _, name := range []string{"ttlStrategy", "ttlSecondsAfterFinished"} {
		if spec[name] != nil {
			field = name
		}
	}
	ref, _ := spec["workflowTemplateRef"].(map[string]any)
	name, _ := ref["name"].(string)
	for _, other := range c.unit {
		if template, _, _ := unstructured.NestedMap(other.Object, "spec"); other.GetKind() == "WorkflowTemplate" && other.GetName() == name && template["ttlStrategy"] != nil && field == "" {
			field = "workflowTemplateRef"
		}
	}
	if field == "" {
		return
	}
	const upstream = "the Workflow deletes itself, the Object creates it again, and it runs again for ever"
	if trio.IsRunTemplate(u) {
		c.tell(u, field, upstream, "a run that has ended is remembered by the Build, which keeps its own history")
		return
	}
	c.wrong(u, field, upstream, "the same: leave out the name and give a generateName, which makes it one run per content")
}

// deletes is about a schedule that deletes a Secret to have an image built again.
func (c *checker) deletes(u *unstructured.Unstructured) {
	text := strings.Join(commands(u.Object), "\n")
	for _, trigger := range c.unit {
		if !trio.IsRunTemplate(trigger) {
			continue
		}
		for _, o := range trio.Outputs(trigger, c.unit) {
			if regexp.MustCompile(`delete\s+secrets?[ /](\S+\s+)*` + regexp.QuoteMeta(o.Name) + `\b`).MatchString(text) {
				c.tell(u, "args", fmt.Sprintf("deleting Secret %s builds nothing, and nothing names the image from then on", o),
					fmt.Sprintf("it has the image built again, and there is no Secret %s until that has ended; the schedule of a Build keeps the previous one meanwhile", o))
			}
		}
	}
}
