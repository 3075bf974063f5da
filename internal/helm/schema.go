package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
)

// schemaTimeout bounds the fetch of a schema that another one refers to.
const schemaTimeout = 15 * time.Second

// SchemaError tells that values do not satisfy the schema of a chart.
type SchemaError struct {
	// Chart is the chart, or the dependency, whose schema it is.
	Chart string
	// Violations are "/path/to/value: keyword", sorted; never a value.
	Violations []string
}

// Error lists the violations in one line.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("values do not satisfy the schema of chart %s: %s", e.Chart, strings.Join(e.Violations, "; "))
}

// validate checks values against the schemas of a chart and of its enabled dependencies. Helm's own
// check quotes values, and lets a schema refer to files of this machine.
func validate(ctx context.Context, c *Chart, v Values, previous *reused) error {
	loaded, err := c.load()
	if err != nil {
		return err
	}
	values := v.Map()
	if previous != nil {
		values = util.CoalesceTables(values, deepCopy(previous.config))
		loaded.Values = deepCopy(previous.all)
	}
	if err := chartutil.ProcessDependencies(loaded, values); err != nil {
		return fmt.Errorf("working off the dependencies of chart %s: %w", c.Name(), err)
	}
	all, err := util.CoalesceValues(loaded, values)
	if err != nil {
		return fmt.Errorf("merging values into chart %s: %w", c.Name(), err)
	}
	return validateChart(ctx, loaded, all)
}

// reused are the values of a release that an upgrade keeps.
type reused struct {
	config, all map[string]any
}

func validateChart(ctx context.Context, c *chartv2.Chart, values map[string]any) error {
	var errs []error
	if len(c.Schema) > 0 {
		errs = append(errs, validateSchema(ctx, c.Name(), c.Schema, values))
	}
	for _, d := range c.Dependencies() {
		if of, ok := values[d.Name()].(map[string]any); ok {
			errs = append(errs, validateChart(ctx, d, of))
		}
	}
	return errors.Join(errs...)
}

func validateSchema(ctx context.Context, chart string, schema []byte, values map[string]any) (err error) {
	defer func() {
		// The library panics on some malformed schemas; that is the chart's fault, not the process's.
		if p := recover(); p != nil {
			err = fmt.Errorf("reading values.schema.json of chart %s: the validator panicked", chart)
		}
	}()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("reading values.schema.json of chart %s: %w", chart, err)
	}
	web := &webLoader{ctx: ctx}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{"http": web, "https": web, "urn": anything{}})
	const at = "file:///values.schema.json"
	if err := compiler.AddResource(at, parsed); err != nil {
		return fmt.Errorf("reading values.schema.json of chart %s: %w", chart, err)
	}
	compiled, err := compiler.Compile(at)
	if err != nil {
		return fmt.Errorf("reading values.schema.json of chart %s: %w", chart, err)
	}
	err = compiled.Validate(values)
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		found := violations(invalid, nil)
		slices.Sort(found)
		return &SchemaError{Chart: chart, Violations: slices.Compact(found)}
	}
	return err
}

// violations collects the leaves of a tree of errors: where, and what is wanted there. What the value is
// stays out of it, since it may be secret.
func violations(e *jsonschema.ValidationError, into []string) []string {
	if len(e.Causes) == 0 {
		return append(into, fmt.Sprintf("/%s: %s", strings.Join(e.InstanceLocation, "/"), wanted(e.ErrorKind)))
	}
	for _, cause := range e.Causes {
		into = violations(cause, into)
	}
	return into
}

// wanted words what the schema wants.
func wanted(broken jsonschema.ErrorKind) string {
	switch k := broken.(type) {
	case *kind.Type:
		return fmt.Sprintf("it is %s and must be %s", article(k.Got), article(strings.Join(k.Want, " or ")))
	case *kind.Required:
		return "it lacks " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		return "it must not have " + strings.Join(k.Properties, ", ")
	case *kind.Enum:
		return fmt.Sprintf("it must be one of %v", k.Want)
	case *kind.Minimum:
		return "it must be at least " + k.Want.RatString()
	case *kind.Maximum:
		return "it must be at most " + k.Want.RatString()
	case *kind.Pattern:
		return fmt.Sprintf("it must match %q", k.Want)
	case *kind.Format:
		return "it must be of the format " + k.Want
	}
	return "it violates " + strings.Join(broken.KeywordPath(), "/")
}

func article(noun string) string {
	if strings.ContainsAny(noun[:min(len(noun), 1)], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// webLoader fetches schemas that a schema refers to.
type webLoader struct{ ctx context.Context }

// Load fetches one schema.
func (l *webLoader) Load(url string) (any, error) {
	ctx, cancel := context.WithTimeout(l.ctx, schemaTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetching %s: %s", url, resp.Status)
	}
	const most = 10 << 20
	return jsonschema.UnmarshalJSON(http.MaxBytesReader(nil, resp.Body, most))
}

// anything is the schema of a urn, which cannot be looked up. Helm accepts these too.
type anything struct{}

// Load returns the schema that everything satisfies.
func (anything) Load(string) (any, error) { return true, nil }
