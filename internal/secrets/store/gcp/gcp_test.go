package gcp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/gcp"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

func open(t *testing.T, server *storetest.SecretManager, config gcp.Config) *gcp.Client {
	t.Helper()
	config.Endpoint, config.Key = server.URL, store.SecretRef{Name: "key"}
	client, err := gcp.New(t.Context(), config, storetest.Lookup(map[string]string{"key": server.Key()}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

const object = `{"password":"p","a.b":"dotted","deep":{"list":[{"n":7}]}}`

func TestGet(t *testing.T) {
	for _, location := range []string{"", "europe-west1"} {
		server := storetest.NewSecretManager(t)
		server.Put("db", "first", map[string]string{"env": "dev"})
		server.Put("db", object, nil)
		server.Put("off", "old", nil)
		server.Put("off", "new", nil)
		server.Disable("off")
		client := open(t, server, gcp.Config{Location: location})
		for name, tc := range map[string]struct {
			ref  store.Ref
			want string
			is   error
		}{
			"All":        {store.Ref{Key: "db"}, object, nil},
			"Version":    {store.Ref{Key: "db", Version: "1"}, "first", nil},
			"Property":   {store.Ref{Key: "db", Property: "password"}, "p", nil},
			"Path":       {store.Ref{Key: "db", Property: "deep.list.0.n"}, "7", nil},
			"Metadata":   {store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, `{"annotations":{"owner":"shop"},"labels":{"env":"dev"}}`, nil},
			"Label":      {store.Ref{Key: "db", Property: "labels.env", MetadataPolicy: store.MetadataFetch}, "dev", nil},
			"NoProperty": {store.Ref{Key: "db", Property: "none"}, "", store.ErrNoProperty},
			"Missing":    {store.Ref{Key: "none"}, "", store.ErrNotFound},
			"NoVersion":  {store.Ref{Key: "db", Version: "9"}, "", store.ErrNotFound},
		} {
			t.Run(location+name, func(t *testing.T) {
				got, err := client.Get(t.Context(), tc.ref)
				if string(got) != tc.want || !errors.Is(err, tc.is) || err != nil && strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
				}
			})
		}
		for _, ref := range []store.Ref{{}, {Key: "../x"}, {Key: "db", Version: "1/x"}, {Key: "off"}} {
			if got, err := client.Get(t.Context(), ref); err == nil {
				t.Errorf("%+v is taken: %q", ref, got)
			}
		}
		if got, err := open(t, server, gcp.Config{Fetch: true}).Get(t.Context(), store.Ref{Key: "off"}); err != nil || string(got) != "old" {
			t.Errorf("the newest enabled version is %q, %v", got, err)
		}
		fields, err := client.Map(t.Context(), store.Ref{Key: "db"})
		want := map[string][]byte{"password": []byte("p"), "a.b": []byte("dotted"), "deep": []byte(`{"list":[{"n":7}]}`)}
		if diff := cmp.Diff(want, fields); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		if server.Logins != 2 {
			t.Errorf("%d logins of two clients", server.Logins)
		}
	}
}

func TestFind(t *testing.T) {
	server := storetest.NewSecretManager(t)
	server.Put("app-one", "1", map[string]string{"env": "dev"})
	server.Put("app-two", "2", map[string]string{"env": "prod"})
	server.Put("other", "3", map[string]string{"env": "dev"})
	client := open(t, server, gcp.Config{})
	for name, tc := range map[string]struct {
		find store.Find
		want string
	}{
		"All":  {store.Find{}, "app-one=1 app-two=2 other=3"},
		"Name": {store.Find{Name: "two$"}, "app-two=2"},
		"Path": {store.Find{Path: "app-"}, "app-one=1 app-two=2"},
		"Tags": {store.Find{Tags: map[string]string{"env": "dev"}}, "app-one=1 other=3"},
		"Both": {store.Find{Tags: map[string]string{"env": "dev"}, Name: "^app"}, "app-one=1"},
	} {
		got, err := client.Find(t.Context(), tc.find)
		want := map[string][]byte{}
		for _, pair := range strings.Fields(tc.want) {
			key, value, _ := strings.Cut(pair, "=")
			want[key] = []byte(value)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if _, err := client.Find(t.Context(), store.Find{Name: "("}); err == nil {
		t.Error("an invalid expression is taken")
	}
	for i := range store.MaxFound {
		server.Put(fmt.Sprintf("many-%d", i), "v", nil)
	}
	if _, err := client.Find(t.Context(), store.Find{Name: "none"}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("a list without end: %v", err)
	}
}

func TestPushAndDelete(t *testing.T) {
	for _, location := range []string{"", "europe-west1"} {
		server := storetest.NewSecretManager(t)
		server.Put("theirs", "v", nil)
		client := open(t, server, gcp.Config{Location: location})
		push := func(key, property, value string) error {
			return client.Push(t.Context(), store.PushRef{Key: key, Property: property}, []byte(value))
		}
		for range 2 {
			if err := push("ours", "", "v1"); err != nil {
				t.Fatal(err)
			}
		}
		if err := push("fields", "a", "1"); err != nil {
			t.Fatal(err)
		}
		if err := push("fields", "b", "2"); err != nil {
			t.Fatal(err)
		}
		if n := server.Versions("ours"); n != 1 {
			t.Errorf("%d versions of a value that was pushed twice", n)
		}
		if got, err := client.Get(t.Context(), store.Ref{Key: "fields"}); err != nil || string(got) != `{"a":"1","b":"2"}` {
			t.Errorf("%s, %v", got, err)
		}
		if err := push("theirs", "", "mine"); !errors.Is(err, store.ErrNotOurs) {
			t.Errorf("a secret of another manager: %v", err)
		}
		if err := client.Push(t.Context(), store.PushRef{Key: "ours", Metadata: []byte(`{"spec":{}}`)}, []byte("v")); !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("metadata: %v", err)
		}
		for _, ref := range []store.PushRef{{Key: "ours"}, {Key: "ours"}, {Key: "theirs"}, {Key: "fields", Property: "a"}, {Key: "none"}} {
			if err := client.Delete(t.Context(), ref); err != nil {
				t.Errorf("%+v: %v", ref, err)
			}
		}
		for key, want := range map[string]bool{"ours": false, "theirs": true, "fields": true} {
			if has, err := client.Exists(t.Context(), store.PushRef{Key: key}); err != nil || has != want {
				t.Errorf("%s: there is one %v, %v", key, has, err)
			}
		}
		if has, err := client.Exists(t.Context(), store.PushRef{Key: "fields", Property: "a"}); err != nil || has {
			t.Errorf("a property that was deleted is there: %v, %v", has, err)
		}
		if err := client.Delete(t.Context(), store.PushRef{Key: "fields", Property: "b"}); err != nil || server.Versions("fields") != 0 {
			t.Errorf("the secret is left without its last property: %v", err)
		}
	}
}

func TestLogin(t *testing.T) {
	server, other := storetest.NewSecretManager(t), storetest.NewSecretManager(t)
	foreign := strings.ReplaceAll(other.Key(), other.URL, server.URL)
	client, err := gcp.New(t.Context(), gcp.Config{Endpoint: server.URL, Key: store.SecretRef{Name: "key"}}, storetest.Lookup(map[string]string{"key": foreign}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Check(t.Context()); !errors.Is(err, store.ErrDenied) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a key of another account: %v", err)
	}
	good := open(t, server, gcp.Config{})
	if err := good.Check(t.Context()); err != nil {
		t.Error(err)
	}
	server.Denied["list"] = true
	if err := good.Check(t.Context()); err != nil {
		t.Errorf("an account that may not list: %v", err)
	}
	if _, err := good.Find(t.Context(), store.Find{}); !errors.Is(err, store.ErrDenied) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("finding without permission: %v", err)
	}
}

func TestFaults(t *testing.T) {
	server := storetest.NewSecretManager(t)
	server.Put("db", "v", nil)
	client := open(t, server, gcp.Config{})
	if _, err := client.Get(t.Context(), store.Ref{Key: "db"}); err != nil {
		t.Fatal(err)
	}
	storetest.Faults(t, server, client, store.Ref{Key: "db"})
}

func TestNew(t *testing.T) {
	key := storetest.NewSecretManager(t).Key()
	for name, tc := range map[string]struct {
		config gcp.Config
		key    string
	}{
		"Endpoint": {gcp.Config{Endpoint: "file:///etc"}, key},
		"Location": {gcp.Config{Location: "x.attacker.example/"}, key},
		"Project":  {gcp.Config{Project: "a/b"}, key},
		"Key":      {gcp.Config{}, "{}"},
		"NoKey":    {gcp.Config{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tc.config.Key = store.SecretRef{Name: "key"}
			if _, err := gcp.New(t.Context(), tc.config, storetest.Lookup(map[string]string{"key": tc.key}), &http.Client{}); err == nil || strings.Contains(err.Error(), "PRIVATE") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
