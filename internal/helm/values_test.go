package helm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompose(t *testing.T) {
	for name, tt := range map[string]struct {
		inline map[string]any
		layers []Layer
		want   string
	}{
		"nothing":        {nil, nil, `{}`},
		"maps merge":     {nil, []Layer{{Data: []byte("a: {b: 1, c: 1}")}, {Data: []byte("a: {c: 2}")}}, `{"a":{"b":1,"c":2}}`},
		"lists replace":  {nil, []Layer{{Data: []byte("a: [1, 2]")}, {Data: []byte("a: [3]")}}, `{"a":[3]}`},
		"null stays":     {nil, []Layer{{Data: []byte("a: {b: 1}")}, {Data: []byte("a: {b: null}")}}, `{"a":{"b":null}}`},
		"inline is last": {map[string]any{"a": "inline"}, []Layer{{Data: []byte("a: layer\nb: 1")}}, `{"a":"inline","b":1}`},
		"a path in what is inline": {
			map[string]any{"a": map[string]any{"b": "inline"}},
			[]Layer{{TargetPath: "a.c", Data: []byte("7")}},
			`{"a":{"b":"inline","c":7}}`,
		},
		"escaped path":  {nil, []Layer{{TargetPath: `a\.b.c`, Data: []byte("x")}}, `{"a.b":{"c":"x"}}`},
		"index":         {nil, []Layer{{Data: []byte("a: [{b: 1}]")}, {TargetPath: "a[0].b", Data: []byte("true")}}, `{"a":[{"b":true}]}`},
		"quoted":        {nil, []Layer{{TargetPath: "a", Data: []byte(`"7"`)}}, `{"a":"7"}`},
		"list":          {nil, []Layer{{TargetPath: "a", Data: []byte("{x,y}")}}, `{"a":["x","y"]}`},
		"literal":       {nil, []Layer{{TargetPath: `a\.b`, Literal: true, Data: []byte(`{"k": [1,2], "p": "\n"}`)}}, `{"a.b":"{\"k\": [1,2], \"p\": \"\\n\"}"}`},
		"large integer": {nil, []Layer{{Data: []byte("id: 1234567890")}}, `{"id":1234567890}`},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := json.Marshal(tt.inline)
			v, err := Compose(tt.inline, tt.layers...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(v.Map())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if after, _ := json.Marshal(tt.inline); string(after) != string(before) {
				t.Errorf("the inline values were changed to %s", after)
			}
		})
	}
}

func TestComposeErrors(t *testing.T) {
	for name, layer := range map[string]Layer{
		"not YAML": {From: "Secret apps/db, key values.yaml", Data: []byte("hunter2: [")},
		"a list":   {From: "Secret apps/db, key values.yaml", Data: []byte("- hunter2")},
		"a path":   {From: "Secret apps/db, key values.yaml", TargetPath: "a[-1]", Data: []byte("hunter2")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compose(nil, layer)
			if err == nil || !strings.Contains(err.Error(), layer.From) {
				t.Fatalf("the error does not name the layer: %v", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error quotes the value: %v", err)
			}
		})
	}
}

// TestDigest holds digests of the tests of github.com/fluxcd/pkg/chartutil, which is where Flux takes
// them from.
func TestDigest(t *testing.T) {
	for name, tt := range map[string]struct {
		values string
		want   string
	}{
		"none": {"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"some": {
			"replicas: 3\nports: [{protocol: TCP, port: 8080}, {port: 9090, protocol: UDP}]\nimage: {tag: latest, repository: nginx}\n",
			"sha256:fcdc2b0de1581a3633ada4afee3f918f6eaa5b5ab38c3fef03d5b48d3f85d9f6",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Compose(nil, Layer{Data: []byte(tt.values)})
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Digest(); got != tt.want {
				t.Errorf("it is %s", got)
			}
		})
	}
}

func TestScrub(t *testing.T) {
	v, err := Compose(map[string]any{"open": "visible"},
		Layer{Secret: true, Data: []byte("db: {password: hunter2, long: hunter2hunter2, short: ab, flags: [swordfish]}")},
		Layer{Secret: true, TargetPath: "token", Data: []byte("'letmein'")})
	if err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("hunter2"))
	cause := context.Canceled
	got := v.scrub(fmt.Errorf("hunter2hunter2, hunter2, %s, swordfish, letmein, visible, about: %w", encoded, cause))
	if want := "***, ***, ***, ***, ***, visible, about: context canceled"; got.Error() != want {
		t.Errorf("it says %q, not %q", got, want)
	}
	if !errors.Is(got, cause) {
		t.Error("what the error is got lost")
	}
	var invalid *SchemaError
	if !errors.As(v.scrub(&SchemaError{Chart: "hunter2"}), &invalid) {
		t.Error("the type of the error got lost")
	}
}

func TestSchema(t *testing.T) {
	const schema = `{"type": "object", "required": ["host"], "properties": {
		"host": {"type": "string", "pattern": "^[a-z]+$"}, "replicas": {"type": "integer", "maximum": 5},
		"db": {"type": "object", "properties": {"password": {"minLength": 12}}}}}`
	c := loaded(t, map[string]string{
		"Chart.yaml":  metadata + "dependencies: [{name: cache, version: 1.0.0, condition: cache.enabled}]\n",
		"values.yaml": "replicas: 1\ncache: {enabled: true}\n", "values.schema.json": schema,
		"charts/cache/Chart.yaml":         "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
		"charts/cache/values.schema.json": `{"properties": {"size": {"type": "integer"}}}`,
	})
	for name, tt := range map[string]struct {
		values string
		want   string
	}{
		"valid":                 {"host: web", ""},
		"missing":               {"", "values do not satisfy the schema of chart web: /: it lacks host"},
		"several":               {"host: hunter2\nreplicas: 9\ndb: {password: hunter2}", `values do not satisfy the schema of chart web: /db/password: it violates minLength; /host: it must match "^[a-z]+$"; /replicas: it must be at most 5`},
		"a dependency":          {"host: web\ncache: {size: hunter2}", "values do not satisfy the schema of chart cache: /size: it is a string and must be an integer"},
		"a disabled dependency": {"host: web\ncache: {enabled: false, size: hunter2}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Compose(nil, Layer{Data: []byte(tt.values)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := validate(t.Context(), Common{Chart: c, Values: v}, nil); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSchemaWithoutDefaults has a chart with a schema and no values of its own.
func TestSchemaWithoutDefaults(t *testing.T) {
	c := loaded(t, map[string]string{"Chart.yaml": metadata, "values.schema.json": `{"properties": {"count": {"type": "integer"}}}`})
	v, err := Compose(nil, Layer{Data: []byte("count: hunter2")})
	if err != nil {
		t.Fatal(err)
	}
	var invalid *SchemaError
	if err := validate(t.Context(), Common{Chart: c, Values: v}, nil); !errors.As(err, &invalid) {
		t.Errorf("got %v", err)
	}
}

// TestSchemaOfThisMachine has a schema refer to a file, which it may not read.
func TestSchemaOfThisMachine(t *testing.T) {
	c := loaded(t, map[string]string{"Chart.yaml": metadata, "values.schema.json": `{"$ref": "file:///etc/hostname"}`})
	if err := validate(t.Context(), Common{Chart: c, Values: Values{}}, nil); err == nil || !strings.Contains(err.Error(), "values.schema.json") {
		t.Errorf("got %v", err)
	}
}
