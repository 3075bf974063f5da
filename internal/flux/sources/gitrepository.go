package sources

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/headgate-dev/headgate/internal/declared"
	remotes "github.com/headgate-dev/headgate/internal/feed"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// GitRepository is a GitRepository as the origin of a source.
type GitRepository struct{ *sourcev1.GitRepository }

func newGitRepository(u *unstructured.Unstructured) (Origin, error) {
	repo, err := declared.Read[sourcev1.GitRepository](u)
	return GitRepository{repo}, err
}

// Object is the object itself.
func (r GitRepository) Object() runtime.Object { return r.GitRepository }
func (r GitRepository) copy() Origin           { return GitRepository{r.DeepCopy()} }

func (r GitRepository) from(u *unstructured.Unstructured) (Origin, error) { return newGitRepository(u) }

// SourceKind is how sources of this kind are served.
func (r GitRepository) SourceKind() *SourceKind { return gitRepositoryKinds }

func (r GitRepository) interval() time.Duration { return r.Spec.Interval.Duration }

// Suspended reports whether it is not to be fetched.
func (r GitRepository) Suspended() bool { return r.Spec.Suspend }
func (r GitRepository) version() string { return "" }

// Address is the URL that it is fetched from; it is empty when it has none of its own.
func (r GitRepository) Address() string { return r.Spec.URL }

// State are the parts of its status that every source has.
func (r GitRepository) State() Status {
	s := &r.Status
	return Status{&s.Conditions, &s.Artifact, &s.ObservedGeneration, &s.LastHandledReconcileAt}
}

func (r GitRepository) fetch(ctx context.Context, f *Feed) (*Fetched, error) {
	repo := r.GitRepository
	if len(repo.Spec.Include) > 0 {
		if err := f.sources.WaitListed(ctx); err != nil {
			return nil, err
		}
	}
	options, err := f.sources.Options(ctx, repo)
	if err != nil {
		return nil, err
	}
	includes, err := f.sources.includes(repo)
	same, known := f.look(lookOf(includes.key(), err), r)
	if err != nil {
		return nil, err
	}
	if !known {
		same = sameSelection(repo, includes)
	}
	options.Include = includes.parts
	signed := ""
	if options.Verify != nil {
		signed = keysDigest(options.Verify.Keys)
	}
	var revision string
	var tree *source.Tree
	if before, stored := f.sources.Store.Get(f.Key); stored {
		tree = before.Tree
		if same && (options.Verify == nil || wasVerified(repo) && f.signed == signed) {
			revision = before.Revision
		}
	}
	got, err := f.sources.remotes.Git(ctx, f, remotes.Git{
		Options: options, Share: repo.Namespace, Since: f.since(), Previous: revision, Tree: tree,
	})
	f.usedOf(got.Began)
	if err != nil {
		return nil, err
	}
	out := gitFetched(repo, got.GitResult, options.Verify != nil, includes)
	out.began, out.signed = got.Began, signed
	return out, nil
}

// gitFetched says how what was fetched is stored and recorded.
func gitFetched(repo *sourcev1.GitRepository, got *source.GitResult, verify bool, includes included) *Fetched {
	out := &Fetched{
		Ready: func(a *source.Artifact) (string, string) {
			return meta.SucceededReason, fmt.Sprintf("stored artifact for revision '%s'", a.Revision)
		},
		Event: func(*source.Artifact) string {
			return fmt.Sprintf("stored artifact for commit '%s'", subject(got.CommitMessage))
		},
		Observe: func(after Origin, c *toolkit.Conditions) {
			status := &after.(GitRepository).Status
			if verify {
				verified(c, status, repo, got)
			} else {
				status.SourceVerificationMode = nil
				c.Drop(sourcev1.SourceVerifiedCondition)
			}
			status.ObservedIgnore, status.ObservedSparseCheckout = repo.Spec.Ignore, repo.Spec.SparseCheckout
			status.ObservedRecurseSubmodules = repo.Spec.RecurseSubmodules
			observeIncludes(status, repo, includes)
		},
	}
	if !got.Unchanged {
		out.Store = func(store *source.Store, key source.Key) error {
			_, err := store.Put(key, got.Revision, got.Tree, time.Now())
			return err
		}
	}
	return out
}

// verified writes down whose signatures were found. What was verified before still is.
func verified(c *toolkit.Conditions, after *sourcev1.GitRepositoryStatus, repo *sourcev1.GitRepository, got *source.GitResult) {
	mode := repo.Spec.Verification.GetMode()
	after.SourceVerificationMode = &mode
	if len(got.Verified) > 0 {
		c.Set(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, meta.SucceededReason,
			"verified signature of\n\t- "+strings.Join(got.Verified, "\n\t- "))
	}
}

func subject(message string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return first
}

// sameSelection reports whether the artifact in the status was selected by the same rules as are declared
// now.
func sameSelection(repo *sourcev1.GitRepository, now included) bool {
	return reflect.DeepEqual(repo.Status.ObservedIgnore, repo.Spec.Ignore) &&
		slices.Equal(repo.Status.ObservedSparseCheckout, repo.Spec.SparseCheckout) &&
		repo.Status.ObservedRecurseSubmodules == repo.Spec.RecurseSubmodules && sameIncludes(repo, now)
}

// wasVerified reports whether the artifact was verified as it is declared now.
func wasVerified(repo *sourcev1.GitRepository) bool {
	mode := repo.Status.SourceVerificationMode
	return mode != nil && *mode == repo.Spec.Verification.GetMode() &&
		apimeta.IsStatusConditionTrue(repo.Status.Conditions, sourcev1.SourceVerifiedCondition)
}
