package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/chart"
)

// The rules that findings name.
const (
	RuleVersion      = "schema/version"       // the version of Kubernetes is not among those that the SDK has
	RuleUnknownKind  = "schema/unknown-kind"  // nothing serves the apiVersion and kind
	RuleRemoved      = "schema/removed-api"   // it was served by older versions of Kubernetes, or is by newer ones
	RuleDisabled     = "schema/disabled-api"  // it is an alpha or beta version, which Kubernetes serves on request only
	RuleNoSchema     = "schema/no-schema"     // the kind is not built in, and no definition of it is among the objects
	RuleDefinition   = "schema/definition"    // a CustomResourceDefinition has no usable schema
	RuleUnknownField = "schema/unknown-field" // the kind has no such field
	RuleRequired     = "schema/required"      // a field is missing
	RuleType         = "schema/type"          // a value has the wrong type
	RuleEnum         = "schema/enum"          // a value is not one of those allowed
	RuleFormat       = "schema/format"        // a text is not a date, a quantity, base64, ...
	RuleBounds       = "schema/bounds"        // a value is too small, too large, too long, or does not match a pattern
	RuleDuplicate    = "schema/duplicate-key" // two items of a list have the same key
	RuleName         = "schema/name"          // a name, namespace or finalizer is not valid
	RuleLabel        = "schema/label"         // a label or the name of an annotation is not valid
	RuleSelector     = "schema/selector"      // a selector selects other pods than those of its own template
	RuleReference    = "schema/reference"     // a container mounts a volume that its pod does not have
	RuleExpression   = "schema/expression"    // a rule of a definition does not hold
)

// Missing says what an object gives whose kind has no schema.
type Missing int

const (
	// MissingInfo is a finding of SeverityInfo.
	MissingInfo Missing = iota
	// MissingIgnored is no finding.
	MissingIgnored
	// MissingWarning is a finding of SeverityWarning.
	MissingWarning
	// MissingError is a finding of SeverityError.
	MissingError
)

// Check validates objects. The zero value does so against the newest Kubernetes that the SDK knows.
type Check struct {
	// Kubernetes is the minor version whose schemas count: "1.36". Versions lists them.
	Kubernetes string
	// Definitions are CustomResourceDefinitions beyond those among the objects.
	Definitions []map[string]any
	// Missing says what an object gives whose kind has no schema.
	Missing Missing
	// Sources reports whether the objects are files of a repository that are yet to be rendered: texts with ${VARIABLES} and those that SOPS
	// encrypted are not validated.
	Sources bool
	// Expressions evaluates the rules of definitions; without it they are not evaluated.
	Expressions Evaluator
}

// Kubernetes is a Check against the schemas of a minor version: "1.36".
func Kubernetes(version string) Check { return Check{Kubernetes: version} }

// Check validates what an App is about to write.
func (c Check) Check(manifests []chart.Manifest) []chart.Finding {
	objects := make([]map[string]any, len(manifests))
	for i, m := range manifests {
		objects[i] = m.Object
	}
	return c.Validate(objects)
}

// Validate validates objects; the Manifest of a Finding is the index of the object. Findings are in the order of the objects, and
// those of one object in the order of their fields.
func (c Check) Validate(objects []map[string]any) []chart.Finding {
	if len(objects) == 0 {
		return nil
	}
	all, err := archive()
	if err != nil {
		return []chart.Finding{{Rule: RuleVersion, Message: "reading the embedded schemas: " + err.Error()}}
	}
	r, ok := all.find(c.Kubernetes)
	if !ok {
		return []chart.Finding{{Rule: RuleVersion, Message: fmt.Sprintf("no schemas of Kubernetes %q; there are those of %s", c.Kubernetes, strings.Join(all.versions, ", "))}}
	}
	w := &walk{all: all, release: r, check: c, custom: customKinds{}}
	for i, object := range objects {
		w.manifest = i
		w.define(object, true)
	}
	for _, object := range c.Definitions {
		w.define(object, false)
	}
	for i, object := range objects {
		w.begin(i)
		w.root(object)
	}
	slices.SortFunc(w.findings, inOrder)
	return w.findings
}

// inOrder compares findings, so that they are the same each time: maps have no order.
func inOrder(a, b chart.Finding) int {
	return cmp.Or(cmp.Compare(a.Manifest, b.Manifest), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
}
