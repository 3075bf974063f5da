package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// boxed is a part with stores, whose programs run in children.
func boxed(t *testing.T, stores ...string) *part {
	t.Helper()
	limits := sandbox.Limits{Memory: 384 << 20, Time: 5 * time.Second, Output: 16 << 20}
	p := &part{
		Host:   &dialect.Host{Sandbox: sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})},
		pushed: &fake.Pushed{}, uses: map[engine.UnitID]map[engine.UnitID]bool{}, http: &http.Client{},
		stores: declared.NewRegistry[esv1.SecretStore](storeKind().GroupKind),
	}
	for i, text := range stores {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(fmt.Appendf(nil, "kind: SecretStore\nmetadata: {name: s%d, namespace: ns, uid: u%d}\nspec: {provider: %s}", i, i, text), &u.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := p.stores.Put(u); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func gathered(ctx context.Context, t *testing.T, p *part, spec string) (map[string][]byte, error) {
	t.Helper()
	es := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "es"}}
	if err := yaml.Unmarshal([]byte("secretStoreRef: {name: s0}\n"+spec), &es.Spec); err != nil {
		t.Fatal(err)
	}
	made, err := p.gather(ctx, engine.UnitID{Kind: esv1.ExternalSecretKind, Namespace: "ns", Name: "es"}, es)
	return made.Values, err
}

const small = `{fake: {data: [{key: k, value: '{"a":1,"l":[{"n":"x","v":"1"},{"n":"y","v":"2"}]}'}]}}`

// TestProgramsOfAnExternalSecret has programs in its fields end within their limits, and not the process of the engine.
func TestProgramsOfAnExternalSecret(t *testing.T) {
	doubled := strings.TrimSuffix(strings.Repeat("[@this,@this]|", 36), "|")
	deep := strings.Repeat("[", 3000) + "1" + strings.Repeat("]", 3000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, deep) }))
	t.Cleanup(server.Close)
	hook := `{webhook: {url: "` + server.URL + `", result: {jsonPath: "%s"}}}`
	const spin = `{{ range until 100000 }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}{{ .value }}`
	const grow = `{{ $x := "aaaaaaaa" }}{{ range until 36 }}{{ $x = print $x $x }}{{ end }}{{ len $x }}`
	for name, tc := range map[string]struct {
		reason, store, spec string
		want, err           string
	}{
		"Query":         {"a property that is more than names", small, `data: [{secretKey: a, remoteRef: {key: k, property: 'l.#(n=="y").v'}}]`, "2", ""},
		"PropertyGrows": {"a property that doubles its value", small, `data: [{secretKey: a, remoteRef: {key: k, property: '` + doubled + `'}}]`, "", `spec.data[0], key "a"`},
		"RewriteSpins":  {"a template that does not end", small, "dataFrom: [{extract: {key: k}, rewrite: [{transform: {template: '" + spin + "'}}]}]", "", "spec.dataFrom[0]: rewrite[0]: it took longer than 5s"},
		"RewriteGrows":  {"a template that doubles a text", small, "dataFrom: [{extract: {key: k}, rewrite: [{transform: {template: '" + grow + "'}}]}]", "", "spec.dataFrom[0]: rewrite[0]: it used more than 384 MiB"},
		"Path":          {"a path of a webhook", fmt.Sprintf(hook, "$[0][0].length()"), `data: [{secretKey: a, remoteRef: {key: k}}]`, "", "not a valid JSON path"},
		"PathMultiplies": {
			"wildcards that multiply", fmt.Sprintf(hook, "$..*..*..*"), `data: [{secretKey: a, remoteRef: {key: k}}]`, "", "evaluating result.jsonPath: it ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := gathered(t.Context(), t, boxed(t, tc.store), tc.spec)
			if tc.err == "" && (err != nil || string(values["a"]) != tc.want) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: %q, %v; want %q, %q", tc.reason, values["a"], err, tc.want, tc.err)
			}
		})
	}
}

// TestValuesTogether bounds what one ExternalSecret fetches, whatever the number of its entries.
func TestValuesTogether(t *testing.T) {
	value := strings.Repeat("x", 1<<20)
	p := boxed(t, `{fake: {data: [{key: k, value: `+value+`}]}}`)
	var data, from strings.Builder
	for i := range 20 {
		fmt.Fprintf(&data, "- {secretKey: a%d, remoteRef: {key: k}}\n", i)
		fmt.Fprintf(&from, "- {find: {name: {regexp: k}}, rewrite: [{regexp: {source: k, target: k%d}}]}\n", i)
	}
	for spec, want := range map[string]string{"data:\n" + data.String(): `spec.data[15], key "a15": the values up to here`, "dataFrom:\n" + from.String(): "spec.dataFrom[15]: the values up to here"} {
		if _, err := gathered(t.Context(), t, p, spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestGatherEnds has a pass end when its object or the process does, also while a program of it runs.
func TestGatherEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the object is gone")
	timer := time.AfterFunc(time.Second, func() { cancel(gone) })
	defer timer.Stop()
	p := boxed(t, small)
	_, err := gathered(ctx, t, p, `dataFrom: [{extract: {key: k}, rewrite: [{transform: {template: '{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}'}}]}]`)
	if !errors.Is(err, gone) {
		t.Errorf("%v, want why the context ended", err)
	}
}
