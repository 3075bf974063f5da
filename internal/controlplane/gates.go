package controlplane

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

// ParseGates reads settings of feature gates and checks that this Kubernetes takes them: an unknown gate is an error,
// and so is one whose setting is fixed.
func ParseGates(texts map[string]string) (map[string]bool, error) {
	gates := map[string]bool{}
	known := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	all := known.GetAll()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		on, err := strconv.ParseBool(texts[name])
		if err != nil {
			return nil, fmt.Errorf("%s=%s: write true or false", name, texts[name])
		}
		if _, is := all[featuregate.Feature(name)]; !is {
			return nil, fmt.Errorf("Kubernetes %s has no feature gate %q%s", versionNumber(), name, alike(name, all))
		}
		gates[name] = on
	}
	if err := known.SetFromMap(gates); err != nil {
		return nil, err
	}
	return gates, nil
}

// versionNumber is the version of the embedded Kubernetes.
func versionNumber() string {
	return utilfeature.DefaultMutableFeatureGate.EmulationVersion().String()
}

// alike names a gate that is written nearly like one that is unknown.
func alike(name string, all map[featuregate.Feature]featuregate.FeatureSpec) string {
	for _, known := range slices.Sorted(maps.Keys(all)) {
		if strings.EqualFold(string(known), name) {
			return fmt.Sprintf("; did you mean %q?", known)
		}
	}
	return ""
}

// OtherGates are the given gates that this Kubernetes has, but with another default.
func OtherGates(wanted map[string]bool) map[string]bool {
	other := map[string]bool{}
	all := utilfeature.DefaultMutableFeatureGate.GetAll()
	for name, on := range wanted {
		spec, known := all[featuregate.Feature(name)]
		if known && !spec.LockToDefault && utilfeature.DefaultMutableFeatureGate.Enabled(featuregate.Feature(name)) != on {
			other[name] = on
		}
	}
	return other
}

// setGates sets feature gates, which all parts of Kubernetes in this process share.
func setGates(gates map[string]bool) error {
	if len(gates) == 0 {
		return nil
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(gates); err != nil {
		return fmt.Errorf("setting feature gates: %w", err)
	}
	return nil
}
