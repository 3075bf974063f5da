package sources

import (
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/dialect"

	"github.com/headgate-dev/headgate/internal/source"
)

// SetRewrites sends fetches elsewhere from now on; what is fetched from another place now is fetched again.
func (s *Keeper) SetRewrites(rules source.Rewrites) {
	before := s.rewrites.Swap(&rules)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, f := range s.feeds {
		o := f.Current()
		if o == nil {
			continue
		}
		// What a chart or a bucket is fetched from is not told by its own object alone.
		if address := o.Address(); address == "" || before == nil || before.Apply(address) != rules.Apply(address) {
			f.Nudge()
		}
	}
}

// rewriting are the rules of now.
func (s *Keeper) rewriting() source.Rewrites {
	if rules := s.rewrites.Load(); rules != nil {
		return *rules
	}
	return source.Rewrites{}
}

// RewritesName is the ConfigMap in Namespace whose lines, of all its keys, send fetches elsewhere: each is
// a rule FROM=TO, blank, or a comment that begins with "#". Those of the command line go before it.
const RewritesName = dialect.RewritesName

// RuleLines are the rules among the lines of a ConfigMap.
func RuleLines(data map[string]string) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for line := range strings.Lines(data[key]) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
