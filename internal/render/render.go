// Package render turns a tree and what a unit declares into objects: kustomize, with encrypted
// files opened and variables replaced.
//
// A render is a pure function of the tree, of its options and of what was fetched from elsewhere. It records what it read, so
// that a later tree in which the same would be read need not be rendered again. It fetches nothing: a build that lacks
// something ends with ErrMissing, and is repeated when that was fetched. It refuses plugins and every path that leaves the tree.
// Charts that kustomizations name are
// made into manifests by its caller, or refused.
package render

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/substitute"
	"github.com/headgate-dev/headgate/internal/source"
)

// Options are what a unit declares about its render.
type Options struct {
	// Path is that of the unit within the tree; empty is its root.
	Path                                    string
	TargetNamespace, NamePrefix, NameSuffix string
	// CommonLabels and CommonAnnotations are set on every object after the build.
	CommonLabels, CommonAnnotations map[string]string
	Patches                         []types.Patch
	Images                          []types.Image
	Components                      []string
	IgnoreMissingComponents         bool
	BuildMetadata                   []string
	// Decryption are the keys of the unit; nil means that it declares none.
	Decryption *decrypt.Keys
	// Substitute are the variables of the unit; nil means that it declares none.
	Substitute *substitute.Options
	// NoRemoteBases refuses to read anything outside the tree.
	NoRemoteBases bool
	// Remotes fetch what kustomizations name outside the tree, for who renders; Elsewhere is what they fetched for one render.
	// Without the latter nothing is read there.
	Remotes   Remotes
	Elsewhere *Elsewhere
	// LeaveOut, when set, has entries of kustomizations left out that are somewhere else than in the tree, and patches
	// that fail because of a stand-in; it is called with what these are, LeftRemote or LeftPatch, and which.
	LeaveOut func(what, entry string)
	// Stray, when set, has fields of the unit's own kustomization be ignored that kustomize does not know, as Flux does; it is called
	// with each. Those of other kustomizations are errors.
	Stray func(field *Error)
	// Lacking, when set, has variables be empty that no one defines.
	Lacking Lacking
	// Edit, when set, changes the kustomization of the unit before it is built; exists reports whether there is a
	// directory at a path relative to that of the unit.
	Edit func(k *types.Kustomization, exists func(dir string) bool) error
	// Inflate, when set, makes manifests of the charts that kustomizations name. Without it they are refused.
	Inflate Inflate
	// Sealed is what is said of something encrypted when there are no keys; it names Flux's field when empty.
	Sealed string
	// Nameless permits objects without a name: the caller names them, or refuses them one by one.
	Nameless bool
}

func (o Options) sealed() error {
	if o.Sealed != "" {
		return errors.New(o.Sealed)
	}
	return errors.New("encrypted with SOPS, but the unit has no spec.decryption")
}

// Result is what was rendered. Its objects must not be changed.
type Result struct {
	Objects []*unstructured.Unstructured
	// Digest is "sha256:" and the hex digest of the objects' YAML.
	Digest string
	Reads  ReadSet
	// Volatile is set when something outside the tree was read that may change, and Elsewhere is what was read there.
	Volatile  bool
	Elsewhere map[Remote]*Fetched
}

// Error is a failure that belongs to a file or an object of the source.
type Error struct {
	File, Object, Field string
	// Line is the one of the file, 0 if it is unknown.
	Line int
	// Quotes are texts of the object that the failure is about, such as variables: its line has one of them.
	Quotes []string
	Err    error
	// unknown is set for a field of a kustomization that kustomize does not know.
	unknown bool
}

// Error names the place.
func (e *Error) Error() string {
	file := e.File
	if file != "" && e.Line > 0 {
		file = fmt.Sprintf("%s:%d", file, e.Line)
	}
	var where []string
	for _, part := range []string{file, e.Object, e.Field, e.Err.Error()} {
		if part != "" {
			where = append(where, part)
		}
	}
	return strings.Join(where, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Renderer renders. It is safe for concurrent use.
type Renderer struct {
	// schema guards the OpenAPI schema that the kustomize library keeps for the process: builds
	// share it, and a build with a schema of its own has it alone.
	schema sync.RWMutex
}

// New returns a Renderer.
func New() *Renderer {
	// The schema is read lazily by the library; reading it here keeps the first builds from racing.
	_ = openapi.Schema()
	return &Renderer{}
}

// Build renders the directory at o.Path.
func (r *Renderer) Build(ctx context.Context, tree *source.Tree, o Options) (*Result, error) {
	if o.LeaveOut == nil {
		return r.build(ctx, tree, o, nil)
	}
	s := newSieve()
	build := func() (*Result, error) { return r.build(ctx, tree, o, s) }
	result, err := build()
	if err == nil || !s.stands || ctx.Err() != nil {
		return result, err
	}
	return s.without(err, o.LeaveOut, build)
}

// build is one build, without the patches that the sieve takes out.
func (r *Renderer) build(ctx context.Context, tree *source.Tree, o Options, s *sieve) (*Result, error) {
	f := newTreeFS(tree)
	dir, err := f.directory(o.Path)
	if err != nil {
		return nil, err
	}
	f.elsewhere = o.Elsewhere
	opener := &opener{fs: f, keys: o.Decryption, encrypted: map[string]decrypt.Format{}, secrets: map[string]bool{}, noRemote: o.NoRemoteBases, sieve: s}
	opener.sealed, f.sieve = o.sealed(), s
	if o.LeaveOut != nil {
		opener.leaveOut = s.leftOut(o.LeaveOut)
	}
	if o.Inflate != nil {
		f.inflater = &inflater{fs: f, opener: opener, made: s.inflated(), inflate: func(c *Chart) ([]byte, error) { return o.Inflate(ctx, c) }}
	}
	f.opened = opener.open
	built, err := r.kustomize(f, dir, opener, o)
	switch {
	case f.elsewhere.lacks():
		return nil, ErrMissing
	case errors.Is(err, errEmpty):
		return f.result(nil)
	case err != nil:
		return nil, f.reveal(err)
	}
	var objects []*unstructured.Unstructured
	for _, res := range built {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		object, err := f.finish(res, o)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object...)
	}
	return f.result(objects)
}

// directory finds the directory of the unit.
func (f *treeFS) directory(p string) (string, error) {
	resolved, file, isDir, err := f.lookup(path.Join(root, path.Clean("/"+strings.TrimPrefix(p, "./"))))
	if err != nil {
		return "", err
	}
	if file != nil || !isDir {
		return "", &Error{Field: fmt.Sprintf("path %q", p), Err: ErrPathNotFound}
	}
	// Kustomize follows links too: what is laid over the tree has to lie where it looks.
	return path.Join(root, resolved), nil
}

// kustomize runs the build. A schema shows only once the kustomization that brings it is read; the
// build is then restarted, alone.
func (r *Renderer) kustomize(f *treeFS, dir string, opener *opener, o Options) ([]*resource.Resource, error) {
	r.schema.RLock()
	opener.shared = true
	built, err := f.whole(dir, opener, o)
	opener.shared = false
	r.schema.RUnlock()
	if !errors.Is(err, errSchema) {
		return built, err
	}
	r.schema.Lock()
	defer r.schema.Unlock()
	defer openapi.ResetOpenAPI()
	return f.whole(dir, opener, o)
}

// whole is one build: of the kustomization of the unit, after what it takes the configurations of plugins from.
func (f *treeFS) whole(dir string, opener *opener, o Options) ([]*resource.Resource, error) {
	f.overlay, f.failure = map[string][]byte{}, nil
	if err := f.prepare(dir, o, opener); err != nil {
		return nil, err
	}
	name, err := f.kustomizationFile(dir)
	if err != nil {
		return nil, err
	}
	k := &types.Kustomization{}
	if err := f.readKustomization(name, k); err != nil {
		return nil, err
	}
	if readsNothing(k) {
		return nil, errEmpty
	}
	if built, err := f.gather(dir, opener, gathered, leastObjects); err == nil {
		return built, nil
	}
	built, err := f.assemble(dir, opener, nil)
	if err != nil {
		return nil, err
	}
	return built.Resources(), nil
}

// readsNothing reports whether a kustomization names nothing to build from, and no file that may be missing either.
func readsNothing(k *types.Kustomization) bool {
	sources := len(k.Resources) + len(k.Components) + len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Generators)
	edits := len(k.Configurations) + len(k.Crds) + len(k.OpenAPI) + len(k.Transformers) + len(k.Validators) + len(k.Replacements)
	return sources+edits+len(k.Patches)+len(k.PatchesStrategicMerge)+len(k.PatchesJson6902) == 0 //nolint:staticcheck // the older fields are read
}

// run is one run of the library.
func (f *treeFS) run(dir string, o *opener) (built resmap.ResMap, err error) {
	f.inflater.begin()
	defer func() {
		// The library panics on some malformed input; that is the input's fault, not the process's.
		if p := recover(); p != nil {
			built, err = nil, &Error{File: f.named(dir), Err: errors.New("kustomize panicked")}
		}
	}()
	built, err = krusty.MakeKustomizer(libraryOptions()).Run(f, dir)
	switch {
	case err == nil:
		return built, nil
	case f.failure != nil:
		return nil, f.failure
	}
	explained := f.explain(dir, err)
	if o.shows(explained.Error()) {
		return nil, &Error{File: f.named(dir), Err: fmt.Errorf(
			"kustomize failed, with a message that contains decrypted data; check %s", strings.Join(o.decrypted, ", "))}
	}
	return nil, explained
}

func (f *treeFS) result(objects []*unstructured.Unstructured) (*Result, error) {
	sum := sha256.New()
	for _, o := range objects {
		data, err := o.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		sum.Write(data)
	}
	result := &Result{Objects: objects, Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Reads: f.reads.clone()}
	if f.elsewhere != nil && len(f.elsewhere.used) > 0 {
		result.Elsewhere = maps.Clone(f.elsewhere.used)
	}
	for _, one := range result.Elsewhere {
		result.Volatile = result.Volatile || !one.Fixed
	}
	return result, nil
}

func describe(res *resource.Resource) string {
	if ns := res.GetNamespace(); ns != "" {
		return res.GetKind() + "/" + ns + "/" + res.GetName()
	}
	return res.GetKind() + "/" + res.GetName()
}
