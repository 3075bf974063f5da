package text

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func sample() *Scope {
	outer := NewScope(noon)
	outer.Set("workflow.name", "wf")
	outer.Set("workflow.parameters.json", `{"a":[{"n":1},{"n":2}]}`)
	outer.Set("workflow.creationTimestamp", "2021-05-06T12:30:00Z")
	outer.SetTag("workflow.creationTimestamp.Y", "2021")
	s := outer.Inside()
	s.Set("inputs.parameters.who", `Ann "A" <b>`)
	s.Set("inputs.parameters.n", "41")
	s.Set("inputs.parameters.key", "who")
	s.Set("inputs.parameters.lines", "one\ntwo\x01")
	s.Set("steps.first.outputs.result", "done")
	s.Set("steps.my-step.status", "Succeeded")
	s.Finish("steps.skipped")
	s.SetArtifact("steps.first.outputs.artifacts.out", v1alpha1.Artifact{Name: "out"})
	return s
}

func TestSubstitute(t *testing.T) {
	mode := Mode{Late: []string{"item", "retries", "lastRetry", "workflow.status"}, Must: []string{"inputs", "steps", "workflow"}}
	for name, tc := range map[string]struct {
		reason, text, want string
	}{
		"Simple":         {"a tag is replaced by its value", `"{{workflow.name}}"`, `"wf"`},
		"Spaces":         {"spaces in the braces do not count", `"{{ workflow.name }}"`, `"wf"`},
		"Escaped":        {"a value is escaped for JSON, and only as much as needed", `"{{inputs.parameters.who}}"`, `"Ann \"A\" <b>"`},
		"Control":        {"so are line breaks and control characters", `"{{inputs.parameters.lines}}"`, `"one\ntwo\u0001"`},
		"Several":        {"several tags and text between them", `"{{workflow.name}}-{{inputs.parameters.n}}"`, `"wf-41"`},
		"Nested":         {"a tag in a tag gives its name", `"{{inputs.parameters.{{inputs.parameters.key}}}}"`, `"Ann \"A\" <b>"`},
		"Foreign":        {"what programs of the user write in braces stays", `"{{ .Values.x }} {{foo}}"`, `"{{ .Values.x }} {{foo}}"`},
		"Late":           {"a late name stays for a later pass", `"{{item.os}} {{workflow.status}}"`, `"{{item.os}} {{workflow.status}}"`},
		"Artifact":       {"an artifact is resolved as a whole, elsewhere", `"{{steps.first.outputs.artifacts.out}}"`, `"{{steps.first.outputs.artifacts.out}}"`},
		"Expression":     {"an expression is evaluated", `"{{=asInt(inputs.parameters.n) + 1}}"`, `"42"`},
		"ExpressionText": {"its text is unescaped, and its result escaped", `"{{= \"a\\\"\" + inputs.parameters.who }}"`, `"a\"Ann \"A\" <b>"`},
		"Hyphen":         {"names with hyphens take the form with an index", `"{{= steps['my-step'].status == 'Succeeded' }}"`, `"true"`},
		"JSON":           {"a map becomes JSON in the string", `"{{= {'a': 1} }}"`, `"{\"a\":1}"`},
		"Path":           {"a path that names one value", `"{{= jsonpath(workflow.parameters.json, '$.a[1].n') }}"`, `"2"`},
		"Paths":          {"and one that names several", `"{{= toJson(jsonpath(workflow.parameters.json, '$.a[*].n')) }}"`, `"[1,2]"`},
		"Float":          {"numbers with fractions", `"{{= asFloat(inputs.parameters.n) / 2 }}"`, `"20.5"`},
		"Sprig":          {"functions of sprig", `"{{= sprig.upper(workflow.name) }}"`, `"WF"`},
		"Now":            {"the current time is the one of the pass", `"{{= sprig.date('2006-01-02', sprig.now()) }} {{= now().Format('15:04') }}"`, `"2026-03-01 12:00"`},
		"Created":        {"a date may be a text", `"{{= sprig.date('2006', workflow.creationTimestamp) }} {{= sprig.dateInZone('15:04', workflow.creationTimestamp, 'Asia/Tokyo') }} {{workflow.creationTimestamp.Y}}"`, `"2021 21:30 2021"`},
		"Modified":       {"which may be changed", `"{{= sprig.date('15:04', sprig.dateModify('-90m', sprig.now())) }}"`, `"10:30"`},
		"Nesting":        {"functions of functions, over lines", `"{{=\n map([jsonpath(sprig.b64dec('eyJ0IjpbMywxXX0='), '$.t')], { toJson({sum: sprig.add(#[0], #[1]), min: sprig.min(#[0], #[1])}) })[0]\n}}"`, `"{\"min\":1,\"sum\":4}"`},
		"Default":        {"an absent output is nil in an expression", `"{{= steps.skipped.outputs.parameters.x ?? 'fallback' }}"`, `"fallback"`},
		"DefaultResult":  {"also the result", `"{{= steps.skipped.outputs.result ?? 'none' }}"`, `"none"`},
		"LateInside":     {"an expression with a late name stays whole", `"{{= item + workflow.name }}"`, `"{{= item + workflow.name }}"`},
		"LateIndex":      {"also when it is written with an index", `"{{= workflow['status'] }}"`, `"{{= workflow['status'] }}"`},
		"LateInText":     {"a late name in quotes is none", `"{{= 'item' }}"`, `"item"`},
		"Retries":        {"a number of retries that is unknown is not 0", `"{{= asInt(retries) + 1 }}"`, `"{{= asInt(retries) + 1 }}"`},
		"Braces":         {"closing braces of JSON are no tag", `{"a":{"b":{}}}`, `{"a":{"b":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Substitute(tc.text, sample(), mode)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSubstituteRefuses(t *testing.T) {
	mode := Mode{Late: []string{"item"}, Must: []string{"inputs", "steps"}}
	for name, tc := range map[string]struct {
		reason, text, want string
	}{
		"Unknown":  {"a name that has to have a value", `"{{inputs.parameters.other}}"`, "failed to resolve {{inputs.parameters.other}}"},
		"Absent":   {"an output that never comes", `"x {{steps.skipped.outputs.parameters.x}}"`, "the output is absent"},
		"Nil":      {"an expression without a value", `"{{= steps.skipped.outputs.parameters.x }}"`, "it gives no value"},
		"Open":     {"a tag without an end", `"{{workflow.name"`, "cannot find end tag"},
		"Syntax":   {"an expression with a mistake", `"{{= 1 + }}"`, "unable to compile expression"},
		"Name":     {"an expression with an unknown name", `"{{= nothing.here }}"`, "unknown name nothing"},
		"Env":      {"the environment of the process", `"{{= sprig.env('HOME') }}"`, "failed to evaluate"},
		"Expand":   {"the environment, in a text", `"{{= sprig.expandenv('$HOME') }}"`, "failed to evaluate"},
		"Host":     {"the network", `"{{= sprig.getHostByName('localhost') }}"`, "failed to evaluate"},
		"Chance":   {"what differs each time", `"{{= sprig.uuidv4() }}"`, "failed to evaluate"},
		"Memory":   {"a lot of memory", `"{{= sprig.repeat(100000000, 'aaaaaaaaaaaaaaaaaaaaaaaaaa') }}"`, "is more than"},
		"Repeated": {"a lot of memory, by the language", `"{{= len(repeat(repeat('x', 100000), 100000)) }}"`, "is more than"},
		"Time":     {"a lot of time", `"{{= let a = 1..2000; all(a, all(a, all(a, # > 0))) }}"`, "take more than"},
		"Doubled":  {"a text that doubles", `"{{= len(reduce(1..40, #acc + #acc, 'xxxx')) }}"`, "take more than"},
		"Replaced": {"a text for each letter of a text", `"{{= let s = repeat('x', 20000); len(replace(s, 'x', s)) }}"`, "take more than"},
		"Lets":     {"a chain of names", `"{{= let a = repeat('x', 1000000); let b = a+a+a+a; let c = b+b+b+b; let d = c+c+c+c; len(d+d+d+d) }}"`, "take more than"},
		"Joined":   {"a long text between texts", `"{{= let s = repeat('x', 20000); len(join(map(1..20000, ''), s)) }}"`, "take more than"},
		"Shared":   {"one long text in many places", `"{{= let s = repeat('x', 20000); len(join(map(1..20000, s))) }}"`, "take more than"},
		"Result":   {"one long text in many places of the result", `"{{= let s = repeat('x', 20000); map(1..20000, s) }}"`, "take more than"},
		"ToJSON":   {"one long text in many places of JSON", `"{{= let s = repeat('x', 20000); len(toJSON(map(1..20000, s))) }}"`, "take more than"},
		"Nested":   {"lists of one list", `"{{= let a = map(1..999, 1); let b = map(a, a); let c = map(a, b); len(flatten(c)) }}"`, "take more than"},
		"Concat":   {"lists put together", `"{{= len(reduce(1..40, concat(#acc, #acc), [1])) }}"`, "exceeded"},
		"Range":    {"a long range", `"{{= len(1..1000000000) }}"`, "memory budget exceeded"},
		"Uniq":     {"all compared with all", `"{{= len(uniq(1..900000)) }}"`, "take more than"},
		"Until":    {"many numbers", `"{{= sprig.until(1000000000) }}"`, "is more than"},
		"Counted":  {"a regular expression with a million instructions", `"{{= 'a' matches '((.?){100}b){10}((.?){100}c){10}((.?){100}d){10}((.?){100}e){10}' }}"`, "counted repetitions"},
		"Composed": {"one that is put together", `"{{= 'a' matches repeat('((.?){100}b){10}', 9) }}"`, "counted repetitions"},
		"Matches":  {"a large regular expression over a long text", `"{{= let s = repeat('a', 500000); s matches '(.?b?c?){300}$' }}"`, "take more than"},
		"Regular":  {"the same by a function", `"{{= let s = repeat('a', 500000); sprig.regexMatch('(.?b?c?){300}$', s) }}"`, "take more than"},
		"Library":  {"a function with one that is too large", `"{{= sprig.regexReplaceAll('((.?){100}b){10}((.?){100}c){10}((.?){100}d){10}((.?){100}e){10}', 'a', '') }}"`, "counted repetitions"},
		"Key":      {"a private key", `"{{= sprig.genPrivateKey('rsa') }}"`, "failed to evaluate"},
		"Indented": {"many long indents", `"{{= len(sprig.indent(100000, repeat('\\n', 100000))) }}"`, "take more than"},
		"Sprig":    {"a text for each letter of a text, by sprig", `"{{= let s = repeat('x', 20000); len(sprig.replace('x', s, s)) }}"`, "take more than"},
		"Pattern":  {"a text for each match", `"{{= let s = repeat('x', 20000); len(sprig.regexReplaceAll('x', s, s)) }}"`, "take more than"},
		"Itself":   {"a value that contains itself", `"{{= let d = sprig.dict('a', 1); sprig.set(d, 'a', d) }}"`, "nested more than"},
		"Path":     {"a path that finds everything many times", `"{{= len(jsonpath(repeat('[', 900) + repeat(']', 900), '$..[*]..[*]..[*]')) }}"`, "nested more than"},
		"Union":    {"a path that names one value often", `"{{= len(jsonpath(repeat('[', 40) + repeat(']', 40), '$' + repeat('[0,0]', 39))) }}"`, "take more than"},
		"Garbage":  {"long texts that are dropped", `"{{= all(1..900000, len(repeat('x', 1000000)) > 0) }}"`, "take more than"},
		"Search":   {"a long text that is searched often", `"{{= let s = repeat('x', 1000000); all(1..900000, !(s contains 'y')) }}"`, "take more than"},
		"Function": {"the function that bounds it cannot be used to end it", `"{{= headgate__step(1) }}"`, "too many arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Substitute(tc.text, sample(), mode)
			if err == nil {
				t.Fatalf("%s: it gave %q", tc.reason, got)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v does not say %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestSubstituteIsBounded is about values that would take all memory: one that has a tag for itself, and a long one that is used often.
func TestSubstituteIsBounded(t *testing.T) {
	scope := sample().Inside()
	scope.Set("inputs.parameters.self", "a{{inputs.parameters.self}}")
	scope.Set("inputs.parameters.long", strings.Repeat("x", 1<<20))
	for document, want := range map[string]string{
		`"{{ {{inputs.parameters.self}} }}"`:                           "a value has a tag that gives itself",
		`"` + strings.Repeat("{{inputs.parameters.long}}", 1000) + `"`: "becomes longer than 8388608 bytes",
	} {
		if got, err := Substitute(document, scope, Mode{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it gave %d bytes and the error %v, which does not say %q", len(got), err, want)
		}
	}
}

func TestAbsentIsAnErrorOfItsOwn(t *testing.T) {
	_, err := Substitute(`"{{steps.skipped.outputs.result}}"`, sample(), Mode{})
	var absent *AbsentError
	if !errors.As(err, &absent) || absent.Name != "steps.skipped.outputs.result" {
		t.Errorf("an absent output is reported by name: %v", err)
	}
}

func TestTags(t *testing.T) {
	names, expressions := Tags(`{{a.b}} {{= c + 'd' }} {{e.{{f}}}} {{open`)
	if diff := cmp.Diff([]string{"a.b", "f"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c + 'd'"}, expressions); diff != "" {
		t.Errorf("expressions (-want +got):\n%s", diff)
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, seed := range []string{
		`"{{workflow.name}}"`, `"{{= asInt(inputs.parameters.n) }}"`, `"{{a.{{b}}}}"`, `"{{= map(1..3, # * 2) }}"`, `"}}{{"`, `"{{={}}}"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, document string) {
		for _, mode := range []Mode{{}, {Late: []string{"item"}, Must: []string{"inputs"}}} {
			_, _ = Substitute(document, sample(), mode)
		}
		Tags(document)
		Whole(document)
	})
}

// TestExpressionsKeepTheirTypes is about operators and functions whose values are weighed on their way.
func TestExpressionsKeepTheirTypes(t *testing.T) {
	for expression, want := range map[string]any{
		`1 + 2`:                            3,
		`1 + 2.5`:                          3.5,
		`"a" + "b" + "c" == "abc"`:         true,
		`reduce(1..3, #acc + #, 0)`:        6,
		`reduce(["a", "b"], #acc + #, "")`: "ab",
		`(now() + duration("1h")).Unix() - now().Unix()`:              3600,
		`replace("abab", "a", "c")`:                                   "cbcb",
		`"abab" | replace("a", "c", 1) | upper()`:                     "CBAB",
		`join(["a", "b"], "-") + join(map(["c"], # + "d"))`:           "a-bcd",
		`split("a,b,c", ",")[1] + split("a,b,c", ",", 2)[1]`:          "bb,c",
		`splitAfter("a,b", ",")[0]`:                                   "a,",
		`len(uniq([1, 1, 2, "a"]))`:                                   3,
		`fromJSON("{\"a\": [1]}").a[0] == 1`:                          true,
		`{"a": "b"}["" + "a"] in ["b", "c"]`:                          true,
		`sprig.replace("a", "b", "aa") + sprig.join("-", ["x", "y"])`: "bbx-y",
		`sprig.without([1, 2], 1)[0]`:                                 2,
		`len(sprig.indent(2, "a\nb"))`:                                7,
		`asInt("4") + asInt("5")`:                                     9,
		`jsonpath("{\"a\": [1, 2]}", "$.a[?(@ > 1)]")[0] == 2`:        true,
		`"abc" matches "^a" && "abc" startsWith "a"`:                  true,
	} {
		got, err := Evaluate(expression, sample(), nil)
		if err != nil || got != want {
			t.Errorf("%s: %v (%T), %v; want %v", expression, got, got, err, want)
		}
	}
}
