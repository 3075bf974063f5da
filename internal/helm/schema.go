package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// schemaTimeout bounds the fetch of a schema that another one refers to.
const schemaTimeout = 15 * time.Second

// SchemaError reports whether values do not satisfy the schema of a chart.
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
func validate(ctx context.Context, o Common, previous *reused) error {
	loaded, err := o.Chart.load()
	if err != nil {
		return err
	}
	values := o.Values.Map()
	if previous != nil {
		values = util.CoalesceTables(values, deepCopy(previous.config))
		loaded.Values = deepCopy(previous.all)
	}
	if err := chartutil.ProcessDependencies(loaded, values); err != nil {
		return fmt.Errorf("working off the dependencies of chart %s: %w", o.Chart.Name(), err)
	}
	all, err := util.CoalesceValues(loaded, values)
	if err != nil {
		return fmt.Errorf("merging values into chart %s: %w", o.Chart.Name(), err)
	}
	checks := schemasOf(loaded, all, nil)
	if len(checks) == 0 {
		return nil
	}
	var found []checked
	if err := do(ctx, o.Sandbox, schemaJob{}, checks, &found, fetches{o.Egress}); err != nil {
		return fmt.Errorf("checking the values of chart %s: %w", o.Chart.Name(), err)
	}
	var errs []error
	for i, c := range found {
		switch {
		case c.Error != "":
			errs = append(errs, errors.New(c.Error))
		case len(c.Violations) > 0:
			errs = append(errs, &SchemaError{Chart: checks[i].Chart, Violations: c.Violations})
		}
	}
	return errors.Join(errs...)
}

// reused are the values of a release that an upgrade keeps.
type reused struct {
	config, all map[string]any
}

// check is one schema and what has to satisfy it; Chart is whose it is.
type check struct {
	Chart  string
	Schema []byte
	Values map[string]any
}

// checked is what a check found: an error, violations or nothing.
type checked struct {
	Error      string
	Violations []string
}

// schemasOf are the checks of a chart and of those that it needs.
func schemasOf(c *chartv2.Chart, values map[string]any, into []check) []check {
	if len(c.Schema) > 0 {
		into = append(into, check{c.Name(), c.Schema, values})
	}
	for _, d := range c.Dependencies() {
		if of, ok := values[d.Name()].(map[string]any); ok {
			into = schemasOf(d, of, into)
		}
	}
	return into
}

// schemaJob checks values. The time that a schema takes is not bounded by its length.
type schemaJob struct{}

// Name is that of the job.
func (schemaJob) Name() string { return "schema" }

// Run makes a list of what was found of a list of checks.
func (schemaJob) Run(input []byte, asking sandbox.Asker) ([]byte, error) {
	var checks []check
	if err := sandbox.Decode(input, &checks); err != nil {
		return nil, err
	}
	found := make([]checked, len(checks))
	for i, c := range checks {
		err := validateSchema(asking, c.Chart, c.Schema, c.Values)
		var invalid *SchemaError
		switch {
		case errors.As(err, &invalid):
			found[i].Violations = invalid.Violations
		case err != nil:
			found[i].Error = err.Error()
		}
	}
	return sandbox.Encode(found)
}

func validateSchema(asking sandbox.Asker, chart string, schema []byte, values map[string]any) (err error) {
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
	web := webLoader{asking}
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

// webLoader has schemas fetched that a schema refers to.
type webLoader struct{ asking sandbox.Asker }

// Load gets one schema.
func (l webLoader) Load(url string) (any, error) {
	data, err := l.asking.Ask([]byte(url))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// fetches answers with what is at an address.
type fetches struct{ rules egress.Rules }

// Answer fetches.
func (f fetches) Answer(ctx context.Context, url []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, string(url), nil)
	if err != nil {
		return nil, err
	}
	transport := f.rules.OrAnywhere().Transport()
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetching %s: %s", url, resp.Status)
	}
	const most = 10 << 20
	return io.ReadAll(http.MaxBytesReader(nil, resp.Body, most))
}

// anything is the schema of a urn, which cannot be looked up. Helm accepts these too.
type anything struct{}

// Load returns the schema that everything satisfies.
func (anything) Load(string) (any, error) { return true, nil }
