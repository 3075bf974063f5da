package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

func imageAPIVersion(i *v1alpha1.ImageOutput) string {
	return cmp.Or(i.APIVersion, v1alpha1.DefaultImageAPIVersion)
}

// Namespaced reports whether the managed resource of an image has a namespace.
func Namespaced(i *v1alpha1.ImageOutput) bool {
	return strings.Contains(imageAPIVersion(i), ".m.crossplane.io/")
}

// imageKeys are the values of a Secret that declares none, where there is an image.
func imageKeys() map[string]string {
	return map[string]string{"image": "{{image.id}}", "slug": "{{image.name}}", "url": "{{image.url}}", "digest": "{{digest}}", "builtAt": "{{run.finishedAt}}"}
}

// resourceName is the name of the managed resource of a run: a digest is registered once, unless that failed.
func (p *pass) resourceName(run string) string {
	if Namespaced(p.build.Spec.Image) {
		return run
	}
	return p.build.Namespace + "-" + run
}

// register has the image of a run registered, and waits until it is available. It completes the tags.
func (p *pass) register(a *v1alpha1.ActiveRun, r *Run, tags map[string]string) (image *v1alpha1.BuiltImage, ready bool) {
	declared := p.build.Spec.Image
	if declared == nil {
		return nil, true
	}
	if p.facts.Unread != "" {
		p.doing = "the image of run " + a.Run + " is unknown: " + p.facts.Unread
		return nil, false
	}
	have := p.image(p.resourceName(r.Name))
	switch {
	case have == nil:
		object, err := p.imageObject(a, r, tags)
		if err != nil {
			p.failed(a, OutputMissing, err.Error(), p.facts.Now)
			return nil, false
		}
		p.doing = "the image of run " + a.Run + " is registered"
		p.do(Action{Do: CreateImage, Name: object.GetName(), Object: object})
	case have.Failed != "":
		p.failed(a, ImageFailed, fmt.Sprintf("%s %s: %s", v1alpha1.ImageKind, have.Resource, have.Failed), p.facts.Now)
	case !have.Ready || have.ID == "":
		p.doing = fmt.Sprintf("the image of run %s is not available yet: %s %s: %s", a.Run, v1alpha1.ImageKind, have.Resource, cmp.Or(have.Message, "it has no status"))
	default:
		tags["image.id"], tags["image.name"], tags["image.url"] = have.ID, have.Name, have.URL
		return &v1alpha1.BuiltImage{Resource: have.Resource, UID: have.UID, ID: have.ID, Name: have.Name}, true
	}
	return nil, false
}

func (p *pass) image(resource string) *Image {
	at := slices.IndexFunc(p.facts.Images, func(i Image) bool { return i.Resource == resource })
	if at < 0 {
		return nil
	}
	return &p.facts.Images[at]
}

// builtImage is the image of a run as it is recorded.
func (p *pass) builtImage(run string) *v1alpha1.BuiltImage {
	if p.build.Spec.Image == nil {
		return nil
	}
	i := p.image(p.resourceName(run))
	if i == nil {
		return nil
	}
	return &v1alpha1.BuiltImage{Resource: i.Resource, UID: i.UID, ID: i.ID, Name: i.Name}
}

// shortRevision is how much of a revision is in the name of an image.
const shortRevision = 7

// imageName is the name of an image, which is that of no other: the day, the revision and the digest.
func (p *pass) imageName(a *v1alpha1.ActiveRun, r *Run, tags map[string]string) (string, error) {
	declared := p.build.Spec.Image
	revision, err := replace(declared.Revision, tags)
	if err != nil {
		return "", fmt.Errorf("spec.image.revision: %w", err)
	}
	// A revision of Flux names its branch and its algorithm before the commit.
	revision = revision[strings.LastIndexAny(revision, ":@/")+1:]
	parts := []string{cmp.Or(declared.NamePrefix, p.build.Name), r.FinishedAt.UTC().Format("20060102")}
	if revision != "" {
		parts = append(parts, revision[:min(len(revision), shortRevision)])
	}
	parts = append(parts, Short(a.Digest))
	if a.Attempt > 1 {
		parts = append(parts, strconv.FormatInt(a.Attempt, 10))
	}
	return strings.Join(parts, "-"), nil
}

// imageObject is the managed resource that registers the image of a run.
func (p *pass) imageObject(a *v1alpha1.ActiveRun, r *Run, tags map[string]string) (*unstructured.Unstructured, error) {
	declared := p.build.Spec.Image
	address, err := replace(declared.URL, tags)
	if err != nil {
		return nil, fmt.Errorf("spec.image.url: %w", err)
	}
	name, err := p.imageName(a, r, tags)
	if err != nil {
		return nil, err
	}
	parameters := map[string]any{
		"name": name, "url": address, "regions": texts(declared.Regions), "distribution": cmp.Or(declared.Distribution, "Unknown"),
		"tags": texts(append(slices.Clone(declared.Tags), "headgate-img:"+a.Digest)),
	}
	spec := map[string]any{"forProvider": parameters}
	if ref := declared.ProviderConfigRef; ref != nil {
		named := map[string]any{"name": ref.Name}
		if ref.Kind != "" {
			named["kind"] = ref.Kind
		}
		spec["providerConfigRef"] = named
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": imageAPIVersion(declared), "kind": v1alpha1.ImageKind, "spec": spec}}
	u.SetName(p.resourceName(r.Name))
	if Namespaced(declared) {
		u.SetNamespace(p.build.Namespace)
	}
	u.SetLabels(map[string]string{v1alpha1.LabelBuild: p.build.Name, v1alpha1.LabelBuildNamespace: p.build.Namespace})
	u.SetAnnotations(map[string]string{v1alpha1.AnnotationDigest: a.Digest, v1alpha1.AnnotationRun: r.Name})
	return u, nil
}

func texts(all []string) []any {
	list := make([]any, len(all))
	for i, one := range all {
		list[i] = one
	}
	return list
}

// The defaults of the collection of images.
const (
	keptImages = 3
	keptFor    = 24 * time.Hour
)

// collect deletes images that nothing needs: never one that an output, a Droplet or the active run has, none while it is unknown what
// uses images, and none that is younger than declared. Images that failed to be imported are no images that are kept.
func (p *pass) collect() {
	gc := p.build.Spec.GC
	if gc == nil || p.build.Spec.Image == nil || p.facts.Unread != "" || p.want == "" {
		return
	}
	keep, minAge := keptImages, keptFor
	if gc.KeepImages != nil {
		keep = int(*gc.KeepImages)
	}
	if gc.MinAge != nil {
		minAge = gc.MinAge.Duration
	}
	images := slices.Clone(p.facts.Images)
	slices.SortFunc(images, func(a, b Image) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Resource, a.Resource)) })
	for _, i := range images {
		if i.Failed == "" {
			keep--
		}
		switch old := i.Created.Add(minAge); {
		case i.Failed == "" && keep >= 0, p.inUse(i):
		case old.After(p.facts.Now):
			p.wakeAt(old)
		default:
			p.do(Action{Do: DeleteImage, Name: i.Resource, UID: i.UID})
		}
	}
}

// inUse reports whether anything needs an image.
func (p *pass) inUse(i Image) bool {
	if last := p.status.LastSuccess; last != nil && last.Image != nil && (last.Image.Resource == i.Resource || last.Image.ID != "" && last.Image.ID == i.ID) {
		return true
	}
	if a := p.status.Active; a != nil && (a.Digest == i.Digest || p.resourceName(a.Run) == i.Resource) {
		return true
	}
	_, byNumber := p.facts.Users[i.ID]
	_, byName := p.facts.Users[i.Resource]
	return i.ID != "" && byNumber || byName
}
