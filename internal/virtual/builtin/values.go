package builtin

import (
	"fmt"
	"maps"
	"slices"
)

// Values is what an installation requests that is served.
type Values struct {
	// ByName are the Secrets of the host that the virtual cluster has, as they are declared; nil without them.
	ByName map[string]string
	// Ignored are paths of values that request something of the exported kubeconfig, which is as this process makes it: in order.
	Ignored []string
}

// Refusal is a value that cannot be served.
type Refusal struct {
	// Path is where it is in the values, with dots.
	Path string
	// Reason says why.
	Reason string
}

// Error names the value, and says why it is refused.
func (r Refusal) Error() string { return fmt.Sprintf("value %s: %s", r.Path, r.Reason) }

// reasons of refusals.
const (
	unknown     = "unknown to the virtual clusters of this process"
	unsupported = "not supported by the virtual clusters of this process"
)

// reader takes a value that is served.
type reader func(v *Values, value any) error

// served are the values that have an effect, by their paths.
var served = map[string]reader{
	mappings: byName,
	enabled:  boolean,
}

// The paths of what is copied from the host.
const (
	enabled  = "sync.fromHost.secrets.enabled"
	mappings = "sync.fromHost.secrets.mappings.byName"
)

// silent are the values that say how pods of a virtual cluster run, and what they leave in the host: there are none. The server of the
// kubeconfig is among them, since its address is one that the chart makes up.
var silent = []string{
	"controlPlane", "exportKubeConfig.server", "global", "logging", "networking", "policies", "rbac", "sleepMode", "sync.toHost", "telemetry",
	"sync.fromHost.csiDrivers", "sync.fromHost.csiNodes", "sync.fromHost.csiStorageCapacities", "sync.fromHost.events",
	"sync.fromHost.ingressClasses", "sync.fromHost.nodes", "sync.fromHost.priorityClasses", "sync.fromHost.runtimeClasses",
	"sync.fromHost.storageClasses", "sync.fromHost.volumeSnapshotClasses",
}

// ignored are the values of which users read that they have no effect.
var ignored = []string{
	"exportKubeConfig.additionalSecrets", "exportKubeConfig.context", "exportKubeConfig.insecure", "exportKubeConfig.secret", "exportKubeConfig.serviceAccount",
}

// refused are the values that request what a user would miss.
var refused = []string{
	"deploy", "experimental", "external", "integrations", "platform", "plugin", "plugins", "privateNodes",
	"sync.fromHost.configMaps", "sync.fromHost.customResources", "sync.fromHost.secrets.selector",
}

// Read reads the values of an installation. Every value that is unknown or cannot be served is a refusal, in order of their paths.
func Read(values map[string]any) (Values, []Refusal) {
	w := walk{}
	w.object("", values)
	if !w.on {
		w.values.ByName = nil
	}
	return w.values, w.refusals
}

// walk is one reading.
type walk struct {
	values   Values
	refusals []Refusal
	// on is whether Secrets are copied, which the chart does not by default.
	on bool
}

// object reads the fields of an object.
func (w *walk) object(path string, fields map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		at := key
		if path != "" {
			at = path + "." + key
		}
		w.field(at, fields[key])
	}
}

// field reads one value.
func (w *walk) field(at string, value any) {
	read, is := served[at]
	switch {
	case is:
		if err := read(&w.values, value); err != nil {
			w.refuse(at, err.Error())
		}
		if at == enabled {
			w.on = value == true
		}
	case slices.Contains(silent, at):
	case slices.Contains(ignored, at):
		if !off(value) {
			w.values.Ignored = append(w.values.Ignored, at)
		}
	case slices.Contains(refused, at):
		if !off(value) {
			w.refuse(at, unsupported)
		}
	case leads(at):
		fields, is := value.(map[string]any)
		if !is && value != nil {
			w.refuse(at, fmt.Sprintf("is %T, and not an object", value))
		}
		w.object(at, fields)
	default:
		w.refuse(at, unknown)
	}
}

// refuse records a value that is not served.
func (w *walk) refuse(at, reason string) {
	w.refusals = append(w.refusals, Refusal{Path: at, Reason: reason})
}

// leads reports whether known values are below a path.
func leads(path string) bool {
	return slices.Contains([]string{
		"exportKubeConfig", "sync", "sync.fromHost", "sync.fromHost.secrets", "sync.fromHost.secrets.mappings",
	}, path)
}

// off reports whether a value requests nothing, as the defaults of the chart do.
func off(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, field := range v {
			if !off(field) {
				return false
			}
		}
		return true
	}
	return false
}

// boolean checks that a switch is one.
func boolean(_ *Values, value any) error {
	if _, is := value.(bool); !is && value != nil {
		return fmt.Errorf("is %T, and not a boolean", value)
	}
	return nil
}

// byName reads mappings of Secrets.
func byName(v *Values, value any) error {
	fields, is := value.(map[string]any)
	if !is && value != nil {
		return fmt.Errorf("is %T, and not an object", value)
	}
	v.ByName = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		target := fields[key]
		s, is := target.(string)
		if !is {
			return fmt.Errorf("%q is mapped to %T, and not to a string", key, target)
		}
		v.ByName[key] = s
	}
	return nil
}
