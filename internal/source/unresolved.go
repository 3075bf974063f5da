package source

import (
	"regexp"
	"strings"
)

// unresolvedText is what is said of a host whose name has no address: by which request, and by which resolver.
var unresolvedText = regexp.MustCompile(`(?:(?:Get|Head|Post|Put|Delete) "[^"]*": )?(?:dial tcp: )?lookup (\S+?)(?: on \S+)?: (no such host|server misbehaving)`)

// unresolved leaves of an error about a name what is of use: the resolver of the machine is not, and a host that the rest
// names is not named again. around is what the text will stand in.
func unresolved(text, around string) string {
	found := unresolvedText.FindStringSubmatchIndex(text)
	if found == nil {
		return text
	}
	before, after := text[:found[0]], text[found[1]:]
	host, what := text[found[2]:found[3]], text[found[4]:found[5]]
	if !strings.Contains(around+before+after, host) {
		what = host + ": " + what
	}
	return before + what + after
}
