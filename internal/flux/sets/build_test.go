package sets

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// What a template takes is bounded, whatever it consists of, and ends its own ResourceSet alone.
func TestBounds(t *testing.T) {
	limits := sandbox.DefaultLimits()
	limits.Memory = 256 << 20
	pool := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})
	limits.Time = time.Second
	hasty := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: "
	const doubling = `<<define "0">>x<<end>>` +
		`<<define "1">><<template "0">><<template "0">><<end>><<define "2">><<template "1">><<template "1">><<end>>`
	for name, tc := range map[string]struct{ reason, template, limit, want string }{
		"Doubling": {"a text that doubles", `<<$x := "xxxx">><<range until 100>><<$x = printf "%s%s" $x $x>><<end>>`, "memory", ""},
		"Replaced": {"letters that are replaced by texts", `<<$x := repeat 100000 "x">><<$y := replace "x" $x $x>>`, "memory", ""},
		"Indented": {"lines that move far", `<<$x := indent 100000 (repeat 100000 "\n")>>`, "memory", ""},
		"Joined":   {"a list with much between its parts", `<<$x := join (repeat 100000 "x") (until 100000)>>`, "memory", ""},
		"Loops":    {"loops in loops, which write nothing", `<<range until 100000>><<range until 100000>><<end>><<end>>`, "longer than 1s", ""},
		"Recursive": {
			"a template that calls itself twice writes nothing either", `<<define "a">><<if lt (int .) 60>><<template "a" (add1 .)>><<template "a" (add1 .)>><<end>><<end>><<template "a" 0>>`, "longer than 1s", "",
		},
		"Mistake": {"a mistake is one of the template", "<<if>>", "", "spec.resourcesTemplate: line 1: missing value for if"},
		"Plain": {
			"numbers are those of the input", doubling + object + `{a: "<< inputs.whole >> << inputs.part >> << inputs.list | join "," >> << index inputs.map "k" >> << template "2" >>"}`, "", "12345678901 1.5 x,2 v xxxx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			rs := &fluxcdv1.ResourceSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "set"}}
			rs.Spec.ResourcesTemplate = tc.template
			input := fluxcdv1.Input{}
			for key, text := range map[string]string{"whole": "12345678901", "part": "1.5", "list": `["x",2]`, "map": `{"k":"v"}`} {
				input[key] = &apiextensionsv1.JSON{Raw: json.RawMessage(text)}
			}
			rs.Spec.Inputs = []fluxcdv1.Input{input}
			in := pool.For("team", "set")
			if strings.Contains(tc.limit, "longer") {
				in = hasty.For("team", "set")
			}
			objects, count, err := Build(t.Context(), in, rs, nil, nil)
			var failed *buildFailed
			var limit *sandbox.Death
			switch {
			case tc.limit != "":
				if !errors.As(err, &failed) || failed.Terminal() || !errors.As(err, &limit) || !strings.Contains(err.Error(), tc.limit) {
					t.Errorf("%s: %v does not say %q", tc.reason, err, tc.limit)
				}
			case err != nil:
				if !errors.As(err, &failed) || !failed.Terminal() || err.Error() != tc.want {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
				}
			default:
				if data, _ := json.Marshal(objects); count != 1 || len(objects) != 1 || !strings.Contains(string(data), tc.want) {
					t.Errorf("%s: %d objects of %d inputs: %s", tc.reason, len(objects), count, data)
				}
			}
		})
	}
}
