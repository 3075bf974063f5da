package kubernetes_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/kubernetes"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

// TestCluster is about Secrets of a real API server.
func TestCluster(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Config{Dir: filepath.Join(t.TempDir(), "c"), Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	api, err := typed.NewForConfig(plane.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "db", Labels: map[string]string{"env": "dev"}, Annotations: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"password": []byte("p"), "tls.crt": []byte("\xff\x00"), "json": []byte(`{"x":"y"}`)},
	}
	if _, err := api.CoreV1().Secrets("default").Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.New(plane.RESTConfig(), "default")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("Get", func(t *testing.T) { testGet(t, client) })
	t.Run("Find", func(t *testing.T) { testFind(t, client) })
	t.Run("Push", func(t *testing.T) { testPush(t, client, api) })
	t.Run("Watch", func(t *testing.T) { testWatch(t, client, api) })
	t.Run("Denied", func(t *testing.T) {
		config := rest.AnonymousClientConfig(plane.RESTConfig())
		anonymous, err := kubernetes.New(config, "default")
		if err != nil {
			t.Fatal(err)
		}
		if err := anonymous.Check(t.Context()); !errors.Is(err, store.ErrDenied) {
			t.Errorf("without credentials: %v", err)
		}
		if err := client.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func testGet(t *testing.T, client *kubernetes.Client) {
	for name, tc := range map[string]struct {
		ref  store.Ref
		want string
		is   error
	}{
		"Key":         {store.Ref{Key: "db", Property: "password"}, "p", nil},
		"Bytes":       {store.Ref{Key: "db", Property: "tls.crt"}, "\xff\x00", nil},
		"Metadata":    {store.Ref{Key: "db", Property: "labels.env", MetadataPolicy: store.MetadataFetch}, "dev", nil},
		"AllMetadata": {store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, `{"annotations":{"a":"b"},"labels":{"env":"dev"}}`, nil},
		"NoKey":       {store.Ref{Key: "db", Property: "none"}, "", store.ErrNoProperty},
		"Missing":     {store.Ref{Key: "none"}, "", store.ErrNotFound},
		"Version":     {store.Ref{Key: "db", Version: "1"}, "", store.ErrUnsupported},
	} {
		got, err := client.Get(t.Context(), tc.ref)
		if string(got) != tc.want || !errors.Is(err, tc.is) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, err, tc.want, tc.is)
		}
	}
	got, err := client.Map(t.Context(), store.Ref{Key: "db"})
	want := map[string][]byte{"password": []byte("p"), "tls.crt": []byte("\xff\x00"), "json": []byte(`{"x":"y"}`)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = client.Map(t.Context(), store.Ref{Key: "db", Property: "json"})
	if diff := cmp.Diff(map[string][]byte{"x": []byte("y")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := client.Get(t.Context(), store.Ref{}); err == nil {
		t.Error("an empty key is taken")
	}
}

func testFind(t *testing.T, client *kubernetes.Client) {
	for name, tc := range map[string]struct {
		find store.Find
		want int
	}{"Name": {store.Find{Name: "^d"}, 1}, "Tags": {store.Find{Tags: map[string]string{"env": "dev"}}, 1}, "Other": {store.Find{Tags: map[string]string{"env": "x"}}, 0}} {
		got, err := client.Find(t.Context(), tc.find)
		if err != nil || len(got) != tc.want || (tc.want > 0 && !strings.Contains(string(got["db"]), `"password":"p"`)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := client.Find(t.Context(), store.Find{Path: "x"}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("a path: %v", err)
	}
	if _, err := client.Find(t.Context(), store.Find{Tags: map[string]string{"a b": "c"}}); err == nil {
		t.Error("a tag that is no label is taken")
	}
}

func testPush(t *testing.T, client *kubernetes.Client, api typed.Interface) {
	ref := store.PushRef{Key: "pushed", Property: "k", Metadata: json.RawMessage(`{"kind":"PushSecretMetadata","spec":{"labels":{"from":"here"}}}`)}
	versions := map[string]bool{}
	for _, value := range []string{"v1", "v2", "v2"} {
		if err := client.Push(t.Context(), ref, []byte(value)); err != nil {
			t.Fatal(err)
		}
		secret, err := api.CoreV1().Secrets("default").Get(t.Context(), "pushed", metav1.GetOptions{})
		if err != nil || string(secret.Data["k"]) != value || secret.Labels["from"] != "here" {
			t.Fatalf("after a push of %s: %v, %v", value, secret.Labels, err)
		}
		versions[secret.ResourceVersion] = true
	}
	if len(versions) != 2 {
		t.Errorf("%d versions after two changes: a push of what is there writes", len(versions))
	}
	if err := client.Push(t.Context(), store.PushRef{Key: "pushed", Whole: true}, []byte(`{"a":"1","b":"2"}`)); err != nil {
		t.Error(err)
	}
	got, err := client.Map(t.Context(), store.Ref{Key: "pushed"})
	if diff := cmp.Diff(map[string][]byte{"k": []byte("v2"), "a": []byte("1"), "b": []byte("2")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, property := range []string{"k", "a", "b", "b"} {
		gone := store.PushRef{Key: "pushed", Property: property}
		if err := client.Delete(t.Context(), gone); err != nil {
			t.Error(err)
		}
		if has, err := client.Exists(t.Context(), gone); has || err != nil {
			t.Errorf("%s after its deletion: %v, %v", property, has, err)
		}
	}
	if has, err := client.Exists(t.Context(), store.PushRef{Key: "pushed"}); has || err != nil {
		t.Errorf("the Secret without keys: %v, %v", has, err)
	}
	for name, bad := range map[string]store.PushRef{"NoProperty": {Key: "x"}, "Metadata": {Key: "x", Property: "k", Metadata: json.RawMessage(`{"spec":{"remoteNamespace":"kube-system"}}`)}, "Whole": {Key: "x", Whole: true}} {
		if err := client.Push(t.Context(), bad, []byte("s3cret")); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func testWatch(t *testing.T, client *kubernetes.Client, api typed.Interface) {
	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- client.Watch(ctx, func() { changes <- struct{}{} }) }()
	await := func(what string) {
		t.Helper()
		select {
		case <-changes:
		case err := <-ended:
			t.Fatalf("%s: the watch ended: %v", what, err)
		case <-t.Context().Done():
			t.Fatalf("%s was not reported", what)
		}
	}
	await("the beginning")
	made, err := api.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	await("a Secret that is created")
	made.Data = map[string][]byte{"k": []byte("v")}
	if _, err := api.CoreV1().Secrets("default").Update(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await("a Secret that is changed")
	if err := api.CoreV1().Secrets("default").Delete(t.Context(), "watched", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("a Secret that is deleted")
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the end of the context: %v", err)
	}
}

func TestFaults(t *testing.T) {
	server := storetest.NewPlain(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	client, err := kubernetes.New(&rest.Config{Host: server.URL}, "default")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Faults(t, server, client, store.Ref{Key: "db"})
	if _, err := kubernetes.New(&rest.Config{Host: server.URL}, ""); err == nil {
		t.Error("a store without a namespace is taken")
	}
}

func TestTooLarge(t *testing.T) {
	server := storetest.NewPlain(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, store.MaxBody+1))
	})
	client, err := kubernetes.New(&rest.Config{Host: server.URL}, "default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), store.Ref{Key: "db"}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("an answer that is too large: %v", err)
	}
}
