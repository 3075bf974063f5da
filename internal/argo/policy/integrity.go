package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/source"
)

// Modes of spec.sourceIntegrity.git.policies[].gpg.
const (
	integrityNone = "none"
	integrityHead = "head"
)

// integrity is what a project requires of the signatures of commits.
type integrity struct {
	repos []repoPattern
	gpg   *v1alpha1.SourceIntegrityGitPolicyGPG
}

// repoPattern is a glob of addresses; one with "!" leaves out.
type repoPattern struct {
	excludes bool
	// plain matches an address as it is written, normal one that is made alike. Both are nil for a pattern that cannot be read.
	plain, normal patterns.Glob
}

// readIntegrity reads what a project requires of signatures.
func (p *Project) readIntegrity() []error {
	si := p.Spec.SourceIntegrity
	if si == nil || si.Git == nil {
		return nil
	}
	var errs []error
	for i, of := range si.Git.Policies {
		read := integrity{gpg: of.GPG}
		for j, repo := range of.Repos {
			pattern, err := newRepoPattern(repo.URL)
			if err != nil {
				errs = append(errs, fmt.Errorf("project '%s': spec.sourceIntegrity.git.policies[%d].repos[%d]: %w", p.Name, i, j, err))
			}
			read.repos = append(read.repos, pattern)
		}
		p.integrity = append(p.integrity, read)
	}
	return errs
}

func newRepoPattern(text string) (repoPattern, error) {
	rest, excludes := strings.CutPrefix(text, denial)
	p := repoPattern{excludes: excludes}
	plain, err := patterns.NewGlob(rest)
	if err != nil {
		return p, fmt.Errorf("%q is not a pattern: %w", text, err)
	}
	p.plain, p.normal = plain, plain
	if normal, err := patterns.NewGlob(settings.NormalURL(rest)); err == nil {
		p.normal = normal
	}
	return p, nil
}

// covers reports whether an address is among the repositories. No other way to write it leads past that, and nor does a pattern that
// cannot be read: that includes everything, and excludes nothing.
func (i integrity) covers(address string) bool {
	normal := withoutUser(settings.NormalURL(address))
	covered := false
	for _, p := range i.repos {
		switch {
		case p.plain == nil:
			covered = covered || !p.excludes
		case p.excludes && p.plain.Match(address):
			return false
		case !p.excludes:
			covered = covered || p.plain.Match(address) || p.normal.Match(normal)
		}
	}
	return covered
}

// RequiresSignature reports whether commits of a repository of Git have to be signed.
func (p *Project) RequiresSignature(address string) bool {
	required, err := p.requires(address)
	return err != nil || len(required) > 0
}

// requires are the keys by which commits of a repository have to be signed: by one of each list. A project of which that cannot be
// said requires what no commit has.
func (p *Project) requires(address string) ([][]string, error) {
	var lists [][]string
	if len(p.Spec.SignatureKeys) > 0 {
		var keys []string
		for _, k := range p.Spec.SignatureKeys {
			keys = append(keys, k.KeyID)
		}
		lists = append(lists, keys)
	}
	covering := slices.DeleteFunc(slices.Clone(p.integrity), func(i integrity) bool { return !i.covers(address) })
	switch {
	case len(covering) == 0:
		return lists, nil
	case len(covering) > 1:
		// It is an error, not a choice: a mistake must not end the verification.
		return nil, fmt.Errorf("multiple (%d) git source integrity policies found for repo URL: %s", len(covering), redaction.Text(address))
	case covering[0].gpg == nil || covering[0].gpg.Mode == integrityNone:
		return lists, nil
	case covering[0].gpg.Mode != integrityHead:
		return nil, fmt.Errorf("GPG mode %q of spec.sourceIntegrity in project '%s' is not supported: use head, which verifies the commit or the tag, but not its history",
			covering[0].gpg.Mode, p.Name)
	}
	return append(lists, covering[0].gpg.Keys), nil
}

// Revision is a commit that was read of a repository, or the annotated tag that selected it.
type Revision struct {
	// Source is what the source is called among several, empty for the only one.
	Source string
	// Address is the URL of the repository.
	Address string
	source.Signatory
}

// PermitsRevision is an error unless a revision is signed as the project requires. Texts are upstream's.
func (p *Project) PermitsRevision(r Revision) error {
	required, err := p.requires(r.Address)
	if err != nil {
		return err
	}
	for _, keys := range required {
		problem := ""
		switch {
		case r.Result != source.Good:
			problem = r.Result
		case !lists(keys, r.Key) && !lists(keys, r.Primary):
			problem = "signed with unallowed key"
		default:
			continue
		}
		where := ""
		if r.Source != "" {
			where = "source " + r.Source + ": "
		}
		return fmt.Errorf("GIT/GPG: %sFailed verifying revision %s by '%s': %s (key_id=%s)", where, r.Revision, r.By, problem, r.Key)
	}
	return nil
}

// lists reports whether a key is one of several, which are named by their identities or their fingerprints.
func lists(keys []string, id string) bool {
	return id != "" && slices.ContainsFunc(keys, func(k string) bool { return source.KeyID(k) == strings.ToUpper(id) })
}

// ErrLocalManifests is a sync with manifests that a person brings, where signatures are required: no one signed these.
var ErrLocalManifests = errors.New("Cannot use local manifests when source integrity is enforced")
