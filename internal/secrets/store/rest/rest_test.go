package rest_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

func TestDo(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		switch r.URL.Path {
		case "/429":
			w.Header().Set("Retry-After", "11")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/large":
			_, _ = w.Write(make([]byte, store.MaxBody+1))
		case "/text":
			_, _ = w.Write([]byte("s3cret"))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("s3cret"))
		case "/ok":
			_, _ = w.Write([]byte(`{"a":"` + r.Header.Get("X-Token") + `"}`))
		default:
			http.Error(w, "s3cret", http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	get := func(path string) error {
		var into struct{ A string }
		_, err := rest.JSON(t.Context(), server.Client(), rest.Request{Of: "reading x", Method: http.MethodGet, URL: server.URL + path, Header: http.Header{"X-Token": {"t"}}}, &into)
		if err == nil && into.A != "t" {
			t.Errorf("the header did not arrive: %q", into.A)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cret") || !strings.HasPrefix(err.Error(), "reading x: ")) {
			t.Errorf("%s: %v", path, err)
		}
		return err
	}
	if err := get("/ok"); err != nil {
		t.Error(err)
	}
	for path, is := range map[string]error{"/missing": store.ErrNotFound, "/large": store.ErrTooLarge, "/text": store.ErrMalformed} {
		if err := get(path); !errors.Is(err, is) {
			t.Errorf("%s: %v, want %v", path, err, is)
		}
	}
	before := requests
	if after, transient := store.RetryAfter(get("/429")); !transient || after != 11*time.Second || requests != before+1 {
		t.Errorf("429: transient %v after %s, %d requests", transient, after, requests-before)
	}
	if _, transient := store.RetryAfter(get("/cut")); !transient {
		t.Error("an answer that is cut off is not transient")
	}
	answer, err := rest.Do(t.Context(), server.Client(), rest.Request{Of: "x", Method: http.MethodGet, URL: server.URL + "/missing", Accept: []int{404}})
	if err != nil || answer.Status != 404 {
		t.Errorf("a status that is accepted: %d, %v", answer.Status, err)
	}
	server.Close()
	if _, transient := store.RetryAfter(get("/ok")); !transient {
		t.Error("a server that is gone is not transient")
	}
	if _, err := rest.Do(t.Context(), http.DefaultClient, rest.Request{Of: "x", Method: http.MethodGet, URL: "://s3cret"}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a URL that is none: %v", err)
	}
}

func TestTrusting(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	request := rest.Request{Of: "x", Method: http.MethodGet, URL: server.URL}
	if _, err := rest.Do(t.Context(), &http.Client{}, request); err == nil {
		t.Fatal("an unknown authority is trusted")
	}
	client, err := rest.Trusting(&http.Client{}, rest.TLS{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rest.Do(t.Context(), client, request); err != nil {
		t.Error(err)
	}
	same := &http.Client{}
	if got, err := rest.Trusting(same, rest.TLS{}); err != nil || got != same {
		t.Errorf("without certificates: %v", err)
	}
	for name, bad := range map[string]rest.TLS{"CA": {CA: []byte("none")}, "Key": {Certificate: []byte("a"), Key: []byte("b")}} {
		if _, err := rest.Trusting(&http.Client{}, bad); err == nil {
			t.Errorf("%s: bad PEM is taken", name)
		}
	}
	if _, err := rest.Trusting(&http.Client{Transport: own{}}, rest.TLS{CA: []byte("x")}); err == nil {
		t.Error("a transport of another kind is configured")
	}
}

func TestRedirects(t *testing.T) {
	foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("credentials reached another server") }))
	t.Cleanup(foreign.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, foreign.URL, http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(server.Close)
	for path, fails := range map[string]bool{"/away": true, "/near": false, "/loop": true} {
		request := rest.Request{Of: "x", Method: http.MethodGet, URL: server.URL + path, Header: http.Header{"X-Vault-Token": {"t"}}}
		if _, err := rest.Do(t.Context(), server.Client(), request); (err != nil) != fails {
			t.Errorf("%s: %v", path, err)
		}
	}
}

type own struct{ http.RoundTripper }
