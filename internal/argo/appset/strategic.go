package appset

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// strategicMerge merges a patch as the types of an Application say. Fields that the types do not have, such as those
// within values of a chart, are merged as maps, with lists as a whole.
func strategicMerge(original, patch map[string]any) (map[string]any, error) {
	known, err := strategicpatch.NewPatchMetaFromStruct(v1alpha1.Application{})
	if err != nil {
		return nil, fmt.Errorf("reading the types of an Application: %w", err)
	}
	return strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(original, patch, lenient{known})
}

// lenient knows the fields that its inner one knows, and says of all others that they merge as JSON does.
type lenient struct {
	inner strategicpatch.LookupPatchMeta
}

// LookupPatchMetadataForStruct is how a field merges that is an object.
func (l lenient) LookupPatchMetadataForStruct(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	if l.inner == nil {
		return lenient{}, strategicpatch.PatchMeta{}, nil
	}
	inner, meta, err := l.inner.LookupPatchMetadataForStruct(key)
	if err != nil {
		return lenient{}, strategicpatch.PatchMeta{}, nil // An unknown field merges as JSON does.
	}
	return lenient{inner}, meta, nil
}

// LookupPatchMetadataForSlice is how a field merges that is a list.
func (l lenient) LookupPatchMetadataForSlice(key string) (strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	if l.inner == nil {
		return lenient{}, strategicpatch.PatchMeta{}, nil
	}
	inner, meta, err := l.inner.LookupPatchMetadataForSlice(key)
	if err != nil {
		return lenient{}, strategicpatch.PatchMeta{}, nil // An unknown field merges as JSON does.
	}
	return lenient{inner}, meta, nil
}

// Name is that of the type.
func (l lenient) Name() string {
	if l.inner == nil {
		return "object"
	}
	return l.inner.Name()
}
