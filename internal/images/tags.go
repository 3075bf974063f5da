package images

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/patterns"
)

// sampled is how many tags a status shows.
const sampled = 10

// Tags are those of a repository, in descending alphabetical order.
type Tags []string

// Without leaves the tags out that match one of the regular expressions of an exclusionList.
func Without(tags, excluded []string) (Tags, error) {
	compiled := make([]*regexp.Regexp, len(excluded))
	for i, text := range excluded {
		pattern, err := patterns.Regexp(text)
		if err != nil {
			return nil, fmt.Errorf("spec.exclusionList[%d]: failed to compile regex %s: %w", i, text, err)
		}
		compiled[i] = pattern
	}
	kept := Tags{}
	for _, tag := range tags {
		if !slices.ContainsFunc(compiled, func(p *regexp.Regexp) bool { return p.MatchString(tag) }) {
			kept = append(kept, tag)
		}
	}
	slices.SortFunc(kept, func(a, b string) int { return strings.Compare(b, a) })
	return slices.Compact(kept), nil
}

// Sample are the first few.
func (t Tags) Sample() []string {
	return slices.Clone(t[:min(len(t), sampled)])
}

// Revision is a digest of them, which is the same for the same tags.
func (t Tags) Revision() string {
	sum := sha256.Sum256([]byte(strings.Join(t, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:8])
}
