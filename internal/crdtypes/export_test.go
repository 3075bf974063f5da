package crdtypes

import "strings"

// CoreTypes are the names of the types of the core API that schemas may become.
func CoreTypes() []string {
	var names []string
	for _, one := range wellKnown().types {
		if strings.HasSuffix(one.of.PkgPath(), "core/v1") {
			names = append(names, one.of.Name())
		}
	}
	return names
}
