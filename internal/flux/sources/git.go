package sources

import (
	"context"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/source"
)

// Options reads how a GitRepository is fetched.
func (s *Keeper) Options(ctx context.Context, repo *sourcev1.GitRepository) (source.GitOptions, error) {
	if err := UnsupportedGit(repo); err != nil {
		return source.GitOptions{}, err
	}
	var err error
	o := source.GitOptions{
		URL: s.Rewritten(repo.Spec.URL), Ignore: repo.Spec.Ignore, Sparse: repo.Spec.SparseCheckout,
		RecurseSubmodules: repo.Spec.RecurseSubmodules, SpillDir: s.Store.SpillDir(), Egress: s.Egress,
	}
	if repo.Spec.Timeout != nil {
		o.Timeout = repo.Spec.Timeout.Duration
	}
	o.Ref = selectionOf(repo)
	if o.Verify, err = s.verification(ctx, repo); err != nil {
		return o, err
	}
	if s.rewrite != nil {
		if local, ok := s.rewrite(repo.Spec.URL); ok {
			// A working copy is its user's own; what is not committed yet cannot be signed.
			o.URL, o.Username, o.Password, o.Verify = local.URL, local.Username, local.Password, nil
			return o, nil
		}
	}
	if repo.Spec.ProxySecretRef != nil {
		if o.Proxy, err = s.Proxy(ctx, repo.Namespace, repo.Spec.ProxySecretRef.Name); err != nil {
			return o, &access.Failure{Reason: sourcev1.AuthenticationFailedReason, Err: err}
		}
	}
	err = s.login(ctx, repo, &o)
	return o, err
}

// verification reads the keys by which a GitRepository has to be signed.
func (s *Keeper) verification(ctx context.Context, repo *sourcev1.GitRepository) (*source.Verification, error) {
	verify := repo.Spec.Verification
	if verify == nil {
		return nil, nil
	}
	data, err := s.Secret(ctx, repo.Namespace, "spec.verify.secretRef", verify.SecretRef.Name)
	if err != nil {
		return nil, &access.Failure{Reason: access.ReasonVerification, Err: err}
	}
	return &source.Verification{Commit: verify.VerifyHEAD(), Tag: verify.VerifyTag(), Keys: data}, nil
}
