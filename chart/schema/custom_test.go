package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/chart"
)

// widgets is a definition with all that a structural schema can have.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - {name: v1alpha1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 10}}}
          status: {type: object, required: [phase], properties: {phase: {type: string}}}
          spec:
            type: object
            required: [size, mode]
            properties:
              size: {type: integer, minimum: 1, maximum: 9}
              even: {type: integer, multipleOf: 2}
              share: {type: number, minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true}
              mode: {type: string, enum: [Fast, Slow], default: Fast}
              level: {type: integer, enum: [1, 2, 3]}
              name: {type: string, pattern: '^[a-z]+$', minLength: 2, maxLength: 5}
              maybe: {type: string, nullable: true}
              filled: {type: string, default: x}
              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {typed: {type: string}}}
              any: {x-kubernetes-preserve-unknown-fields: true}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}, maxItems: 3, minItems: 1}
              map: {type: object, additionalProperties: {type: integer}, minProperties: 1, maxProperties: 2}
              some: {type: object, additionalProperties: true}
              list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string, default: x}}}}
              one: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}
              none: {type: object, properties: {a: {type: string}}, not: {required: [a]}}
              all: {type: object, properties: {a: {type: integer}}, allOf: [{properties: {a: {minimum: 5}}}, {required: [a]}]}
              pod: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}
              raw: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              at: {type: string, format: date-time}
              day: {type: string, format: date}
              wait: {type: string, format: duration}
              ip: {type: string, format: ipv4}
              ip6: {type: string, format: ipv6}
              net: {type: string, format: cidr}
              mac: {type: string, format: mac}
              mail: {type: string, format: email}
              uri: {type: string, format: uri}
              host: {type: string, format: hostname}
              id: {type: string, format: uuid}
              odd: {type: string, format: of-our-own}
              data: {type: string, format: byte}
`

func widget(spec string) string {
	return widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, " + spec + "}}"
}

func TestCustom(t *testing.T) {
	const forms = "satisfies none of 2 forms that its definition allows"
	cases := map[string]struct {
		reason, objects string
		want            []string
	}{
		"valid":        {"all fields", widget("even: 4, share: 0.5, level: 3, name: abc, maybe: null, port: http, free: {x: 1, typed: z}, any: [1], tags: [a, b], map: {a: 1}, some: {x: {}}, list: [{name: a}, {name: b}], one: {a: x}, none: {}, all: {a: 5}, odd: x"), nil},
		"formats":      {"valid formats", widget("at: '2030-01-31T12:00:00Z', day: '2030-01-31', wait: 5m, ip: 10.0.0.1, ip6: '::1', net: 10.0.0.0/8, mac: '00:00:5e:00:53:01', mail: a@b.c, uri: 'https://a/b', host: a.b, id: 00000000-0000-0000-0000-000000000000, data: eA=="), nil},
		"no formats":   {"invalid formats", widget("at: x, day: x, wait: x, ip: '::1', ip6: 10.0.0.1, net: x, mac: x, mail: x, uri: x, host: '-', id: x, data: x"), []string{"format spec.at: is not a time such as 2030-01-31T12:00:00Z", "format spec.data: is not base64", "format spec.day: is not a date such as 2030-01-31", "format spec.host: is not a host name", "format spec.id: is not a UUID", "format spec.ip: is not an IPv4 address", "format spec.ip6: is not an IPv6 address", "format spec.mac: is not a MAC address", "format spec.mail: is not an e-mail address", "format spec.net: is not a range of addresses such as 10.0.0.0/8", "format spec.uri: is not a URI", "format spec.wait: is not a duration such as 5m30s"}},
		"numbers":      {"bounds of numbers", widget("even: 3, share: 1, level: 4"), []string{"bounds spec.even: must be a multiple of 2", "enum spec.level: must be one of 1, 2, 3", "bounds spec.share: must be less than 1"}},
		"minimum":      {"other bounds", strings.Replace(widget("share: 0"), "size: 1,", "size: 10,", 1), []string{"bounds spec.share: must be more than 0", "bounds spec.size: must be at most 9"}},
		"texts":        {"bounds of texts", widget("name: A"), []string{"bounds spec.name: must have at least 2 characters", "bounds spec.name: must match ^[a-z]+$"}},
		"long":         {"a text that is too long", widget("name: abcdef"), []string{"bounds spec.name: must have at most 5 characters"}},
		"enum":         {"a value of an enum; an empty one is a value", widget("mode: ''"), []string{`enum spec.mode: is "", must be one of Fast, Slow`}},
		"null":         {"a null is a field that is not set, but in lists", widget("name: null, filled: null, tags: [null]"), []string{"type spec.tags[0]: is null, must be a string: leave it out or give it a value"}},
		"null needed":  {"what is required has to have a value", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: null}}", []string{"required spec.size: is missing: a whole number"}},
		"lists":        {"bounds of lists", widget("tags: []"), []string{"bounds spec.tags: has 0 items, must have at least 1"}},
		"long list":    {"a list that is too long", widget("tags: [a, b, c, d]"), []string{"bounds spec.tags: has 4 items, must have at most 3"}},
		"set":          {"an item twice", widget("tags: [a, a]"), []string{"duplicate-key spec.tags[1]: is the same as item 0; each must be there once"}},
		"keys":         {"a key twice, one by default", widget("list: [{}, {name: x}]"), []string{`duplicate-key spec.list[1]: has the same name as item 0 ("x")`}},
		"maps":         {"bounds of maps", widget("map: {a: 1, b: 2, c: x}"), []string{"bounds spec.map: has 3 entries, must have at most 2", `type spec.map.c: is the string "x", must be a whole number: write it without quotes`}},
		"unknown":      {"a field that the definition has not", widget("sise: 2"), []string{`unknown-field spec.sise: unknown field; did you mean "size"?`}},
		"free":         {"what is described in a free map counts", widget("free: {typed: 1}"), []string{"type spec.free.typed: is the number 1, must be a string: put it in quotes"}},
		"neither":      {"a port that is neither", widget("port: [1]"), []string{"type spec.port: is a list, must be a whole number or a string"}},
		"both":         {"two forms of which one is allowed", widget("one: {a: x, b: z}"), []string{"bounds spec.one: satisfies 2 of 2 forms that exclude one another in its definition"}},
		"no form":      {"none of the forms", widget("one: {}"), []string{"bounds spec.one: " + forms + ": spec.one.b is missing"}},
		"not":          {"a form that is excluded", widget("none: {a: x}"), []string{"bounds spec.none: has a form that its definition excludes"}},
		"all":          {"all of the forms", widget("all: {a: 4}"), []string{"bounds spec.all.a: must be at least 5"}},
		"embedded":     {"an object in an object", widget("pod: {apiVersion: v1, kind: Pod, metadata: {name: a, labels: {a: 1}}, spec: {}, x: 1}"), []string{"type spec.pod.metadata.labels.a: is the number 1, must be a string: put it in quotes", "unknown-field spec.pod.x: unknown field; there are spec"}},
		"raw":          {"any object", widget("raw: {apiVersion: v1, kind: Pod, metadata: {name: a, label: {}}, spec: {}}"), []string{`unknown-field spec.raw.metadata.label: unknown field; did you mean "labels"?`}},
		"required":     {"a missing field", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {}}", []string{"required spec.size: is missing: a whole number"}},
		"status":       {"no one declares a status", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1}, status: {}}", nil},
		"metadata":     {"metadata is described by Kubernetes, and by the definition", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: abcdefghijk, creationTimestamp: null, label: {}}, spec: {size: 1}}", []string{`unknown-field metadata.label: unknown field; did you mean "labels"?`, "bounds metadata.name: must have at most 10 characters"}},
		"name":         {"the name of a custom resource", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: A}, spec: {size: 1}}", []string{`name metadata.name: "A" is not valid: ` + wantSubdomain}},
		"root":         {"an unknown field of the object", widgets + "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 1}, data: {}}", []string{`unknown-field data: unknown field; there are metadata, spec, status`}},
		"other":        {"a version that allows everything", widgets + "---\n{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: a}, x: 1}", nil},
		"not served":   {"a version that is not served", widgets + "---\n{apiVersion: example.com/v1alpha1, kind: Widget, metadata: {name: a}}", []string{"unknown-kind apiVersion: the definition of Widget serves example.com/v1 and example.com/v1beta1, not example.com/v1alpha1"}},
		"misspelled":   {"a kind that is almost one", widgets + "---\n{apiVersion: example.com/v1, kind: Wigdet, metadata: {name: a}}", []string{"unknown-kind kind: no definition has the kind Wigdet in example.com; did you mean Widget?"}},
		"another":      {"a kind of the group that is defined elsewhere", widgets + "---\n{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}", []string{"info: no-schema kind: Gadget of example.com/v1 was not validated: no CustomResourceDefinition of it is among the objects"}},
		"list":         {"a definition in a list", "{apiVersion: v1, kind: List, items: [" + strings.ReplaceAll(flow(t, widgets), "\n", " ") + ", {apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {}}]}", []string{"required items[1].spec.size: is missing: a whole number"}},
		"of the group": {"an older version of definitions", "{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: a.b}}", []string{"removed-api apiVersion: Kubernetes 1.22 removed CustomResourceDefinition from apiextensions.k8s.io/v1beta1; use apiextensions.k8s.io/v1"}},
		"broken":       {"a definition whose schema is not one", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: as.b.c}, spec: {group: b.c, scope: Cluster, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: 1}}}]}}\n---\n{apiVersion: b.c/v1, kind: A, metadata: {name: a}}", []string{"type spec.versions[0].schema.openAPIV3Schema.type: is the number 1, must be a string: put it in quotes", "definition kind: the schema in the definition of A is not valid: json: cannot unmarshal number into Go struct field node.type of type string"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(Check{}.Validate(objects(t, c.objects)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	workload := "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a}, spec: {}}"
	unknown := "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 0}}"
	const without = "no-schema kind: Widget of example.com/v1 was not validated: no CustomResourceDefinition of it is among the objects"
	cases := map[string]struct {
		reason, object string
		check          Check
		want           []string
	}{
		"newest":      {"the newest version is the default", workload, Check{}, nil},
		"names":       {"names of Services began with a letter until 1.35", "{apiVersion: v1, kind: Service, metadata: {name: 1a}, spec: {ports: [{port: 80}]}}", Kubernetes("1.35"), []string{`name metadata.name: "1a" is not valid: ` + want1035}},
		"older":       {"a kind of newer versions", workload, Kubernetes("1.33"), []string{"removed-api apiVersion: Kubernetes 1.33 does not serve DeviceClass in resource.k8s.io/v1, but 1.34, 1.35, 1.36, 1.37 do; use resource.k8s.io/v1beta2 or resource.k8s.io/v1beta1 or resource.k8s.io/v1alpha3"}},
		"patch":       {"a patch version counts as its minor one", workload, Kubernetes("v1.34.2"), nil},
		"unknown":     {"a version without schemas", workload, Kubernetes("1.20"), []string{`version : no schemas of Kubernetes "1.20"; there are those of ` + strings.Join(Versions(), ", ")}},
		"not one":     {"no version", workload, Kubernetes("latest"), []string{`version : no schemas of Kubernetes "latest"; there are those of ` + strings.Join(Versions(), ", ")}},
		"ignored":     {"kinds without schema may be ignored", unknown, Check{Missing: MissingIgnored}, nil},
		"warned":      {"or warned of", unknown, Check{Missing: MissingWarning}, []string{"warning: " + without}},
		"refused":     {"or refused", unknown, Check{Missing: MissingError}, []string{without}},
		"sources":     {"files that are yet to be rendered", "{apiVersion: v1, kind: Secret, metadata: {name: '${APP}', namespace: 'a-${NS}', labels: {'${A}': '${B}'}}, immutable: '${C}', data: {k: 'ENC[AES256_GCM]'}, sops: {mac: x}}", Check{Sources: true}, nil},
		"rendered":    {"in what is rendered they are mistakes", "{apiVersion: v1, kind: Secret, metadata: {name: '${APP}'}, sops: {}}", Check{}, []string{`name metadata.name: "${APP}" is not valid: ` + wantSubdomain, "unknown-field sops: unknown field; there are apiVersion, data, immutable, kind, metadata, stringData, type"}},
		"definitions": {"definitions from elsewhere", unknown, Check{Definitions: objects(t, widgets)}, []string{"bounds spec.size: must be at least 1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(c.check.Validate(objects(t, c.object)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if found := Kubernetes("none").Validate(nil); found != nil {
		t.Errorf("findings without objects: %v", found)
	}
}

// TestApp holds that a mistake leads to the construct and the line of Go, and that definitions in an App are used.
func TestApp(t *testing.T) {
	app := chart.NewApp(chart.Settings{Checks: []chart.Check{Kubernetes("1.36")}})
	web := chart.New(app, "web", chart.Props{Namespace: "shop"})
	chart.Add(web, "definition", objects(t, widgets)[0])
	chart.Add(web, "config", &corev1.ConfigMap{Data: map[string]string{"k": "v"}})
	chart.Add(web, "widget", map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": 2}})
	chart.Add(web, "typed", &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{}, Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}}})
	chart.Add(web, "bad", map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"sise": 2}})
	_, err := app.Synth()
	var all chart.Errors
	if !errors.As(err, &all) {
		t.Fatalf("the error is %v, want those of a synthesis", err)
	}
	var got []string
	for _, one := range all {
		if !strings.HasSuffix(one.At.File, "custom_test.go") || one.At.Line == 0 {
			t.Errorf("%s is at %s, want a line of this file", one.Path, one.At)
		}
		got = append(got, one.Path+": "+one.Err.Error())
	}
	want := []string{
		"web/typed: spec.selector: is empty: write a label of spec.template.metadata.labels to matchLabels (schema/selector)",
		"web/typed: spec.template.spec.containers[0].image: is missing: a string (schema/required)",
		`web/bad: spec.sise: unknown field; did you mean "size"? (schema/unknown-field)`,
		"web/bad: spec.size: is missing: a whole number (schema/required)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}
