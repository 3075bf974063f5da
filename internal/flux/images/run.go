package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	"github.com/fluxcd/pkg/apis/acl"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/source"
)

// imageRun is one run of an automation.
type imageRun struct {
	keeper     *Keeper
	automation *autov1.ImageUpdateAutomation
	repo       *sourcev1.GitRepository
	policies   []*imagev1.ImagePolicy
	last       *lastPass
	// same is set when nothing changed but the time.
	same bool

	// result, named and notes are what the last edit came to; pushed words what was pushed.
	result images.Result
	named  map[string]bool
	notes  []string
	pushed string
}

// upToDate is the message of an automation that has done what there is to do.
const upToDate = "repository up-to-date"

func refusedRun(reason, message string) verdict {
	return verdict{reason: reason, message: message, stalled: true}
}

// do edits and pushes, and enters into the status what came of it.
func (r *imageRun) do(ctx context.Context) verdict {
	if v := r.refuse(); v != nil {
		return *v
	}
	edit, v := r.edit(ctx)
	if v != nil {
		return *v
	}
	now := observed(r.policies)
	was, made := r.last.Last()
	if made && was.generation == r.automation.Generation && (r.same || !r.last.others(r.automation.Status.ObservedPolicies, now, r.automation.Namespace)) {
		edit.Previous = r.last.seen
	}
	done, err := source.EditGit(ctx, edit)
	if err != nil {
		return runFailure(err)
	}
	status := &r.automation.Status
	status.ObservedPolicies, status.ObservedSourceRevision = now, done.Revision
	r.last.seen = done.Seen
	if !done.Unchanged {
		r.last.named = r.named
		r.last.notes = r.aside(done)
	}
	if done.Commit != "" {
		status.LastPushCommit, status.LastPushTime = done.Commit, &metav1.Time{Time: time.Now().Truncate(time.Second)}
		r.pushed = fmt.Sprintf("pushed commit '%.7s' to branch '%s'", done.Commit, edit.Branch)
		if edit.Refspec != "" {
			r.pushed += fmt.Sprintf(" and refspecs '%s'", edit.Refspec)
		}
		r.pushed += "\n" + done.Message
	}
	return succeededWith(upToDate + r.last.notes)
}

// aside words what was left alone, and what is not pushed.
func (r *imageRun) aside(done *source.GitEdited) string {
	var text string
	if r.keeper.unpushed != "" {
		if changed := sortedKeys(r.result.FileChanges); len(changed) > 0 {
			text = fmt.Sprintf("; %s; %d file(s) would change: %s", r.keeper.unpushed, len(changed), engine.First(changed, shownFiles))
		}
	}
	for _, name := range done.Large {
		r.notes = append(r.notes, name+": too large to be edited")
	}
	if len(r.notes) > 0 {
		text += "; not changed: " + engine.First(r.notes, shownFiles)
	}
	return text
}

// refuse reports what of the declaration cannot be done.
func (r *imageRun) refuse() *verdict {
	a := r.automation
	id := automatedSource(a)
	var v verdict
	switch {
	case id.Kind != sourcev1.GitRepositoryKind:
		v = refusedRun(autov1.InvalidSourceConfigReason, fmt.Sprintf("spec.sourceRef.kind: source kind '%s' not supported", id.Kind))
	case a.Spec.GitSpec == nil:
		v = refusedRun(autov1.InvalidSourceConfigReason, "source kind 'GitRepository' necessitates field .spec.git")
	case id.Namespace != a.Namespace && r.keeper.rules.Now().NoCrossNamespaceRefs:
		v = refusedRun(acl.AccessDeniedReason, fmt.Sprintf("can't access '%s', cross-namespace references have been blocked", id))
	case a.Spec.Update == nil || a.Spec.Update.Strategy == "":
		v = refusedRun(autov1.InvalidUpdateStrategyReason, "spec.update.strategy: no update strategy")
	case a.Spec.Update.Strategy != autov1.UpdateStrategySetters:
		v = refusedRun(autov1.InvalidUpdateStrategyReason, fmt.Sprintf("spec.update.strategy: unsupported update strategy: %s", a.Spec.Update.Strategy))
	case r.repo == nil:
		v = verdict{reason: autov1.SourceManagerFailedReason, message: fmt.Sprintf("failed configuring source manager: %s does not exist", id), woken: true}
	default:
		return nil
	}
	return &v
}

// edit puts together what is asked of the repository.
func (r *imageRun) edit(ctx context.Context) (source.GitEdit, *verdict) {
	spec, k := r.automation.Spec.GitSpec, r.keeper
	options, err := k.sources.Options(ctx, r.repo)
	if err != nil {
		v := runFailure(fmt.Errorf("failed configuring source manager: %w", err))
		if !v.stalled {
			v.reason = autov1.SourceManagerFailedReason
		}
		return source.GitEdit{}, &v
	}
	ref := r.repo.Spec.Reference
	if spec.Checkout != nil {
		ref = &spec.Checkout.Reference
		options.Ref = source.GitRef{Branch: ref.Branch, Tag: ref.Tag, SemVer: ref.SemVer, Name: ref.Name, Commit: ref.Commit}
	}
	edit := source.GitEdit{
		GitOptions: options, AuthorName: spec.Commit.Author.Name, AuthorEmail: spec.Commit.Author.Email,
		Dir: r.automation.Spec.Update.Path, Wants: wanted, Edit: func(given map[string][]byte) (map[string][]byte, string, error) { return r.set(ctx, given) }, Dry: k.unpushed != "",
	}
	if spec.Push != nil {
		edit.Branch, edit.Refspec, edit.PushOptions = spec.Push.Branch, spec.Push.Refspec, spec.Push.Options
	}
	if edit.Branch == "" && ref != nil {
		edit.Branch = ref.Branch
	}
	if edit.Branch == "" {
		v := refusedRun(autov1.InvalidSourceConfigReason,
			"push spec not provided, and cannot be inferred from .spec.git.checkout.ref or GitRepository .spec.ref; set spec.git.push.branch")
		return edit, &v
	}
	if err := edit.Check(); err != nil {
		v := refusedRun(autov1.InvalidSourceConfigReason, err.Error())
		return edit, &v
	}
	if edit.Sign, err = r.signer(ctx, spec.Commit.SigningKey); err != nil {
		return edit, &verdict{reason: autov1.SourceManagerFailedReason, message: err.Error()}
	}
	return edit, nil
}

// signer reads the key that signs commits.
func (r *imageRun) signer(ctx context.Context, key *autov1.SigningKey) (*source.Signer, error) {
	if key == nil {
		return nil, nil
	}
	const field = "spec.git.commit.signingKey.secretRef"
	namespace, name := r.automation.Namespace, key.SecretRef.Name
	data, err := r.keeper.sources.Secret(ctx, namespace, field, name)
	if err != nil {
		return nil, err
	}
	var signer *source.Signer
	if key.Type == autov1.SigningKeyTypeSSH {
		signer, err = source.SSHSigner(data["identity"], data["password"])
	} else {
		signer, err = source.PGPSigner(data["git.asc"], data["passphrase"])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: Secret %q: %w", field, namespace+"/"+name, err)
	}
	return signer, nil
}

// wanted are files of YAML with a marker; without a content it reports what is worth reading.
func wanted(path string, content []byte) bool {
	named := strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
	return named && (content == nil || bytes.Contains(content, []byte(images.Token)))
}

// set puts the images into the files.
func (r *imageRun) set(ctx context.Context, given map[string][]byte) (map[string][]byte, string, error) {
	r.result, r.named, r.notes = images.Result{}, map[string]bool{}, nil
	chosen, changed := settable(r.policies), map[string][]byte{}
	for _, path := range sortedKeys(given) {
		edit := images.Set(given[path], chosen)
		for name := range edit.Policies {
			r.named[name] = true
		}
		for _, note := range edit.Notes {
			r.notes = append(r.notes, path+": "+note)
		}
		if edit.Data != nil {
			changed[path] = edit.Data
			r.result.Add(path, edit.Changes)
		}
	}
	if len(changed) == 0 {
		return nil, "", nil
	}
	message, err := r.message(ctx)
	if err != nil {
		return nil, "", &messageError{err}
	}
	return changed, message, nil
}

// messageError is a template that gives no message.
type messageError struct{ error }

func (e *messageError) Unwrap() error { return e.error }

// runFailure words as Flux does why a repository was not changed.
func runFailure(err error) verdict {
	v := verdict{reason: autov1.GitOperationFailedReason, message: err.Error()}
	var unsupported *access.UnsupportedError
	var message *messageError
	switch {
	case errors.Is(err, images.ErrRemovedField):
		v.reason, v.stalled = autov1.RemovedTemplateFieldReason, true
	case errors.As(err, &message):
		v.reason, v.stalled = autov1.UpdateFailedReason, true
	case errors.As(err, &unsupported):
		v.reason, v.stalled = string(engine.ReasonUnsupported), true
	}
	return v
}
