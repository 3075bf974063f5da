package apply

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	// unchecked is what a server adds to what it found wrong: it says nothing of its own.
	unchecked = regexp.MustCompile(`[;,]? *<nil>: Invalid value: "?null"?: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`)
	// supported is the list of values that an enumeration has.
	supported = regexp.MustCompile(`(supported values: )("[^"]*"(?:, "[^"]*")+)`)
)

// supportedNamed is how many values of an enumeration are named.
const supportedNamed = 3

// Brief shortens what a server says is wrong with an object: of a list of supported values the first few stay, and what was
// not checked because of the rest is left out.
func Brief(text string) string {
	text = strings.TrimLeft(strings.ReplaceAll(unchecked.ReplaceAllString(text, ""), "[, ", "["), ";, ")
	return supported.ReplaceAllStringFunc(text, func(found string) string {
		parts := supported.FindStringSubmatch(found)
		values := strings.Split(parts[2], `", "`)
		more := len(values) - supportedNamed
		if more < 2 {
			return found
		}
		return parts[1] + strings.Join(values[:supportedNamed], `", "`) + fmt.Sprintf(`" and %d more`, more)
	})
}
