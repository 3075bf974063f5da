package source

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// parseRange reads a range of versions.
func parseRange(text string) (*semver.Constraints, error) {
	if text == "" {
		text = "*"
	}
	constraint, err := patterns.Constraint(text)
	if err != nil {
		return nil, fmt.Errorf("%w: semver range %q: %w", ErrReference, text, err)
	}
	return constraint, nil
}

// parseVersion reads a version as Flux does: it has three numbers, and may begin with "v".
func parseVersion(text string) (*semver.Version, error) {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(text, "v")); err != nil {
		return nil, err
	}
	return semver.NewVersion(text)
}

// newestVersion returns the name with the highest version in a range. A name that is the range itself
// goes before all others.
func newestVersion(names []string, text string) (string, error) {
	constraint, err := parseRange(text)
	if err != nil {
		return "", err
	}
	var best *semver.Version
	var found string
	for _, name := range names {
		if name == text {
			return name, nil
		}
		v, err := parseVersion(name)
		if err != nil || !constraint.Check(v) {
			continue
		}
		// Of "v1.2.0" and "1.2.0", or of two builds of a version, always the same one.
		if best == nil || v.GreaterThan(best) || v.Equal(best) && name > found {
			best, found = v, name
		}
	}
	if best == nil {
		return "", fmt.Errorf("%w: no version matches the range %q", ErrReference, text)
	}
	return found, nil
}
