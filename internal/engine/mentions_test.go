package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMentions(t *testing.T) {
	read := func(texts ...string) func(*Mentions) {
		return func(m *Mentions) {
			for _, text := range texts {
				m.Read(text)
			}
		}
	}
	chart := func(texts ...string) func(*Mentions) {
		return func(m *Mentions) {
			for _, text := range texts {
				m.Chart(text, "web")
			}
		}
	}
	configMap := func(name string) ObjectID { return ObjectID{Kind: "ConfigMap", Namespace: "n", Name: name} }
	for name, tc := range map[string]struct {
		reason string
		of     func(*Mentions)
		object ObjectID
		want   Mention
	}{
		"nothing":       {"no text was read", read(), configMap("a"), Unmentioned},
		"manifest":      {"a file has the object", read("kind: ConfigMap\nmetadata: {name: a}"), configMap("a"), ByName},
		"other name":    {"a file has another one of the kind", read("kind: ConfigMap\nmetadata: {name: ab}"), configMap("a"), Unmentioned},
		"other kind":    {"a file has another kind of the name", read("kind: Secret\nmetadata: {name: a}"), configMap("a"), Unmentioned},
		"broken":        {"a file that is no YAML names what it names", read("kind: ConfigMap\n bad: here\nmetadata:\n\tname: a"), configMap("a"), ByName},
		"patch":         {"a patch in a list of JSON", read(`[{"op":"replace","path":"/metadata/name","value":"a"}]`, "kind: ConfigMap"), configMap("a"), ByName},
		"generator":     {"kustomize adds a hash", read("configMapGenerator:\n- name: a"), configMap("a-5g2h7dk9m8"), ByName},
		"prefix":        {"kustomize adds a prefix and a suffix", read("namePrefix: x-\nnameSuffix: -y\n", "kind: ConfigMap\nmetadata: {name: a}"), configMap("x-a-y"), ByName},
		"variable":      {"a variable is a part of the name", read("kind: ConfigMap\nmetadata:\n  name: ${X}-config"), configMap("a-config"), ByTemplate},
		"variable else": {"the other part is another one", read("kind: ConfigMap\nmetadata:\n  name: ${X}-config"), configMap("a-settings"), Unmentioned},
		"whole":         {"a template gives the whole name", read("kind: ConfigMap\nmetadata:\n  name: << inputs.x >>"), configMap("a"), ByTemplate},
		"whole else":    {"of another kind", read("kind: Secret\nmetadata:\n  name: << inputs.x >>\n---\nkind: ConfigMap\nmetadata: {name: b}"), configMap("a"), Unmentioned},
		"default":       {"what a variable has by default", read("kind: ConfigMap\nmetadata: {name: x}\ndata: {k: ${X:=a}}"), configMap("a"), ByName},
		"several":       {"a name of several parts", read("kind: ConfigMap\nmetadata:\n  name: ${X}-of-${Y}-z"), configMap("a-of-b-z"), ByTemplate},
		"several else":  {"a part is missing", read("kind: ConfigMap\nmetadata:\n  name: ${X}-of-${Y}-z"), configMap("a-b-z"), Unmentioned},
		"release":       {"a chart names it after the release", chart(`kind: ConfigMap` + "\n" + `metadata: {name: {{ include "full" . }}}`), configMap("web-config"), ByTemplate},
		"release else":  {"it is not named after the release", chart(`kind: ConfigMap` + "\n" + `metadata: {name: {{ include "full" . }}}`), configMap("a"), Unmentioned},
		"release kind":  {"the chart has no such kind", chart(`kind: Secret`), configMap("web-config"), Unmentioned},
		"any kind":      {"a template gives the kind", chart(`kind: {{ .Values.kind }}`), configMap("web-config"), ByTemplate},
		"values":        {"values name it", chart("kind: ConfigMap\nmetadata: {name: {{ . }}}", "names: [a, b]"), configMap("a"), ByName},
		"unread":        {"a chart that cannot be read makes something of the values", func(m *Mentions) { m.Read("names: [a, b]"); m.Unread() }, configMap("a"), ByName},
		"values key":    {"a key of the values", chart("kind: ConfigMap\nmetadata: {name: {{ $k }}-jobs}", "jobs: {a: {}}"), configMap("a-jobs"), ByTemplate},
	} {
		t.Run(name, func(t *testing.T) {
			var m, sum Mentions
			tc.of(&m)
			sum.Add(m)
			if diff := cmp.Diff(tc.want, m.Of(tc.object)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, sum.Of(tc.object)); diff != "" {
				t.Errorf("%s: the sum: %s", tc.reason, diff)
			}
		})
	}
}
