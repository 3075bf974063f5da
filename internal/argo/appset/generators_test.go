package appset

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/source"
)

const repository = `
-- README.md --
-- .github/workflows/x.yaml --
-- apps/one/kustomization.yaml --
-- apps/two/deep/kustomization.yaml --
-- apps/common/kustomization.yaml --
-- apps/.hidden/kustomization.yaml --
-- apps/Up_Per/kustomization.yaml --
-- link -> apps/one --
-- env/dev.yaml --
name: dev
cluster: {address: https://dev, tags: [a, b]}
port: 80
path: mine
-- env/prod.json --
{"name": "prod", "cluster": {"address": "https://prod"}}
-- env/list.yaml --
- name: l1
- name: l2
-- env/deep/stage.yaml --
name: stage
-- env/alias.yaml -> dev.yaml --
-- bad/text.yaml --
just text
-- bad/gone.yaml -> nowhere.yaml --
-- empty/e.yaml --
`

func testFacts(t *testing.T) known {
	return known{
		trees: map[string]*source.Tree{"https://example.com/repo": treeOf(t, repository)},
		clusters: []settings.Cluster{
			{Name: "in-cluster", Server: "https://kubernetes.default.svc"},
			{Secret: "b", Name: "Prod_EU", Server: "https://eu", Project: "p", Labels: map[string]string{"env": "prod"}},
			{Secret: "a", Name: "dev", Server: "https://dev", Labels: map[string]string{"env": "dev"}, Annotations: map[string]string{"note": "n"}},
		},
	}
}

func names(all []map[string]any, key string) string {
	var found []string
	for _, params := range all {
		value := flatten(params)[key]
		found = append(found, value)
	}
	return strings.Join(found, " ")
}

func TestGeneratorsWhole(t *testing.T) {
	cases := map[string]struct {
		reason, spec string
		options      Options
		want         []map[string]any
	}{
		"ListGo": {
			reason: "elements are taken as they are, those of YAML behind them",
			spec:   `{goTemplate: true, generators: [{list: {elements: [{name: a, port: 1, nested: {x: [1]}}], elementsYaml: "- name: b"}}]}`,
			want:   []map[string]any{{"name": "a", "port": 1.0, "nested": map[string]any{"x": []any{1.0}}}, {"name": "b"}},
		},
		"ListPlain": {
			reason: "values get flat names",
			spec:   `{generators: [{list: {elements: [{name: a, values: {x: one}}]}}]}`,
			want:   []map[string]any{{"name": "a", "values.x": "one"}},
		},
		"ClustersGo": {
			reason: "those with a Secret first, by its name; that of the installation has no metadata",
			spec:   `{goTemplate: true, generators: [{clusters: {values: {at: '{{.server}}/{{.name}}'}}}]}`,
			want: []map[string]any{
				{
					"name": "dev", "nameNormalized": "dev", "server": "https://dev", "project": "", "values": map[string]string{"at": "https://dev/dev"},
					"metadata": map[string]any{"labels": map[string]string{"env": "dev"}, "annotations": map[string]string{"note": "n"}},
				},
				{
					"name": "Prod_EU", "nameNormalized": "prod-eu", "server": "https://eu", "project": "p", "values": map[string]string{"at": "https://eu/Prod_EU"},
					"metadata": map[string]any{"labels": map[string]string{"env": "prod"}},
				},
				{
					"name": "in-cluster", "nameNormalized": "in-cluster", "server": "https://kubernetes.default.svc", "project": "",
					"values": map[string]string{"at": "https://kubernetes.default.svc/in-cluster"},
				},
			},
		},
		"ClustersPlain": {
			reason: "a selector leaves out the cluster that has no Secret; labels get flat names",
			spec:   `{generators: [{clusters: {selector: {matchExpressions: [{key: env, operator: NotIn, values: [prod]}]}, values: {v: '{{ metadata.labels.env }}-{{values.v}}'}}}]}`,
			want: []map[string]any{{
				"name": "dev", "nameNormalized": "dev", "server": "https://dev", "project": "", "metadata.labels.env": "dev", "metadata.annotations.note": "n",
				"values.v": "dev-{{values.v}}",
			}},
		},
		"DirectoriesGo": {
			reason: "a prefix is a map around the path",
			spec:   `{goTemplate: true, generators: [{git: {repoURL: https://example.com/repo, revision: HEAD, pathParamPrefix: my, directories: [{path: apps/Up*}], values: {v: '{{.my.path.basename}}'}}}]}`,
			want: []map[string]any{{
				"my":     map[string]any{"path": map[string]any{"path": "apps/Up_Per", "basename": "Up_Per", "basenameNormalized": "up-per", "segments": []string{"apps", "Up_Per"}}},
				"values": map[string]string{"v": "Up_Per"},
			}},
		},
		"DirectoriesPlain": {
			reason: "flat names, with the segments by their numbers",
			spec:   `{generators: [{git: {repoURL: https://example.com/repo, revision: HEAD, directories: [{path: apps/*/deep}], pathParamPrefix: my}}]}`,
			want: []map[string]any{{
				"my.path": "apps/two/deep", "my.path.basename": "deep", "my.path.basenameNormalized": "deep", "my.path[0]": "apps", "my.path[1]": "two", "my.path[2]": "deep",
			}},
		},
		"FilesGo": {
			reason: "what a file says, and where it is; the path wins over a parameter of that name",
			spec:   `{goTemplate: true, generators: [{git: {repoURL: https://example.com/repo, revision: HEAD, files: [{path: env/dev.yaml}]}}]}`,
			want: []map[string]any{{
				"name": "dev", "cluster": map[string]any{"address": "https://dev", "tags": []any{"a", "b"}}, "port": 80.0,
				"path": map[string]any{
					"path": "env", "basename": "env", "basenameNormalized": "env", "filename": "dev.yaml", "filenameNormalized": "dev.yaml", "segments": []string{"env"},
				},
			}},
		},
		"FilesPlain": {
			reason: "objects and lists get flat names, numbers are text",
			spec:   `{generators: [{git: {repoURL: https://example.com/repo, revision: HEAD, files: [{path: env/dev.yaml}]}}]}`,
			want: []map[string]any{{
				"name": "dev", "cluster.address": "https://dev", "cluster.tags.0": "a", "cluster.tags.1": "b", "port": "80",
				"path": "env", "path.basename": "env", "path.basenameNormalized": "env", "path.filename": "dev.yaml", "path.filenameNormalized": "dev.yaml", "path[0]": "env",
			}},
		},
		"FlatList": {
			reason: "one set with all clusters, which templates of Go range over",
			spec:   `{goTemplate: true, generators: [{clusters: {flatList: true, selector: {matchLabels: {env: prod}}}}]}`,
			want: []map[string]any{{"clusters": []any{map[string]any{
				"name": "Prod_EU", "nameNormalized": "prod-eu", "server": "https://eu", "project": "p", "metadata": map[string]any{"labels": map[string]string{"env": "prod"}},
			}}}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, failure := parametersOf(t, setOf(t, c.spec), testFacts(t), c.options)
			if failure != "" {
				t.Fatalf("%s: %s", c.reason, failure)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
		})
	}
}

// git is a generator of the repository of tests.
func git(rest string) string {
	return `{git: {repoURL: https://example.com/repo, revision: HEAD, ` + rest + `}}`
}

func TestGeneratorsNamed(t *testing.T) {
	list := func(names ...string) string {
		return `{list: {elements: [{name: ` + strings.Join(names, `}, {name: `) + `}]}}`
	}
	cases := map[string]struct {
		reason, generator, key string
		options                Options
		want, failure          string
	}{
		"Exclude":       {reason: "a pattern that excludes wins wherever it stands", generator: git(`directories: [{path: apps/common, exclude: true}, {path: apps/*}]`), key: "path.path", want: "apps/Up_Per apps/one apps/two"},
		"Hidden":        {reason: "hidden directories on request", generator: git(`directories: [{path: '*'}, {path: apps/.*}]`), options: Options{HiddenDirectories: true}, key: "path.path", want: ".github apps apps/.hidden bad empty env"},
		"NotDeep":       {reason: "a star ends at a slash, and links are no directories", generator: git(`directories: [{path: '*'}]`), key: "path.path", want: "apps bad empty env"},
		"BadPattern":    {reason: "a pattern that is none is named", generator: git(`directories: [{path: '['}]`), failure: `git.directories[0].path: "[" is not a pattern`},
		"Neither":       {reason: "nothing is asked for", generator: git(`directories: []`), failure: "git: set directories or files"},
		"FilesOld":      {reason: "a star of the older patterns matches slashes; links are read, items follow each other", generator: git(`files: [{path: 'env/*.yaml'}]`), key: "name", want: "dev stage dev l1 l2"},
		"FilesNew":      {reason: "a star of the newer ones does not", generator: git(`files: [{path: 'env/*.yaml'}]`), options: Options{NewGlobbing: true}, key: "name", want: "dev dev l1 l2"},
		"FilesDeep":     {reason: "two of them do", generator: git(`files: [{path: 'env/**/*.yaml'}, {path: env/alias.yaml, exclude: true}]`), options: Options{NewGlobbing: true}, key: "name", want: "stage dev l1 l2"},
		"FilesBelow":    {reason: "the older patterns name directories too, and sets of characters", generator: git(`files: [{path: env/deep}, {path: 'env/[!a-o]*.json'}]`), key: "name", want: "stage prod"},
		"FilesEmpty":    {reason: "an empty file is one set, with its path", generator: git(`files: [{path: empty/*}]`), key: "path.filename", want: "e.yaml"},
		"FilesBad":      {reason: "a file that is no object is named", generator: git(`files: [{path: bad/text.yaml}]`), failure: `file "bad/text.yaml" of https://example.com/repo: not an object or a list of objects`},
		"FilesGone":     {reason: "a link that leads nowhere is named", generator: git(`files: [{path: bad/gone.yaml}]`), failure: `a symbolic link to "bad/nowhere.yaml", which does not exist`},
		"Misspelled":    {reason: "a field that nobody knows is named", generator: git(`directory: [{path: x}]`), failure: `unknown field "directory"`},
		"Elsewhere":     {reason: "a repository that cannot be read is an error, without the login in its address", generator: `{git: {repoURL: 'https://u:hunter2@example.com/other', revision: v1, directories: [{path: '*'}]}}`, failure: `reading https://example.com/other at "v1": there is no repository`},
		"Selector":      {reason: "a selector looks at nested parameters by their flat names", generator: `{list: {elements: [{name: a, x: {w: 1}}, {name: b, x: {w: 2}}, {name: c}]}, selector: {matchExpressions: [{key: x.w, operator: In, values: ['1', https://any]}]}}`, key: "name", want: "a"},
		"SelectorNot":   {reason: "what has no such parameter is not in", generator: `{list: {elements: [{name: a, x: '1'}, {name: b}]}, selector: {matchExpressions: [{key: x, operator: NotIn, values: ['1']}]}}`, key: "name", want: "b"},
		"SelectorMaps":  {reason: "labels of clusters are found", generator: `{clusters: {}, selector: {matchLabels: {metadata.labels.env: prod}}}`, key: "name", want: "Prod_EU"},
		"SelectorBad":   {reason: "an operator that nobody knows is named", generator: `{list: {elements: [{name: a}]}, selector: {matchExpressions: [{key: x, operator: Like}]}}`, failure: `selector.matchExpressions[0]: unknown operator "Like"`},
		"Matrix":        {reason: "each with each, in order", generator: `{matrix: {generators: [` + list("a", "b") + `, {list: {elements: [{x: '1'}, {x: '2'}]}}]}}`, key: "x", want: "1 2 1 2"},
		"MatrixFirst":   {reason: "the first one's parameters win, deep in maps, also those that are empty", generator: `{matrix: {generators: [{list: {elements: [{name: a, m: {x: first, e: ''}}]}}, {list: {elements: [{name: b, m: {x: second, e: lost, z: more}}]}}]}}`, key: "m.e", want: ""},
		"MatrixWith":    {reason: "the second is written with the parameters of the first", generator: `{matrix: {generators: [` + git(`directories: [{path: apps/one}, {path: env}]`) + `, {list: {elementsYaml: '[{name: "{{.path.basename}}-x"}]'}}]}}`, key: "name", want: "one-x env-x"},
		"MatrixValues":  {reason: "values that need the second's own parameters wait for those", generator: `{matrix: {generators: [` + list("a") + `, {clusters: {selector: {matchLabels: {env: prod}}, values: {one: '{{.name}}', two: '{{.server}}', three: '{{.name}}{{.server}}'}}}]}}`, key: "values.two", want: "https://eu"},
		"MatrixThree":   {reason: "two, not three", generator: `{matrix: {generators: [` + list("a") + `, ` + list("a") + `, ` + list("a") + `]}}`, failure: "matrix.generators: a matrix requires exactly two, got 3"},
		"MatrixMerge":   {reason: "a merge within a matrix", generator: `{matrix: {generators: [` + list("a") + `, {merge: {mergeKeys: [x], generators: [{list: {elements: [{x: '1', w: '{{.name}}'}]}}, {list: {elements: [{x: '1', z: '{{.name}}'}]}}]}}]}}`, key: "z", want: "a"},
		"TooDeep":       {reason: "generators nest once", generator: `{matrix: {generators: [` + list("a") + `, {matrix: {generators: [` + list("b") + `, {matrix: {generators: [` + list("c") + `, ` + list("d") + `]}}]}}]}}`, failure: "generators[1]: with element 1 of a list: matrix.generators[1]: with element 1 of a list: matrix: generators nest only once"},
		"MatrixBoth":    {reason: "a generator within another one is of one kind", generator: `{matrix: {generators: [{list: {elements: [{a: b}]}, clusters: {}}, ` + list("a") + `]}}`, failure: "it sets list and clusters"},
		"Merge":         {reason: "later ones lie over the first, what it does not have is dropped", generator: `{merge: {mergeKeys: [name], generators: [` + list("a", "b") + `, {list: {elements: [{name: b, x: '2'}, {name: c, x: '3'}]}}]}}`, key: "x", want: " 2"},
		"MergeTwice":    {reason: "keys have to tell sets apart", generator: `{merge: {mergeKeys: [name], generators: [` + list("a", "a") + `, ` + list("b") + `]}}`, failure: `merge.generators[0]: element 1 of a list and element 2 of a list both have {"name":"a"}`},
		"MergeNoKeys":   {reason: "there are none", generator: `{merge: {mergeKeys: [], generators: [` + list("a") + `, ` + list("b") + `]}}`, failure: "merge.mergeKeys: none set"},
		"MergeOne":      {reason: "one is too few", generator: `{merge: {mergeKeys: [name], generators: [` + list("a") + `]}}`, failure: "merge.generators: a merge requires two or more, got 1"},
		"MergeField":    {reason: "a field that nobody knows is named", generator: `{merge: {mergeKey: [name], mergeKeys: [name], generators: [` + list("a") + `, ` + list("b") + `]}}`, failure: `unknown field "mergeKey"`},
		"NotServed":     {reason: "generators that ask forges are refused by name", generator: `{scmProvider: {github: {organization: x}}}`, failure: "scmProvider: " + ErrNotServed.Error()},
		"NestedPlugin":  {reason: "within others too", generator: `{matrix: {generators: [` + list("a") + `, {plugin: {configMapRef: {name: x}}}]}}`, failure: "plugin: " + ErrNotServed.Error()},
		"NoGenerator":   {reason: "a selector alone gives nothing", generator: `{selector: {matchLabels: {a: b}}}`, failure: "no generator is set"},
		"Unknown":       {reason: "a generator that nobody knows is no empty one", generator: `{lists: {elements: []}}`, failure: "lists: unknown generator"},
		"Null":          {reason: "an element that is nothing is no set", generator: `{matrix: {generators: [{list: {elements: [null]}}, ` + list("b") + `]}}`, failure: "matrix.generators[0].list.elements[0]: not an object"},
		"NullYaml":      {reason: "in YAML it is one without parameters, as upstream has it", generator: `{matrix: {generators: [{list: {elementsYaml: '[null]'}}, ` + list("b") + `]}}`, key: "name", want: "b"},
		"ElementsYaml":  {reason: "what is no list is named", generator: `{list: {elementsYaml: 'a: b'}}`, failure: "list.elementsYaml: not a YAML list of objects"},
		"ClustersValue": {reason: "a value that cannot be rendered is named, with its cluster", generator: `{clusters: {values: {x: '{{ .name | nope }}'}}}`, failure: `with cluster "dev": values.x: line 1: function "nope" not defined`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			facts := testFacts(t)
			facts.failure = nil
			if name == "Elsewhere" {
				facts.failure = errors.New("gone")
			}
			all, failure := parametersOf(t, setOf(t, `{goTemplate: true, generators: [`+c.generator+`]}`), facts, c.options)
			if c.failure != "" || failure != "" {
				if c.failure == "" || !strings.Contains(failure, c.failure) || strings.Contains(failure, "hunter2") {
					t.Fatalf("%s: the error is %q, and should have %q", c.reason, failure, c.failure)
				}
				return
			}
			if got := names(all, c.key); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestPlainMatrix(t *testing.T) {
	cases := map[string]struct{ reason, generator, want, failure string }{
		"Agree":     {reason: "parameters that agree are one", generator: `{matrix: {generators: [{list: {elements: [{name: a, x: '1'}]}}, {list: {elements: [{name: '{{name}}', w: '{{x}}2'}]}}]}}`, want: "12"},
		"Differ":    {reason: "others are named", generator: `{matrix: {generators: [{list: {elements: [{name: a}]}}, {list: {elements: [{name: b}]}}]}}`, failure: `element 1 of a list with element 1 of a list: both set the parameter "name", to "a" and to "b"`},
		"Number":    {reason: "elements are text", generator: `{list: {elements: [{name: a}, {name: b, port: 1}]}}`, failure: "list.elements[1].port: not a string: quote it, or set spec.goTemplate: true"},
		"Values":    {reason: "values too", generator: `{list: {elements: [{values: {a: [1]}}]}}`, failure: "list.elements[0].values.a: not a string"},
		"Merge":     {reason: "flat names are keys", generator: `{merge: {mergeKeys: [values.k], generators: [{list: {elements: [{name: a, values: {k: '1'}, w: old}]}}, {list: {elements: [{values: {k: '1'}, w: ''}]}}]}}`, want: ""},
		"Unclosed":  {reason: "a tag without an end is an error", generator: `{matrix: {generators: [{list: {elements: [{name: a}]}}, {list: {elements: [{w: '{{x}} {{w'}]}}]}}`, failure: `a "{{" without "}}"`},
		"NotObject": {reason: "an element is an object", generator: `{list: {elements: [text]}}`, failure: "list.elements[0]: not an object"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			all, failure := parametersOf(t, setOf(t, `{generators: [`+c.generator+`]}`), testFacts(t), Options{})
			if failure != "" || c.failure != "" {
				if c.failure == "" || !strings.Contains(failure, c.failure) {
					t.Fatalf("%s: the error is %q, and should have %q", c.reason, failure, c.failure)
				}
				return
			}
			if got := names(all, "w"); got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
		})
	}
}

func TestRepositories(t *testing.T) {
	var asked []string
	facts := testFacts(t)
	facts.asked = &asked
	set := setOf(t, `{goTemplate: true, generators: [`+git(`requeueAfterSeconds: 60, directories: [{path: nothing}]`)+`, `+git(`requeueAfterSeconds: 30, directories: [{path: nothing}]`)+`, {clusters: {selector: {matchLabels: {no: one}}}}]}`)
	made, _, failure := generated(t, set, facts, Options{})
	if failure != "" {
		t.Fatal(failure)
	}
	if diff := cmp.Diff([]string{"https://example.com/repo HEAD web"}, asked); diff != "" {
		t.Errorf("a repository is read once in a pass: -want +got:\n%s", diff)
	}
	if len(made.Repositories) != 1 || made.Repositories[0].Every.Seconds() != 30 || made.Repositories[0].Resolved == "" || !made.Clusters {
		t.Errorf("what was read: %+v, clusters %v", made.Repositories, made.Clusters)
	}
	if len(made.Yields) != 3 {
		t.Errorf("each generator has its yield: %v", made.Yields)
	}

	facts.failure = errors.New("it is being fetched")
	if _, err := Generate(t.Context(), set, facts, Options{}); !errors.Is(err, facts.failure) {
		t.Errorf("errors of the facts are wrapped: %v", err)
	}
}

// TestEmptyOverrides has values that are empty lie over others, in merges and matrices.
func TestEmptyOverrides(t *testing.T) {
	under := `{name: a, auto: true, count: 3, text: old, list: [1], map: {a: 1, keep: 2}, gone: old, deep: {auto: true}, kind: {a: 1}}`
	over := `{name: a, auto: false, count: 0, text: '', list: [], map: {}, gone: null, deep: {auto: false}, kind: text}`
	want := map[string]any{
		"name": "a", "auto": false, "count": 0.0, "text": "", "list": []any{}, "map": map[string]any{"a": 1.0, "keep": 2.0}, "gone": nil,
		"deep": map[string]any{"auto": false}, "kind": "text",
	}
	for name, generator := range map[string]string{
		"Merge":  `{merge: {mergeKeys: [name], generators: [{list: {elements: [` + under + `]}}, {list: {elements: [` + over + `]}}]}}`,
		"Matrix": `{matrix: {generators: [{list: {elements: [` + over + `]}}, {list: {elements: [` + under + `]}}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			all, failure := parametersOf(t, setOf(t, `{goTemplate: true, generators: [`+generator+`]}`), testFacts(t), Options{})
			if failure != "" || len(all) != 1 {
				t.Fatalf("%d sets: %s", len(all), failure)
			}
			data, err := json.Marshal(all[0])
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
