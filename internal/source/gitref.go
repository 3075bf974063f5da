package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// target is a commit that was selected.
type target struct {
	// reference is what is fetched, empty for all branches; label is how the revision names it.
	reference plumbing.ReferenceName
	label     string
	// hash is that of the commit, offered what the reference names: the commit, or an annotated tag of it.
	hash, offered plumbing.Hash
	// full asks for the whole history, since the commit need not be at its end.
	full bool
}

func (t target) revision() string {
	if t.label == "" {
		return "sha1:" + t.hash.String()
	}
	return t.label + "@sha1:" + t.hash.String()
}

// tag tells the annotated tag apart that names the commit, as Signatures.TagID does; it is empty if none does.
func (t target) tag() string {
	if t.full || t.offered == t.hash {
		return ""
	}
	return tagID(t.reference.Short(), t.offered.String())
}

func commitTarget(ref GitRef) (target, error) {
	if !plumbing.IsHash(ref.Commit) {
		return target{}, fmt.Errorf("%w: %q is not a commit hash", ErrReference, ref.Commit)
	}
	t := target{hash: plumbing.NewHash(ref.Commit), full: true}
	if ref.Branch != "" {
		t.reference, t.label = plumbing.NewBranchReferenceName(ref.Branch), ref.Branch
	}
	return t, nil
}

func selectRef(ref GitRef, known references) (target, error) {
	switch {
	case ref.Name != "":
		return target{reference: plumbing.ReferenceName(ref.Name), label: ref.Name}, nil
	case ref.SemVer != "":
		return selectVersion(ref.SemVer, known)
	case ref.Tag != "":
		return target{reference: plumbing.NewTagReferenceName(ref.Tag), label: ref.Tag}, nil
	case ref.Branch != "":
		return target{reference: plumbing.NewBranchReferenceName(ref.Branch), label: ref.Branch}, nil
	default:
		return target{reference: plumbing.NewBranchReferenceName("master"), label: "master"}, nil
	}
}

// version is a tag that is one.
type version struct {
	*semver.Version
	tag string
}

// selectVersion selects the tag with the highest version in a range.
func selectVersion(text string, known references) (target, error) {
	constraint, err := patterns.Constraint(text)
	if err != nil {
		return target{}, fmt.Errorf("%w: semver range %q: %w", ErrReference, text, err)
	}
	var found []version
	for name := range known {
		tag, ok := strings.CutPrefix(string(name), "refs/tags/")
		if !ok || strings.HasSuffix(tag, "^{}") {
			continue
		}
		if v, err := semver.NewVersion(tag); err == nil && constraint.Check(v) {
			found = append(found, version{v, tag})
		}
	}
	if len(found) == 0 {
		return target{}, fmt.Errorf("%w: no tag matches the semver range %q", ErrReference, text)
	}
	newest := slices.MaxFunc(found, func(a, b version) int {
		if c := a.Compare(b.Version); c != 0 {
			return c
		}
		// Of "v1.2.0" and "1.2.0", or of two builds of a version, always the same one.
		return strings.Compare(a.tag, b.tag)
	})
	return target{reference: plumbing.NewTagReferenceName(newest.tag), label: newest.tag}, nil
}

// References are what a server has listed of a repository. They are never changed.
type References struct{ known references }

// Revision is that of the commit that is selected.
func (l *References) Revision(ref GitRef) (string, error) {
	t, err := l.known.target(ref)
	return t.revision(), err
}

// Tag tells the annotated tag apart that is selected, as Signatures.TagID does; it is empty if none is.
func (l *References) Tag(ref GitRef) string {
	t, err := l.known.target(ref)
	if err != nil {
		return ""
	}
	return t.tag()
}

// references are what a server lists.
type references map[plumbing.ReferenceName]*plumbing.Reference

// target selects a commit.
func (known references) target(ref GitRef) (target, error) {
	if ref.Commit != "" {
		return commitTarget(ref)
	}
	t, err := selectRef(ref, known)
	if err != nil {
		return t, err
	}
	return known.find(t)
}

// find fills in the commit that the reference of a target names, and the name under which it can be fetched.
func (known references) find(t target) (target, error) {
	ref, ok := known[t.reference]
	if ok && ref.Type() == plumbing.SymbolicReference {
		t.reference = ref.Target()
		ref, ok = known[t.reference]
	}
	if !ok || ref.Type() != plumbing.HashReference {
		return t, fmt.Errorf("%w: the repository has no %q", ErrReference, t.reference)
	}
	t.hash, t.offered = ref.Hash(), ref.Hash()
	// An annotated tag is an object of its own; the commit that it names is listed beside it.
	if peeled, ok := known[t.reference+"^{}"]; ok {
		t.hash = peeled.Hash()
	}
	return t, nil
}
