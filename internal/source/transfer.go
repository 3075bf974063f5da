package source

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// fetch has a reference with one commit, or with all of its history, or all branches, in a repository that has nothing of it.
func (r *remote) fetch(ctx context.Context, repo *git.Repository, t target) (err error) {
	session, err := r.session()
	if err != nil {
		return r.explain(ctx, err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	offered, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return r.explain(ctx, err)
	}
	wanted, err := t.among(offered)
	if err != nil {
		return fmt.Errorf("fetching %q: %w", r.url, err)
	}
	asked := packp.NewUploadPackRequestFromCapabilities(offered.Capabilities)
	for _, ref := range wanted {
		asked.Wants = append(asked.Wants, ref.Hash())
	}
	if err := t.narrow(asked, offered.Capabilities); err != nil {
		return r.explain(ctx, err)
	}
	if err := r.take(ctx, repo, session, asked); err != nil {
		return r.explain(ctx, err)
	}
	for _, ref := range wanted {
		if err := repo.Storer.SetReference(ref); err != nil {
			return err
		}
	}
	return nil
}

// among are the references that are fetched, as hashes.
func (t target) among(offered *packp.AdvRefs) ([]*plumbing.Reference, error) {
	all, err := offered.AllReferences()
	if err != nil {
		return nil, err
	}
	if t.reference != "" {
		ref, err := storer.ResolveReference(all, t.reference)
		if err != nil {
			return nil, ErrReference
		}
		return []*plumbing.Reference{plumbing.NewHashReference(t.reference, ref.Hash())}, nil
	}
	var branches []*plumbing.Reference
	for name, ref := range all {
		if name.IsBranch() && ref.Type() == plumbing.HashReference {
			branches = append(branches, ref)
		}
	}
	return branches, nil
}

// narrow asks for one commit alone, unless all of the history is wanted.
func (t target) narrow(asked *packp.UploadPackRequest, can *capability.List) error {
	if can.Supports(capability.NoProgress) {
		if err := asked.Capabilities.Set(capability.NoProgress); err != nil {
			return err
		}
	}
	if t.full {
		return nil
	}
	asked.Depth = packp.DepthCommits(1)
	return asked.Capabilities.Set(capability.Shallow)
}

// take stores what a server sends.
func (r *remote) take(ctx context.Context, repo *git.Repository, session transport.UploadPackSession, asked *packp.UploadPackRequest) (err error) {
	answer, err := session.UploadPack(ctx, asked)
	if errors.Is(err, transport.ErrEmptyUploadPackRequest) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	if len(answer.Shallows) > 0 {
		if err := repo.Storer.SetShallow(answer.Shallows); err != nil {
			return err
		}
	}
	return packfile.UpdateObjectStorage(repo.Storer, sentPack(asked, answer))
}

// sentPack is what a server sends, without what it says beside it.
func sentPack(asked *packp.UploadPackRequest, answer io.Reader) io.Reader {
	switch {
	case asked.Capabilities.Supports(capability.Sideband64k):
		return sideband.NewDemuxer(sideband.Sideband64k, answer)
	case asked.Capabilities.Supports(capability.Sideband):
		return sideband.NewDemuxer(sideband.Sideband, answer)
	}
	return answer
}
