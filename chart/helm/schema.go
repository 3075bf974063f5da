package helm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
)

// validate holds values against the schemas of a chart and of those that it needs. Errors name places and keywords, and no values.
func validate(c *chartv2.Chart, values map[string]any) error {
	var errs []error
	if c.Schema != nil {
		if err := validateOne(c.Schema, values); err != nil {
			errs = append(errs, fmt.Errorf("the values do not satisfy values.schema.json of %s: %w", c.Name(), err))
		}
	}
	for _, d := range c.Dependencies() {
		if own, ok := values[d.Name()].(map[string]any); ok {
			errs = append(errs, validate(d, own))
		}
	}
	return errors.Join(errs...)
}

// place is where a schema is said to be: what it refers to is relative to it, and fetched by no one.
const place = "headgate:///values.schema.json"

func validateOne(schema []byte, values map[string]any) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(refusing{})
	if err := compiler.AddResource(place, parsed); err != nil {
		return err
	}
	compiled, err := compiler.Compile(place)
	if err != nil {
		return err
	}
	plain, err := cloned(values)
	if err != nil {
		return err
	}
	var violations *jsonschema.ValidationError
	if err := compiled.Validate(plain); !errors.As(err, &violations) {
		return err
	}
	said := causes(violations)
	slices.Sort(said)
	return errors.New(strings.Join(slices.Compact(said), "; "))
}

// causes are the innermost violations: the place in the values, and the keyword of the schema.
func causes(v *jsonschema.ValidationError) []string {
	if len(v.Causes) == 0 {
		return []string{"/" + strings.Join(v.InstanceLocation, "/") + ": " + strings.Join(v.ErrorKind.KeywordPath(), "/")}
	}
	var all []string
	for _, cause := range v.Causes {
		all = append(all, causes(cause)...)
	}
	return all
}

// refusing fetches no schema.
type refusing struct{}

// Load refuses.
func (refusing) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which is not fetched, so that the same input gives the same bytes; set SkipSchemaValidation", url)
}
