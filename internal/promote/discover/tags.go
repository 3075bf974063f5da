package discover

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// maxPattern bounds a pattern or a constraint of a subscription, in bytes.
const maxPattern = 4096

// tagFilter says which tags a subscription takes.
type tagFilter struct {
	allow, ignore []*regexp.Regexp
	ignored       []string
	// versions takes tags that are versions alone, and strict those with all three numbers.
	versions, strict bool
	constraint       *semver.Constraints
}

// tagRules are the fields of a subscription that say which tags it takes, in both spellings.
type tagRules struct {
	allowTags                           string
	allowTagsRegexes, ignoreTagsRegexes []string
	ignoreTags                          []string
}

func (r tagRules) filter() (*tagFilter, error) {
	f := &tagFilter{ignored: r.ignoreTags}
	var err error
	if f.allow, err = expressions("allowTagsRegexes", r.allowTagsRegexes); err != nil {
		return nil, err
	}
	if f.ignore, err = expressions("ignoreTagsRegexes", r.ignoreTagsRegexes); err != nil {
		return nil, err
	}
	if r.allowTags != "" {
		p, err := pattern("allowTags", r.allowTags)
		if err != nil {
			return nil, err
		}
		f.allow = append(f.allow, p)
	}
	return f, nil
}

func expressions(field string, texts []string) ([]*regexp.Regexp, error) {
	all := make([]*regexp.Regexp, len(texts))
	for i, text := range texts {
		var err error
		if all[i], err = pattern(fmt.Sprintf("%s[%d]", field, i), text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func pattern(field, text string) (*regexp.Regexp, error) {
	if len(text) > maxPattern {
		return nil, fmt.Errorf("%s: the regular expression has more than %d bytes", field, maxPattern)
	}
	p, err := patterns.Regexp(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not a valid regular expression: %w", field, text, err)
	}
	return p, nil
}

// onlyVersions has the filter take versions that meet a constraint; all three numbers are demanded unless strict is false.
func (f *tagFilter) onlyVersions(field, constraint string, strict *bool) error {
	f.versions, f.strict = true, strict == nil || *strict
	var err error
	f.constraint, err = constraintOf(field, constraint)
	return err
}

// constraintOf reads versions; none is nil, which every version meets, pre-releases included.
func constraintOf(field, text string) (*semver.Constraints, error) {
	switch {
	case text == "":
		return nil, nil
	case len(text) > maxPattern:
		return nil, fmt.Errorf("%s: the constraint has more than %d bytes", field, maxPattern)
	}
	c, err := patterns.Constraint(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is not a valid constraint for versions: %w", field, text, err)
	}
	return c, nil
}

// takes reports whether a tag is one of the subscription.
func (f *tagFilter) takes(tag string) bool {
	matches := func(p *regexp.Regexp) bool { return p.MatchString(tag) }
	switch {
	case slices.Contains(f.ignored, tag), slices.ContainsFunc(f.ignore, matches):
		return false
	case len(f.allow) > 0 && !slices.ContainsFunc(f.allow, matches):
		return false
	case !f.versions:
		return true
	}
	v := f.version(tag)
	return v != nil && (f.constraint == nil || f.constraint.Check(v))
}

// version is a tag as a version, which may begin with "v", or nil.
func (f *tagFilter) version(tag string) *semver.Version {
	v, err := semver.NewVersion(tag)
	if err != nil {
		return nil
	}
	if f.strict {
		if _, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err != nil {
			return nil
		}
	}
	return v
}

// sorted puts items in the order of their names: by version where the filter demands those, else by the letters; what is last there comes first.
func sorted[T any](items []T, f *tagFilter, name func(T) string) {
	versions := map[string]*semver.Version{}
	if f.versions {
		for _, item := range items {
			versions[name(item)] = f.version(name(item))
		}
	}
	slices.SortStableFunc(items, func(a, b T) int {
		order := 0
		if f.versions {
			order = versions[name(b)].Compare(versions[name(a)])
		}
		return cmp.Or(order, strings.Compare(name(b), name(a)))
	})
}
