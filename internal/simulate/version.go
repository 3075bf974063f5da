package simulate

import (
	"regexp"
	"strings"
)

var versionNumber = regexp.MustCompile(`\d+(\.\d+)?(\.\d+)?(-[0-9A-Za-z.-]+)?`)

// Version is a version that a range names, as whole as it has to be.
func Version(text string) string {
	found := versionNumber.FindString(text)
	if found == "" {
		return "0.0.0"
	}
	number, suffix, cut := strings.Cut(found, "-")
	for strings.Count(number, ".") < 2 {
		number += ".0"
	}
	if cut {
		number += "-" + suffix
	}
	return number
}
