package object

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// What a tenant writes ends its own output, whatever it asks for, and the next one is evaluated.
func TestBounds(t *testing.T) {
	limits := sandbox.DefaultLimits()
	limits.Memory, limits.Time = 256<<20, 20*time.Second
	pool := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})
	deep := map[string]any{"leaf": "x"}
	for range 400 {
		deep = map[string]any{"a": deep, "b": []any{"1", "2"}}
	}
	for name, tc := range map[string]struct {
		reason string
		from   v1alpha1.ValueFrom
		failed string
		want   string
	}{
		"Doubling": {"a value that holds itself twice has no end as a text", v1alpha1.ValueFrom{JQFilter: "reduce range(60) as $i (1; [., .]) | tojson"}, "memory", ""},
		"Index":    {"the number of an element asks for gigabytes", v1alpha1.ValueFrom{JQFilter: "null | .[500000000] = 1 | length"}, "memory", ""},
		"Range":    {"a list of all numbers", v1alpha1.ValueFrom{JQFilter: "[range(1e9)] | length"}, "memory|deadline", ""},
		"Descents": {"paths below paths below paths", v1alpha1.ValueFrom{JSONPath: "{..a..a..a..a..a..a}"}, "memory|longer|more than", ""},
		"Plain":    {"a filter that computes little", v1alpha1.ValueFrom{JQFilter: `.b | join("-")`}, "", "1-2"},
		"Numbers":  {"numbers are those of the object", v1alpha1.ValueFrom{JQFilter: `[.b | length, 1.5, 12345678901]`}, "", "[2,1.5,12345678901]"},
	} {
		t.Run(name, func(t *testing.T) {
			if raced && strings.Contains(tc.failed, "memory") {
				t.Skip("the race detector ends a process that gets no more memory")
			}
			got, err := Outputs(t.Context(), pool.For("team", "wf"), []v1alpha1.Parameter{{Name: "o", ValueFrom: &tc.from}}, deep)
			if tc.failed == "" {
				if err != nil || got[0].Value.String() != tc.want {
					t.Errorf("%s: %+v, %v", tc.reason, got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "outputs.parameters.o: ") {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			for text := range strings.SplitSeq(tc.failed, "|") {
				if strings.Contains(err.Error(), text) {
					return
				}
			}
			t.Errorf("%s: %v does not say %q", tc.reason, err, tc.failed)
		})
	}
}

func TestSmall(t *testing.T) {
	for text, want := range map[string]bool{
		"{.metadata.name}": true, "{.metadata.name}-{.status.phase}": true, `{.status.conditions[?(@.type=="Complete")].status}`: true,
		"{.items[*].name}": true, "{.a[0:2]}": true, "{..name}": false, "{range .items[*]}{.name}{end}": false, "{['a','b']}": false,
		"{.a[?(@..b==1)]}": false, strings.Repeat("{.a}", 100): false,
		".a.b": true, ".a[0].b?": true, `.["a"] | .b[]`: true, ".": true,
		".a, .b, .c, .d, .e, .f, .g, .h": false, ".[.a]": false, ".a[1:2]": false, "map(.)": false, `"x" * 1e9`: false, ".a + .b": false, `.["\(.a)"]`: false, "def f: f; .a": false,
	} {
		q := query{Filter: text}
		if strings.HasPrefix(text, "{") {
			q = query{Path: text}
		}
		if got := q.small(); got != want {
			t.Errorf("%s: small is %v", q, got)
		}
	}
}
