package trio

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

func split(list string) []string {
	var all []string
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}

// NeedsImage reports whether a Droplet names no image in any way.
func NeedsImage(droplet *unstructured.Unstructured) bool {
	fields, _, _ := unstructured.NestedMap(droplet.Object, "spec", "forProvider")
	if !IsDroplet(droplet) || strings.TrimSpace(text(fields["image"])) != "" {
		return false
	}
	return fields["imageRef"] == nil && fields["imageSelector"] == nil && fields["imageFrom"] == nil
}

// Image is a value that a Droplet may take its image from.
type Image struct {
	Secret Name
	Key    string
	// By says what writes the Secret.
	By string
}

// String is how a condition lists it.
func (i Image) String() string {
	return fmt.Sprintf("Secret %s key %s, which %s writes", i.Secret, i.Key, i.By)
}

// imageKeys are the keys that an image may be in, the best first.
func imageKeys() []string { return []string{"image", "imageId", "image-id", "slug"} }

// ImageOf is where the image of a Droplet is that names none: in the one connection Secret of its unit that has an image. If there are none or
// several, the second result says so, and lists them.
func ImageOf(droplet *unstructured.Unstructured, all []*unstructured.Unstructured) (image Image, why string) {
	found := candidates(droplet, all)
	switch len(found) {
	case 0:
		return Image{}, `the Droplet names no image, and nothing in its unit leaves a Secret with one: set image, imageRef or imageFrom, or have an Object ` +
			`with a connection detail "image" write one`
	case 1:
		return found[0], ""
	}
	names := make([]string, len(found))
	for i, one := range found {
		names[i] = one.String()
	}
	return Image{}, fmt.Sprintf("the Droplet names no image, and %d Secrets of its unit have one: %s; set imageFrom.secretKeyRef", len(found), strings.Join(names, "; "))
}

// candidates are the Secrets of a unit with an image. One that a reader passes to another Secret is the same image: the last of them counts.
func candidates(droplet *unstructured.Unstructured, all []*unstructured.Unstructured) []Image {
	var found []Image
	read := map[Name]bool{}
	for _, u := range InUnit(droplet, all) {
		switch r, reads := ReaderOf(u); {
		case reads && r.Connection.Name != "":
			if key, has := imageKey(keysOf(r.Keys)); has {
				found = append(found, Image{r.Connection, key, "Object " + r.Object})
				read[r.Reads] = true
			}
		case u.GetKind() == v1alpha1.BuildKind && strings.HasPrefix(u.GetAPIVersion(), v1alpha1.GroupVersion.Group+"/"):
			found = append(found, outputsOf(u)...)
		}
	}
	found = slices.DeleteFunc(found, func(i Image) bool { return read[i.Secret] })
	if namespace := droplet.GetNamespace(); namespace != "" {
		// A resource with a namespace reads Secrets of its own.
		found = slices.DeleteFunc(found, func(i Image) bool { return i.Secret.Namespace != namespace })
	}
	slices.SortFunc(found, func(a, b Image) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(found)
}

func keysOf[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

func imageKey(keys []string) (string, bool) {
	for _, key := range imageKeys() {
		if slices.Contains(keys, key) {
			return key, true
		}
	}
	return "", false
}

// outputsOf are the Secrets of a Build that have an image. Of one that a run writes itself, it is unknown.
func outputsOf(build *unstructured.Unstructured) []Image {
	_, registers, _ := unstructured.NestedMap(build.Object, "spec", "image")
	outputs, _, _ := unstructured.NestedSlice(build.Object, "spec", "outputs")
	var all []Image
	for _, item := range outputs {
		one, _ := item.(map[string]any)
		secret, _ := one["secret"].(map[string]any)
		keys, _ := secret["keys"].(map[string]any)
		key, has := imageKey(keysOf(keys))
		if !has && len(keys) == 0 && registers {
			key, has = "image", true
		}
		if name := text(secret["name"]); has && name != "" {
			all = append(all, Image{Name{build.GetNamespace(), name}, key, "Build " + build.GetNamespace() + "/" + build.GetName()})
		}
	}
	return all
}
