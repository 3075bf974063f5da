// Package images selects images and writes them into files, as pure values: which of a repository's tags a
// policy takes, where a file of YAML names a policy, what the file becomes, and what the commit says.
//
// It asks no registry and reads no file: it is given tags and bytes. An edit moves nothing of a file but the
// marked values.
package images

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// ErrPolicy is a policy that cannot be followed, whatever tags there are.
var ErrPolicy = errors.New("invalid policy")

// Order is how tags are compared that are no versions.
type Order string

// The orders. Ascending takes the highest tag, descending the lowest; nothing means ascending.
const (
	Ascending  Order = "asc"
	Descending Order = "desc"
)

// Policy selects a tag. One of SemVer, Alphabetical and Numerical has to be set.
type Policy struct {
	// SemVer is a range of versions.
	SemVer *string
	// Alphabetical and Numerical are orders.
	Alphabetical, Numerical *Order
	// Pattern is a regular expression that tags have to match; what Extract makes of the match, with $1 or
	// $name for its groups, is compared instead of the tag.
	Pattern, Extract string
}

// candidate is a tag, and what is compared of it.
type candidate struct{ tag, key string }

// Latest returns the tag that a policy selects. An ErrPolicy lies in the policy itself, any other error in the
// tags. Of tags that compare the same it is always the same one.
func (p Policy) Latest(tags []string) (string, error) {
	compare, err := p.order()
	if err != nil {
		return "", err
	}
	found, err := p.filter(tags)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", p.none(tags)
	}
	best, err := compare(found)
	if err != nil {
		return "", err
	}
	if best == nil {
		return "", fmt.Errorf("unable to determine latest version from provided list: none of %d tags is a version in the range %q", len(found), *p.SemVer)
	}
	return best.tag, nil
}

// none words that there is nothing to choose from.
func (p Policy) none(tags []string) error {
	if len(tags) == 0 {
		return errors.New("version list argument cannot be empty: the repository has no tags")
	}
	return fmt.Errorf("version list argument cannot be empty: none of %d tags matches filterTags.pattern %q", len(tags), p.Pattern)
}

// filter keeps the tags that match the pattern.
func (p Policy) filter(tags []string) ([]candidate, error) {
	pattern, err := patterns.Regexp(p.Pattern)
	if err != nil {
		return nil, fmt.Errorf("%w: filterTags.pattern: invalid regular expression pattern '%s': %w", ErrPolicy, p.Pattern, err)
	}
	var found []candidate
	for _, tag := range tags {
		match := pattern.FindStringSubmatchIndex(tag)
		if match == nil {
			continue
		}
		key := tag
		if p.Extract != "" {
			key = string(pattern.ExpandString(nil, p.Extract, tag, match))
		}
		found = append(found, candidate{tag, key})
	}
	return found, nil
}

// order returns what selects among candidates; it gives none when nothing is in the range.
func (p Policy) order() (func([]candidate) (*candidate, error), error) {
	set := 0
	for _, given := range []bool{p.SemVer != nil, p.Alphabetical != nil, p.Numerical != nil} {
		if given {
			set++
		}
	}
	if set != 1 {
		return nil, fmt.Errorf("%w: policy: set one of semver, alphabetical and numerical", ErrPolicy)
	}
	if p.SemVer != nil {
		allowed, err := patterns.Constraint(*p.SemVer)
		if err != nil {
			return nil, fmt.Errorf("%w: policy.semver.range: %q: %w", ErrPolicy, *p.SemVer, err)
		}
		return func(found []candidate) (*candidate, error) { return newest(found, allowed), nil }, nil
	}
	if p.Alphabetical != nil {
		sign, err := p.Alphabetical.sign("alphabetical")
		return func(found []candidate) (*candidate, error) { return last(found, sign), nil }, err
	}
	sign, err := p.Numerical.sign("numerical")
	return func(found []candidate) (*candidate, error) { return highest(found, sign) }, err
}

func (o Order) sign(policy string) (int, error) {
	switch o {
	case "", Ascending:
		return 1, nil
	case Descending:
		return -1, nil
	default:
		return 0, fmt.Errorf("%w: policy.%s.order: %q: use asc or desc", ErrPolicy, policy, string(o))
	}
}

// newest returns the candidate with the highest version in a range. A version has three numbers, and may begin
// with "v"; a tag that is none is passed over.
func newest(found []candidate, allowed *semver.Constraints) *candidate {
	var best *candidate
	var highest *semver.Version
	for i, c := range found {
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(c.key, "v")); err != nil {
			continue
		}
		v, err := semver.NewVersion(c.key)
		if err != nil || !allowed.Check(v) {
			continue
		}
		if best == nil || v.GreaterThan(highest) || v.Equal(highest) && c.tag > best.tag {
			best, highest = &found[i], v
		}
	}
	return best
}

func last(found []candidate, sign int) *candidate {
	best := slices.MaxFunc(found, func(a, b candidate) int {
		return cmp.Or(sign*strings.Compare(a.key, b.key), strings.Compare(a.tag, b.tag))
	})
	return &best
}

func highest(found []candidate, sign int) (*candidate, error) {
	numbers := make(map[string]float64, len(found))
	for _, c := range found {
		number, err := strconv.ParseFloat(c.key, 64)
		if err != nil {
			return nil, fmt.Errorf("failed to parse invalid numeric value '%s' of tag %q; exclude such tags by filterTags", c.key, c.tag)
		}
		numbers[c.tag] = number
	}
	best := slices.MaxFunc(found, func(a, b candidate) int {
		return cmp.Or(sign*cmp.Compare(numbers[a.tag], numbers[b.tag]), strings.Compare(a.tag, b.tag))
	})
	return &best, nil
}
