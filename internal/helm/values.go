package helm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/chartutil"
	"github.com/opencontainers/go-digest"
	"helm.sh/helm/v4/pkg/chart/common"
)

// Layer is one source of values.
type Layer struct {
	// From names the source in errors, such as "Secret apps/db, key password".
	From string
	// Data is a map in YAML, or what is set at TargetPath.
	Data []byte
	// TargetPath is where Data is set, as in helm --set: a.b[0].c, with \. and \, for a dot and a
	// comma that are part of a name. Without it Data is merged at the root.
	TargetPath string
	// Literal sets Data as it is; otherwise it is read as helm --set reads it: numbers, booleans,
	// {lists}, \, for a comma. Data in quotes is a string.
	Literal bool
	// Secret keeps the strings of this layer out of errors.
	Secret bool
}

// Values are the composed values of a release.
type Values struct {
	data    map[string]any
	secrets []string
}

// Compose merges layers in their order, and the inline values over them, as Flux does (package
// chartutil of github.com/fluxcd/pkg is where the rules are): maps merge, anything else replaces, and
// null stays, to delete a default of the chart when it is rendered. Errors name the layer and quote
// nothing from it.
func Compose(inline map[string]any, layers ...Layer) (Values, error) {
	inline = deepCopy(inline)
	out := Values{data: map[string]any{}}
	for _, l := range layers {
		if l.TargetPath == "" {
			values, err := common.ReadValues(l.Data)
			if err != nil {
				return Values{}, fmt.Errorf("reading values from %s: %w", l.From, errNotValues)
			}
			if l.Secret {
				out.hide(map[string]any(values))
			}
			out.data = chartutil.MergeMaps(out.data, values)
			continue
		}
		out.data = chartutil.MergeMaps(out.data, inline)
		set := chartutil.ReplacePathValue
		if l.Literal {
			set = chartutil.ReplacePathLiteralValue
		}
		if err := set(out.data, l.TargetPath, string(l.Data)); err != nil {
			return Values{}, fmt.Errorf("setting the value from %s at %q: %w", l.From, l.TargetPath, errNotSet)
		}
		if l.Secret {
			out.hide(strings.Trim(string(l.Data), `'"`))
		}
	}
	out.data = chartutil.MergeMaps(out.data, inline)
	return out, nil
}

// errNotSet stands in for an error of Helm's parser, which may quote the value.
var errNotSet = errors.New("the path or the value cannot be parsed as by helm --set; escape commas, dots and brackets, or set it literally")

// Map returns a copy of the values.
func (v Values) Map() map[string]any { return deepCopy(v.data) }

// Digest is sha256 over the values in YAML with sorted keys, and of nothing when there are none: what
// Flux's helm-controller records as configDigest.
func (v Values) Digest() string {
	return chartutil.DigestValues(digest.SHA256, v.data).String()
}

// shortestSecret is the shortest string that is taken out of errors: below it, words of the error
// itself would go.
const shortestSecret = 4

// hide keeps the strings of a value out of errors.
func (v *Values) hide(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, k := range value {
			v.hide(k)
		}
	case []any:
		for _, k := range value {
			v.hide(k)
		}
	case string:
		if s := strings.TrimSpace(value); len(s) >= shortestSecret && s != "true" && s != "false" {
			v.secrets = append(v.secrets, s, base64.StdEncoding.EncodeToString([]byte(value)))
		}
	}
}

// scrub takes secret values out of the text of an error.
func (v Values) scrub(err error) error {
	if err == nil || len(v.secrets) == 0 {
		return err
	}
	// The longest first: one value may be part of another.
	secrets := slices.SortedFunc(slices.Values(v.secrets), func(a, b string) int { return len(b) - len(a) })
	text := err.Error()
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	if text == err.Error() {
		return err
	}
	return &scrubbed{text: text, err: err}
}

// scrubbed is an error whose text had secrets in it.
type scrubbed struct {
	text string
	err  error
}

func (e *scrubbed) Error() string { return e.text }

// Is and As unwrap the error; its text stays hidden.
func (e *scrubbed) Is(t error) bool { return errors.Is(e.err, t) }
func (e *scrubbed) As(t any) bool   { return errors.As(e.err, t) }
