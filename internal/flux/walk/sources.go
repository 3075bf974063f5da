package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/generators"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/compose"
)

// ElsewhereError is that a source is not the repository itself, so that it cannot be read without a cluster.
type ElsewhereError struct {
	Source engine.SourceID
	// URL is where it would be fetched from; empty when it has none of its own.
	URL string
	// Why is given where the URL does not tell it.
	Why string
}

// Error is one line that names the source.
func (e *ElsewhereError) Error() string {
	text := "not available offline: " + e.Source.String()
	if e.URL != "" {
		text += " (" + e.URL + ")"
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// elsewhere makes the error for a source with a URL.
func elsewhere(id engine.SourceID, address string) error {
	return &ElsewhereError{Source: id, URL: shownURL(address)}
}

// sourceTree are the files of a source: those of the working copy in the selection of the source, when the engine would
// take them from there.
func (w *walk) sourceTree(ctx context.Context, id engine.SourceID) (*source.Tree, error) {
	if tree := w.trees[id]; tree != nil {
		return tree, nil
	}
	tree, err := w.readSource(ctx, id)
	if err == nil {
		w.trees[id] = tree
	}
	return tree, err
}

func (w *walk) readSource(ctx context.Context, id engine.SourceID) (*source.Tree, error) {
	if id == toolkit.SourceID(sourcev1.GitRepositoryKind, toolkit.Namespace, toolkit.System) {
		return w.repository.Files.Tree(source.Selection{})
	}
	if dir, is := w.artifact(); is && id == toolkit.SourceID(sourcev1.OCIRepositoryKind, toolkit.Namespace, toolkit.System) {
		tree, err := w.repository.Files.Tree(source.Selection{})
		if err != nil {
			return nil, err
		}
		return tree.Sub(dir)
	}
	switch id.Kind {
	case sourcev1.GitRepositoryKind:
		repo, err := find[sourcev1.GitRepository](w, id.Kind, id.Namespace, id.Name)
		if err != nil {
			return nil, w.undeclared(id, err)
		}
		return w.gitTree(ctx, id, repo)
	case sourcev1.OCIRepositoryKind:
		repo, err := find[sourcev1.OCIRepository](w, id.Kind, id.Namespace, id.Name)
		if err != nil {
			return nil, w.undeclared(id, err)
		}
		return nil, elsewhere(id, repo.Spec.URL)
	case sourcev1.BucketKind:
		b, err := find[sourcev1.Bucket](w, id.Kind, id.Namespace, id.Name)
		if err != nil {
			return nil, w.undeclared(id, err)
		}
		return nil, &ElsewhereError{Source: id, URL: b.Spec.Endpoint + "/" + b.Spec.BucketName}
	default:
		return w.generatedTree(ctx, id)
	}
}

// undeclared is the error for what nothing declares: something that could not be read may do so.
func (w *walk) undeclared(id engine.SourceID, err error) error {
	if !w.unread {
		return err
	}
	return &ElsewhereError{Source: id, Why: "nothing in the repository declares it"}
}

// undeclaredRead names what a Kustomization reads that nothing declares, if a unit whose source is elsewhere may do so.
func (w *walk) undeclaredRead(d declaration) error {
	if !w.elsewhere {
		return nil
	}
	for _, read := range d.Unit.Reads {
		if w.held[read] == nil && !isOptional(d.ks, read) {
			return &ElsewhereError{Source: d.Unit.Source, Why: fmt.Sprintf("%s, which spec.postBuild reads, is not declared in the repository", read)}
		}
	}
	return nil
}

// gitTree are the files of the working copy as a GitRepository selects them.
func (w *walk) gitTree(ctx context.Context, id engine.SourceID, repo *sourcev1.GitRepository) (*source.Tree, error) {
	if w.repository.Ours == nil || !w.repository.Ours(repo.Spec.URL) {
		return nil, elsewhere(id, repo.Spec.URL)
	}
	if err := w.checkReference(id, repo); err != nil {
		return nil, err
	}
	if err := sources.UnsupportedGit(repo); err != nil {
		return nil, err
	}
	edges := func(name string) []string {
		other, err := find[sourcev1.GitRepository](w, id.Kind, id.Namespace, name)
		if err != nil {
			return nil
		}
		var names []string
		for _, in := range other.Spec.Include {
			names = append(names, in.GitRepositoryRef.Name)
		}
		return names
	}
	if cycle := sources.IncludeCycle(id.Name, edges); cycle != nil {
		return nil, fmt.Errorf("%s: spec.include: it includes itself", id)
	}
	selection := source.Selection{Ignore: repo.Spec.Ignore, Sparse: repo.Spec.SparseCheckout}
	for _, in := range repo.Spec.Include {
		part := toolkit.SourceID(id.Kind, id.Namespace, in.GitRepositoryRef.Name)
		tree, err := w.sourceTree(ctx, part)
		if err != nil {
			return nil, err
		}
		selection.Include = append(selection.Include, source.Inclusion{Name: part.Name, Tree: tree, From: in.GetFromPath(), To: in.GetToPath()})
	}
	tree, err := w.repository.Files.Tree(selection)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	return tree, nil
}

// checkReference refuses references to other than the branches as which the working copy is served.
func (w *walk) checkReference(id engine.SourceID, repo *sourcev1.GitRepository) error {
	branch := "master"
	switch ref := repo.Spec.Reference; {
	case ref == nil:
	case strings.HasPrefix(ref.Name, "refs/heads/") && ref.Commit == "":
		branch = branchOf(ref.Name)
	case ref.Name != "" || ref.SemVer != "" || ref.Tag != "" || ref.Commit != "":
		return &ElsewhereError{Source: id, URL: shownURL(repo.Spec.URL), Why: "it names a commit, which may differ from the working copy"}
	case ref.Branch != "":
		branch = ref.Branch
	}
	switch is, exists := w.repository.Shows(branch); {
	case is:
		return nil
	case exists:
		return &ElsewhereError{Source: id, URL: shownURL(repo.Spec.URL), Why: fmt.Sprintf("it names branch %q, which is not checked out", branch)}
	}
	return fmt.Errorf("%s: spec.ref.branch: %q is not the branch of the working copy, which is on %q", id, branch, w.repository.Branch)
}

// generatedTree are the files of an ExternalArtifact that an ArtifactGenerator of the repository makes.
func (w *walk) generatedTree(ctx context.Context, id engine.SourceID) (*source.Tree, error) {
	for held, o := range w.held {
		if held.Group != swapi.GroupVersion.Group || held.Kind != swapi.ArtifactGeneratorKind || held.Namespace != id.Namespace {
			continue
		}
		g, err := declared.Read[swapi.ArtifactGenerator](o)
		if err != nil || w.generating[held] {
			continue
		}
		w.generating[held] = true
		tree, made, err := w.generate(ctx, g, id)
		delete(w.generating, held)
		if made || err != nil {
			return tree, err
		}
	}
	return nil, &ElsewhereError{Source: id, Why: "it is created elsewhere"}
}

// generate makes one of the trees of a generator, if that is one of its.
func (w *walk) generate(ctx context.Context, g *swapi.ArtifactGenerator, id engine.SourceID) (tree *source.Tree, made bool, err error) {
	named := g.Spec.PathPattern != "" || slices.ContainsFunc(g.Spec.OutputArtifacts, func(a swapi.OutputArtifact) bool { return a.Name == id.Name })
	if !named {
		return nil, false, nil
	}
	if err := generators.CheckGenerator((policies.Policy{}), g); err != nil {
		return nil, false, err
	}
	trees := map[string]*source.Tree{}
	for i, key := range generators.SourcesOf(g) {
		if trees[g.Spec.Sources[i].Alias], err = w.sourceTree(ctx, engine.SourceID(key)); err != nil {
			return nil, false, err
		}
	}
	composer, err := compose.New(trees, "")
	if err != nil {
		return nil, false, err
	}
	outputs, err := generators.OutputsOf(g, composer)
	if err != nil {
		return nil, false, err
	}
	for _, out := range outputs {
		if engine.SourceID(out.Key) == id {
			tree, err := composer.Compose(generators.CopiesOf(out.Spec))
			return tree, true, err
		}
	}
	return nil, false, nil
}

// waiting reports whether more of a Kustomization may become known: its source, or what it reads, is unknown so far.
func (w *walk) waiting(d declaration) bool {
	id := d.Unit.Source
	group := sourcev1.GroupVersion.Group
	own := id == toolkit.SourceID(sourcev1.GitRepositoryKind, toolkit.Namespace, toolkit.System)
	if !own && id.Kind != sourcev1.ExternalArtifactKind && w.held[engine.ObjectID{Group: group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}] == nil {
		return true
	}
	return slices.ContainsFunc(d.Unit.Reads, func(read engine.ObjectID) bool { return w.held[read] == nil && !isOptional(d.ks, read) })
}

// isOptional reports whether a Kustomization does without what it reads, or reads it for another purpose than its variables:
// hardly any repository declares the keys that it is decrypted with.
func isOptional(ks *kustomizev1.Kustomization, read engine.ObjectID) bool {
	pb := ks.Spec.PostBuild
	return pb == nil || !slices.ContainsFunc(pb.SubstituteFrom, func(from kustomizev1.SubstituteReference) bool {
		return from.Kind == read.Kind && from.Name == read.Name && !from.Optional
	})
}

// isElsewhere reports whether an error is about what cannot be read without a cluster.
func isElsewhere(err error) bool {
	var e *ElsewhereError
	return errors.As(err, &e)
}

// LeftAlone reports whether an object says that it is not to be applied.
func LeftAlone(o *unstructured.Unstructured) bool { return engine.MarksOf(o, toolkit.Prefix).HandsOff }
