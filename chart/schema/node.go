package schema

import (
	"encoding/json"
	"regexp"
	"sync"
)

// node is a schema: what Kubernetes publishes for its own kinds, and what definitions of custom resources have.
type node struct {
	Ref        string           `json:"$ref"`
	Type       string           `json:"type"`
	Format     string           `json:"format"`
	Nullable   bool             `json:"nullable"`
	Default    any              `json:"default"`
	Enum       []any            `json:"enum"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Additional *additional      `json:"additionalProperties"`
	Items      *node            `json:"items"`

	Minimum          *float64 `json:"minimum"`
	Maximum          *float64 `json:"maximum"`
	ExclusiveMinimum bool     `json:"exclusiveMinimum"`
	ExclusiveMaximum bool     `json:"exclusiveMaximum"`
	MultipleOf       *float64 `json:"multipleOf"`
	MinLength        *int     `json:"minLength"`
	MaxLength        *int     `json:"maxLength"`
	MinItems         *int     `json:"minItems"`
	MaxItems         *int     `json:"maxItems"`
	UniqueItems      bool     `json:"uniqueItems"`
	MinProperties    *int     `json:"minProperties"`
	MaxProperties    *int     `json:"maxProperties"`
	Pattern          *pattern `json:"pattern"`

	AllOf []*node `json:"allOf"`
	AnyOf []*node `json:"anyOf"`
	OneOf []*node `json:"oneOf"`
	Not   *node   `json:"not"`

	PreserveUnknown bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded        bool     `json:"x-kubernetes-embedded-resource"`
	IntOrString     bool     `json:"x-kubernetes-int-or-string"`
	ListType        string   `json:"x-kubernetes-list-type"`
	ListMapKeys     []string `json:"x-kubernetes-list-map-keys"`
	Rules           []Rule   `json:"x-kubernetes-validations"`

	// name is that of the definition, for those that mean more than their fields say.
	name string
}

// additional is the schema of the values of a map, or whether there may be any.
type additional struct {
	allowed bool
	schema  *node
}

// UnmarshalJSON reads a schema or a bool.
func (a *additional) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &a.allowed); err == nil {
		return nil
	}
	a.allowed, a.schema = true, &node{}
	return json.Unmarshal(data, a.schema)
}

// pattern is a regular expression that is compiled when a value is compared with it.
type pattern struct {
	text    string
	once    sync.Once
	regular *regexp.Regexp
}

// UnmarshalJSON reads the expression.
func (p *pattern) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &p.text) }

// matches reports whether a value does; every value matches a pattern that is not one, which the API server refuses in the definition.
func (p *pattern) matches(value string) bool {
	p.once.Do(func() { p.regular, _ = regexp.Compile(p.text) })
	return p.regular == nil || p.regular.MatchString(value)
}

// definition is a schema that is decoded when the first object needs it.
type definition struct {
	name string
	raw  []byte
	once sync.Once
	node *node
	err  error
}

func (d *definition) get() (*node, error) {
	d.once.Do(func() {
		n := &node{name: d.name}
		if d.err = json.Unmarshal(d.raw, n); d.err == nil {
			d.node = n
		}
	})
	return d.node, d.err
}
