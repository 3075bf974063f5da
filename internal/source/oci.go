package source

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// Kinds of failures of OCI artifacts and of charts, beside ErrURL, ErrAuth and ErrReference. One that
// the server's answer explains is of two kinds: ErrPull and ErrAuth, or ErrPull and ErrReference.
var (
	// ErrPull is an artifact or a chart that the server does not give.
	ErrPull = errors.New("pulling failed")
	// ErrLayer is an artifact without the layer that is wanted, or with one that cannot be read.
	ErrLayer = errors.New("the layer cannot be used")
	// ErrUnsupported is what a declaration asks for and Headgate does not do.
	ErrUnsupported = errors.New("not supported")
)

// OCIRef selects an artifact: by Digest, else SemVer, else Tag, else the tag "latest".
type OCIRef struct {
	// Digest is "sha256:" and 64 hexadecimal digits.
	Digest string
	// SemVer is a range of versions, which takes in pre-releases only when it names one. Of the tags that
	// match the regular expression SemVerFilter, if there is one, the newest version in the range wins.
	SemVer, SemVerFilter string
	Tag                  string
}

// OCILayer selects the layer that is used, and how.
type OCILayer struct {
	// MediaType is that of the layer; empty means the first one whatever it is.
	MediaType string
	// Copy takes the layer as it is. Otherwise it is a tar.gz that is extracted.
	Copy bool
}

// OCIOptions say what is fetched, and how.
type OCIOptions struct {
	RegistryAccess
	// URL is oci://HOST/REPOSITORY.
	URL   string
	Ref   OCIRef
	Layer OCILayer
	// Ignore is spec.ignore of Flux; nil means its defaults. It is about what is extracted.
	Ignore *string
	// Verify, when set, refuses an artifact that is not signed as it says.
	Verify *OCIVerification
	// SpillDir keeps files that are too large for memory; when it is empty nothing is.
	SpillDir string
}

// OCIResult is what a fetch found.
type OCIResult struct {
	// Revision is "tag@sha256:digest", or "sha256:digest" for one that was selected by it. The digest is
	// that of the manifest, or of the index of manifests, at the reference.
	Revision string
	// Tree is what the layer holds. A layer that is copied is in Data instead.
	Tree *Tree
	Data []byte
	// Metadata are the annotations of the manifest.
	Metadata map[string]string
	// Verified says by which keys a signature was verified.
	Verified []string
	// Unchanged is set when the revision is the previous one; nothing was downloaded then, and the fields
	// above have no more than the previous tree.
	Unchanged bool
}

// FetchOCI fetches the selected artifact from a registry, unless that is the previous revision: a caller
// gives one only when the options are those of then. A look that finds nothing new asks for the digest of
// a tag, and for the tags before that when there is a range of versions. Files that the previous tree has
// too are shared with it. Symbolic links are left out, as Flux does. No error holds a credential.
func FetchOCI(ctx context.Context, o OCIOptions, previousRevision string, previous *Tree) (*OCIResult, error) {
	ctx, cancel := o.bound(ctx)
	defer cancel()
	if err := o.Verify.check(); err != nil {
		return nil, err
	}
	r, err := newRegistry(ctx, o.URL, o.RegistryAccess)
	if err != nil {
		return nil, err
	}
	defer r.close()
	revision, digest, err := r.resolve(ctx, o.Ref)
	if err != nil {
		return nil, err
	}
	if previousRevision == revision {
		return &OCIResult{Revision: revision, Tree: previous, Unchanged: true}, nil
	}
	result := &OCIResult{Revision: revision}
	if result.Verified, err = r.verify(ctx, digest, o.Verify); err != nil {
		return nil, err
	}
	if err := r.pull(ctx, o, digest, previous, result); err != nil {
		return nil, err
	}
	return result, nil
}

// resolve selects an artifact.
func (r *registry) resolve(ctx context.Context, ref OCIRef) (revision string, digest v1.Hash, err error) {
	if ref.Digest != "" {
		if digest, err = v1.NewHash(ref.Digest); err != nil {
			return "", digest, fmt.Errorf("%w: %q is not a digest", ErrReference, ref.Digest)
		}
		return digest.String(), digest, nil
	}
	text := ref.Tag
	if ref.SemVer != "" {
		if text, err = r.newestTag(ctx, ref); err != nil {
			return "", digest, err
		}
	}
	if text == "" {
		text = name.DefaultTag
	}
	tag, err := r.tag(text)
	if err != nil {
		return "", digest, err
	}
	digest, err = r.digest(ctx, tag)
	return text + "@" + digest.String(), digest, err
}

func (r *registry) tag(text string) (name.Tag, error) {
	tag, err := name.NewTag(r.repo.Name()+":"+text, name.StrictValidation)
	if err != nil || tag.TagStr() != text {
		return tag, fmt.Errorf("%w: %q is not a valid tag", ErrReference, text)
	}
	// The tag of our repository, which knows whether it is insecure.
	return r.repo.Tag(text), nil
}

// newestTag selects the tag with the highest version in a range.
func (r *registry) newestTag(ctx context.Context, ref OCIRef) (string, error) {
	filter, err := patterns.Regexp(ref.SemVerFilter)
	if err != nil {
		return "", fmt.Errorf("%w: semver filter: %w", ErrReference, err)
	}
	if _, err := parseRange(ref.SemVer); err != nil {
		return "", err
	}
	tags, err := r.tags(ctx)
	if err != nil {
		return "", err
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool { return !filter.MatchString(tag) })
	tag, err := newestVersion(tags, ref.SemVer)
	if err != nil {
		return "", fmt.Errorf("%q: %w", r.url, err)
	}
	return tag, nil
}

// pull downloads the layer of an artifact.
func (r *registry) pull(ctx context.Context, o OCIOptions, digest v1.Hash, previous *Tree, into *OCIResult) error {
	image, manifest, err := r.image(ctx, digest)
	if err != nil {
		return err
	}
	into.Metadata = manifest.Annotations
	most := DefaultLimits().Bytes
	if o.Layer.Copy {
		most = maxFile
	}
	l, err := r.layer(ctx, image, manifest, o.Layer.MediaType, most)
	if err != nil {
		return err
	}
	defer l.Close()
	if o.Layer.Copy {
		into.Data, err = l.copy()
	} else {
		into.Tree, err = l.extract(o, previous)
	}
	if err != nil {
		return r.explain(ctx, ErrLayer, fmt.Sprintf("reading the layer %s", l.digest), err)
	}
	return nil
}

// extract reads the files of a layer, without those that are ignored.
func (l *layer) extract(o OCIOptions, previous *Tree) (*Tree, error) {
	all, err := unpack(l, DefaultLimits(), keeper{dir: o.SpillDir})
	if err == nil {
		err = l.rest()
	}
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, p := range all.Paths() {
		if f, _ := all.File(p); f.Link == "" {
			files = append(files, f.shared(previous))
		}
	}
	if files, err = Filter(files, o.Ignore); err != nil {
		return nil, err
	}
	return NewTree(files)
}

// shared is the file of a previous tree when it is the same one.
func (f *File) shared(previous *Tree) *File {
	if previous == nil {
		return f
	}
	if old, ok := previous.File(f.Path); ok && old.Digest == f.Digest && old.Mode == f.Mode {
		return old
	}
	return f
}
