package builds

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// externalName is the annotation with the number that DigitalOcean gave an object.
const externalName = "crossplane.io/external-name"

func imageKind(i *v1alpha1.ImageOutput) schema.GroupVersionKind {
	version := i.APIVersion
	if version == "" {
		version = v1alpha1.DefaultImageAPIVersion
	}
	return schema.FromAPIVersionAndKind(version, v1alpha1.ImageKind)
}

// images reads the images of the Build, and what uses images if any may be deleted. What cannot be read is said.
func (g *gatherer) images(ctx context.Context, f *plan.Facts) {
	declared := g.build.Spec.Image
	if declared == nil {
		return
	}
	resource, err := g.served(imageKind(declared))
	if err != nil {
		f.Unread, g.again = err.Error(), err
		return
	}
	namespace := ""
	if plan.Namespaced(declared) {
		namespace = g.build.Namespace
	}
	selector := v1alpha1.LabelBuild + "=" + g.build.Name + "," + v1alpha1.LabelBuildNamespace + "=" + g.build.Namespace
	list, err := g.Home.Dynamic.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err == nil && g.build.Spec.GC != nil {
		err = g.droplets(ctx, f)
	}
	if err != nil {
		f.Unread, g.again = err.Error(), err
		return
	}
	for i := range list.Items {
		f.Images = append(f.Images, imageFact(&list.Items[i]))
	}
}

// imageFact is an Image as decisions see it.
func imageFact(u *unstructured.Unstructured) plan.Image {
	i := plan.Image{
		Resource: u.GetName(), UID: u.GetUID(), Digest: u.GetAnnotations()[v1alpha1.AnnotationDigest], Created: u.GetCreationTimestamp().Time,
		Name: dialect.Text(u, "spec", "forProvider", "name"), URL: dialect.Text(u, "spec", "forProvider", "url"),
		ID: dialect.Text(u, "status", "atProvider", "id"),
	}
	if i.ID == "" {
		i.ID = u.GetAnnotations()[externalName]
	}
	ready, _, message, _ := dialect.Condition(u, v1alpha1.ConditionReady)
	synced, _, problem, _ := dialect.Condition(u, "Synced")
	i.Ready, i.Message = ready == "True", message
	if synced == "False" && !i.Ready {
		i.Message = problem
	}
	// An import that failed leaves an image that is deleted at once, with the cause.
	if strings.EqualFold(dialect.Text(u, "status", "atProvider", "status"), "deleted") {
		i.Ready, i.Failed = false, message
		if i.Failed == "" {
			i.Failed = "the image was not imported"
		}
	}
	return i
}

// droplets reads which images Droplets are declared with, and are of, in all namespaces.
func (g *gatherer) droplets(ctx context.Context, f *plan.Facts) error {
	for gk, r := range g.Home.Kinds.All() {
		if gk.Kind != "Droplet" || !strings.HasSuffix(gk.Group, "crossplane.io") || !r.Listed {
			continue
		}
		list, err := g.Home.Dynamic.Resource(r.GroupVersionResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			u := &list.Items[i]
			who := "Droplet " + u.GetName()
			for _, path := range [][]string{{"spec", "forProvider", "image"}, {"spec", "forProvider", "imageRef", "name"}, {"status", "atProvider", "image"}} {
				if image := dialect.Text(u, path...); image != "" {
					f.Users[image] = who
				}
			}
			users(f.Users, u.Object["status"], who)
		}
	}
	return nil
}

// users enters every image that a status names, at any depth: what a Droplet was created from, and what is to replace it.
func users(into map[string]string, value any, who string) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if text, is := inner.(string); is && strings.EqualFold(key, "image") && text != "" {
				into[text] = who
			}
			users(into, inner, who)
		}
	case []any:
		for _, inner := range v {
			users(into, inner, who)
		}
	}
}
