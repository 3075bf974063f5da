package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
)

func render(_ context.Context, text string, values map[string]any) (string, error) {
	t, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", errors.New("the template is malformed")
	}
	var b strings.Builder
	if t.Execute(&b, values) != nil {
		return "", errors.New("the template fails")
	}
	return b.String(), nil
}

func selects(_ context.Context, q webhook.Query) (webhook.Selected, error) { return webhook.Select(q) }

func secrets(context.Context) (map[string]map[string]string, error) {
	return map[string]map[string]string{"auth": {"token": "hook-token"}}, nil
}

// serve answers requests that are authorized: /secrets/KEY with values, /echo with what it got.
func serve(t *testing.T) *storetest.Plain {
	return storetest.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("Authorization") != "Bearer hook-token":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/secrets/db":
			_, _ = io.WriteString(w, `{"data":{"password":"p","n":12345678901,"list":["a","b"],"none":null,"empty":[],"text":"{\"x\":\"y\"}","o":{"k":"v","l":[1]}}}`)
		case r.URL.Path == "/echo":
			_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "query": r.URL.Query().Get("k"), "body": string(body)})
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
}

func open(t *testing.T, config webhook.Config) *webhook.Client {
	t.Helper()
	config.Headers, config.Secrets = map[string]string{"Authorization": "Bearer {{ .auth.token }}"}, secrets
	client, err := webhook.New(config, render, selects, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestGet(t *testing.T) {
	server := serve(t)
	for name, tc := range map[string]struct {
		path string
		ref  store.Ref
		want string
		is   error
	}{
		"Text":     {"$.data.password", store.Ref{Key: "db"}, "p", nil},
		"Template": {"$.data.{{ .remoteRef.property }}", store.Ref{Key: "db", Property: "password"}, "p", nil},
		"Number":   {"$.data.n", store.Ref{Key: "db"}, "12345678901", nil},
		"First":    {"$.data.list", store.Ref{Key: "db"}, "a", nil},
		"Object":   {"$.data.o", store.Ref{Key: "db"}, `{"k":"v","l":[1]}`, nil},
		"Nothing":  {"$.data.other", store.Ref{Key: "db"}, "", store.ErrNoProperty},
		"Null":     {"$.data.none", store.Ref{Key: "db"}, "", store.ErrNoProperty},
		"Empty":    {"$.data.empty", store.Ref{Key: "db"}, "", store.ErrNoProperty},
		"Missing":  {"$.data", store.Ref{Key: "none"}, "", store.ErrNotFound},
		"Metadata": {"", store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, "", store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(t, webhook.Config{URL: server.URL + "/secrets/{{ .remoteRef.key }}", JSONPath: tc.path}).Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
}

func TestMap(t *testing.T) {
	server := serve(t)
	for path, want := range map[string]map[string][]byte{
		"$.data.o": {"k": []byte("v"), "l": []byte("[1]")}, "$.data.text": {"x": []byte("y")}, "$.data.password": nil,
	} {
		got, err := open(t, webhook.Config{URL: server.URL + "/secrets/db", JSONPath: path}).Map(t.Context(), store.Ref{Key: "db"})
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: %v %s", path, err, diff)
		}
	}
}

func TestRequest(t *testing.T) {
	server := serve(t)
	config := webhook.Config{Method: http.MethodPost, URL: server.URL + "/echo?k={{ .remoteRef.key }}", Body: `{"of":"{{ .remoteRef.key }}","version":"{{ .remoteRef.version }}"}`}
	got, err := open(t, config).Map(t.Context(), store.Ref{Key: "a b&c=d", Version: "3"})
	want := map[string][]byte{"method": []byte("POST"), "query": []byte("a b&c=d"), "body": []byte(`{"of":"a b&c=d","version":"3"}`)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	config.Body = `{{ index .remoteRef .remoteRef.remoteKey }}`
	config.URL = server.URL + "/echo"
	if err := open(t, config).Push(t.Context(), store.PushRef{Key: "k"}, []byte("v")); err != nil {
		t.Error(err)
	}
}

func TestRefuses(t *testing.T) {
	server := serve(t)
	for name, config := range map[string]webhook.Config{
		"Template":    {URL: server.URL + "/{{ .nothing }}"},
		"Malformed":   {URL: server.URL + "/{{"},
		"Scheme":      {URL: "file:///etc/passwd"},
		"TwoLines":    {URL: server.URL + "/\r\nX: y"},
		"BadPath":     {URL: server.URL + "/secrets/db", JSONPath: "$[["},
		"BadBody":     {URL: server.URL + "/secrets/db", Body: "{{ .nothing.of }}"},
		"PathOfaText": {URL: server.URL + "/echo", JSONPath: "$.body.x"},
	} {
		if _, err := open(t, config).Get(t.Context(), store.Ref{Key: "db"}); err == nil || strings.Contains(err.Error(), "hook-token") {
			t.Errorf("%s: %v", name, err)
		}
	}
	client := open(t, webhook.Config{URL: server.URL})
	if _, err := client.Find(t.Context(), store.Find{}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("Find: %v", err)
	}
	if err := client.Delete(t.Context(), store.PushRef{}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("Delete: %v", err)
	}
	if _, err := client.Exists(t.Context(), store.PushRef{}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("Exists: %v", err)
	}
	if err := client.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if _, err := webhook.New(webhook.Config{}, render, selects, &http.Client{}); err == nil {
		t.Error("a store without a URL is taken")
	}
}

func TestFaults(t *testing.T) {
	server := serve(t)
	storetest.Faults(t, server, open(t, webhook.Config{URL: server.URL + "/secrets/db", JSONPath: "$.data"}), store.Ref{Key: "db"})
}
