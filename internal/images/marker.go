package images

import (
	"encoding/json"
	"strings"
)

// markerKey is the key of the comment by which a value names a policy.
const markerKey = "$imagepolicy"

// Token is in every file that has a marker.
const Token = `"` + markerKey + `"`

// part is what of an image a value shows.
type part string

// The parts. A value without one shows all of the image.
const (
	whole      part = ""
	nameOnly   part = "name"
	tagOnly    part = "tag"
	digestOnly part = "digest"
)

// marker is what the comment of a value says.
type marker struct {
	// setter is the text of the comment, policy the "namespace:name" in it.
	setter, policy string
	part           part
}

// readMarker reads what follows a value on its line: {"$imagepolicy": "namespace:name[:part]"} after a "#".
// There may be the ends of lists and maps in flow style before it.
func readMarker(rest string) (marker, bool) {
	trimmed := strings.TrimLeft(rest, " \t]},")
	comment, ok := strings.CutPrefix(trimmed, "#")
	if !ok || trimmed == rest {
		return marker{}, false
	}
	var said map[string]string
	if json.Unmarshal([]byte(strings.TrimSpace(strings.TrimLeft(comment, "#"))), &said) != nil {
		return marker{}, false
	}
	setter, ok := said[markerKey]
	if !ok {
		return marker{}, false
	}
	m := marker{setter: setter, policy: setter}
	if parts := strings.Split(setter, ":"); len(parts) == 3 {
		m.policy, m.part = parts[0]+":"+parts[1], part(parts[2])
	}
	return m, true
}

// Image is the image that a policy selected.
type Image struct{ Name, Tag, Digest string }

// String is the image as it is pulled.
func (i Image) String() string {
	text := i.Name + ":" + i.Tag
	if i.Digest != "" {
		text += "@" + i.Digest
	}
	return text
}

// value is what a marker asks for of an image, or why there is no such thing.
func (m marker) value(i Image) (value, why string) {
	switch m.part {
	case whole:
		return i.String(), ""
	case nameOnly:
		return i.Name, ""
	case tagOnly:
		return i.Tag, ""
	case digestOnly:
		if i.Digest == "" {
			return "", "policy " + m.policy + " has no digest; set its spec.digestReflectionPolicy"
		}
		return i.Digest, ""
	default:
		return "", "a marker ends in :name, :tag or :digest, not in :" + string(m.part)
	}
}
