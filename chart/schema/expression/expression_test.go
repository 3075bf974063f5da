package expression_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/chart/schema"
	"github.com/headgate-dev/headgate/chart/schema/expression"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(self.limit) || self.limit >= self.size", message: limit is below size}
            - {rule: "self.size < 9", messageExpression: "'size is ' + string(self.size)"}
            - {rule: "self.mode != 'Off'"}
            - {rule: "!has(self.__namespace__) || self.__namespace__ != 'kube-system'", message: not there}
            - {rule: "!has(self.at) || self.at > timestamp('2020-01-01T00:00:00Z')", message: too early}
            - {rule: "!has(self.wait) || self.wait < duration('1h')", message: too long}
            - {rule: "!has(self.url) || isURL(self.url)", message: no URL}
            - {rule: "!has(self.ip) || isIP(self.ip) || isCIDR(self.ip)", message: no address}
            - {rule: "!has(self.order) || self.order.isSorted() && self.order.sum() < 100 && self.order.max() - self.order.min() < 50", message: out of order}
            - {rule: "!has(self.text) || self.text.find('[0-9]+') == '' && self.text.findAll('a').size() < 3 && self.text.lowerAscii() == self.text", message: wrong text}
            - {rule: "!has(self.map) || self.map.all(k, k.startsWith('x-'))", message: wrong key}
            - {rule: "!has(self.share) || self.share >= 1", message: below one}
            properties:
              size: {type: integer, default: 1}
              limit: {type: integer}
              mode: {type: string, default: "On"}
              namespace: {type: string}
              at: {type: string, format: date-time}
              wait: {type: string, format: duration}
              url: {type: string}
              ip: {type: string}
              order: {type: array, items: {type: integer}}
              text: {type: string}
              map: {type: object, additionalProperties: {type: string}}
              share: {type: number}
              fixed: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: fixed}]}
              optional: {type: string, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() && self != 'x'", message: first, optionalOldSelf: true}]}
              unknown: {type: string, x-kubernetes-validations: [{rule: quantity(self).isGreaterThan(quantity('1'))}]}
              costly: {type: array, items: {type: integer}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, self.all(c, self.all(d, self.all(e, self.all(f, true))))))"}]}
`

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRules(t *testing.T) {
	rules, err := expression.New()
	if err != nil {
		t.Fatal(err)
	}
	check := schema.Check{Definitions: []map[string]any{object(t, widgets)}, Expressions: rules}
	many := strings.TrimSuffix(strings.Repeat("1, ", 100), ", ")
	cases := map[string]struct {
		reason, spec string
		// want are parts of the findings, in their order.
		want []string
	}{
		"holds":       {"rules that hold", "{size: 2, limit: 3, namespace: a, at: '2030-01-31T12:00:00Z', wait: 5m, url: 'https://a', ip: 10.0.0.0/8, order: [1, 2, 3], text: abc, map: {x-a: b}, share: 1, fixed: a, optional: a}", nil},
		"defaults":    {"rules see defaults", "{limit: 0}", []string{"schema/expression spec: limit is below size"}},
		"message":     {"a message of its own", "{size: 9}", []string{"spec: size is 9"}},
		"no message":  {"a rule without a message", "{mode: 'Off'}", []string{"spec: failed rule: self.mode != 'Off'"}},
		"escaped":     {"a field that is a word of the language", "{namespace: kube-system}", []string{"spec: not there"}},
		"times":       {"times and durations", "{at: '2000-01-31T12:00:00Z', wait: 2h}", []string{"spec: too early", "spec: too long"}},
		"addresses":   {"URLs and addresses", "{url: '%', ip: x}", []string{"spec: no URL", "spec: no address"}},
		"order":       {"lists", "{order: [2, 1]}", []string{"spec: out of order"}},
		"spread":      {"their sums and extremes", "{order: [1, 60]}", []string{"spec: out of order"}},
		"text":        {"texts", "{text: a1}", []string{"spec: wrong text"}},
		"map":         {"keys of maps", "{map: {a: b}}", []string{"spec: wrong key"}},
		"number":      {"a whole number where a fraction may be", "{share: 0}", []string{"spec: below one"}},
		"created":     {"an optional previous value is none", "{optional: x}", []string{"spec.optional: first"}},
		"unsupported": {"a function that is missing here", "{unknown: '1'}", []string{"schema/expression spec.unknown: a rule of its definition was not evaluated: compiling"}},
		"costly":      {"a rule that takes too long ends", "{costly: [" + many + "]}", []string{"schema/expression spec.costly: a rule of its definition was not evaluated: evaluating"}},
		"wrong type":  {"rules rely on types", "{size: x}", []string{"schema/type spec.size"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: "+c.spec+"}")
			var got []string
			for i, f := range check.Validate([]map[string]any{o}) {
				line := f.Rule + " " + f.Field + ": " + f.Message
				if i < len(c.want) && strings.Contains(line, c.want[i]) {
					line = c.want[i]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func ExampleNew() {
	rules, err := expression.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	message, err := rules.Evaluate(schema.Rule{Rule: "self.min <= self.max", Message: "min is above max"}, map[string]any{"min": 3, "max": 2})
	fmt.Println(message, err)
	// Output:
	// min is above max <nil>
}
