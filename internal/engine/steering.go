package engine

import "strings"

// SteeredBy is what those annotations of a unit say by which a person answers its messages.
func SteeredBy(annotations map[string]string, names ...string) string {
	var values []string
	for _, name := range names {
		if value, there := annotations[name]; there {
			values = append(values, name+"="+value)
		}
	}
	return strings.Join(values, "\n")
}
