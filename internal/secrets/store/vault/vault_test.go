package vault_test

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
	"github.com/headgate-dev/headgate/internal/secrets/store/vault"
)

var values = storetest.Lookup(map[string]string{"token": "root", "wrong": "none", "secret": "sesame\n", "role": "role"})

func serve(t *testing.T) *storetest.Vault {
	return storetest.NewVault(t, map[string]int{"kv": 2, "team/kv": 2, "old": 1})
}

func open(t *testing.T, config vault.Config) *vault.Client {
	t.Helper()
	if config.Auth == (vault.Auth{}) {
		config.Auth.Token = &store.SecretRef{Name: "token"}
	}
	client, err := vault.New(t.Context(), config, values, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestGet(t *testing.T) {
	server := serve(t)
	server.Put("kv/app/db", map[string]any{"password": "first"}, nil)
	server.Put("kv/app/db", map[string]any{"password": "p", "a.b": "dotted", "n": 5, "deep": map[string]any{"x": []int{1, 2}}}, map[string]string{"owner": "me"})
	server.Put("team/kv/x", map[string]any{"k": "team"}, nil)
	server.Put("kv/gone", nil, nil)
	server.Put("old/app", map[string]any{"k": "one"}, nil)
	server.Denied = []string{"kv/data/denied"}
	stores := map[string]*vault.Client{
		"kv": open(t, vault.Config{Server: server.URL, Path: "kv"}), "team": open(t, vault.Config{Server: server.URL, Path: "team/kv"}),
		"any": open(t, vault.Config{Server: server.URL + "/"}), "old": open(t, vault.Config{Server: server.URL, Path: "old", Version: "v1"}),
		"oldany": open(t, vault.Config{Server: server.URL, Version: "v1"}),
	}
	all := `{"a.b":"dotted","deep":{"x":[1,2]},"n":5,"password":"p"}`
	for name, tc := range map[string]struct {
		from string
		ref  store.Ref
		want string
		is   error
	}{
		"All":           {"kv", store.Ref{Key: "app/db"}, all, nil},
		"Property":      {"kv", store.Ref{Key: "app/db", Property: "password"}, "p", nil},
		"Dotted":        {"kv", store.Ref{Key: "app/db", Property: "a.b"}, "dotted", nil},
		"Number":        {"kv", store.Ref{Key: "app/db", Property: "n"}, "5", nil},
		"Nested":        {"kv", store.Ref{Key: "app/db", Property: "deep.x.1"}, "2", nil},
		"Version":       {"kv", store.Ref{Key: "app/db", Property: "password", Version: "1"}, "first", nil},
		"WithMount":     {"kv", store.Ref{Key: "kv/app/db", Property: "n"}, "5", nil},
		"WithData":      {"kv", store.Ref{Key: "kv/data/app/db", Property: "n"}, "5", nil},
		"DeepMount":     {"team", store.Ref{Key: "x", Property: "k"}, "team", nil},
		"NoPath":        {"any", store.Ref{Key: "kv/app/db", Property: "n"}, "5", nil},
		"NoPathData":    {"any", store.Ref{Key: "kv/data/app/db", Property: "n"}, "5", nil},
		"V1":            {"old", store.Ref{Key: "app", Property: "k"}, "one", nil},
		"V1NoPath":      {"oldany", store.Ref{Key: "old/app", Property: "k"}, "one", nil},
		"Metadata":      {"kv", store.Ref{Key: "app/db", Property: "owner", MetadataPolicy: store.MetadataFetch}, "me", nil},
		"AllMetadata":   {"kv", store.Ref{Key: "app/db", MetadataPolicy: store.MetadataFetch}, `{"owner":"me"}`, nil},
		"Missing":       {"kv", store.Ref{Key: "app/none"}, "", store.ErrNotFound},
		"MissingOld":    {"old", store.Ref{Key: "none"}, "", store.ErrNotFound},
		"Deleted":       {"kv", store.Ref{Key: "gone"}, "", store.ErrNotFound},
		"NoVersion":     {"kv", store.Ref{Key: "app/db", Version: "9"}, "", store.ErrNotFound},
		"NoProperty":    {"kv", store.Ref{Key: "app/db", Property: "none"}, "", store.ErrNoProperty},
		"Denied":        {"kv", store.Ref{Key: "denied/x"}, "", store.ErrDenied},
		"V1Version":     {"old", store.Ref{Key: "app", Version: "1"}, "", store.ErrUnsupported},
		"V1Metadata":    {"old", store.Ref{Key: "app", MetadataPolicy: store.MetadataFetch}, "", store.ErrUnsupported},
		"UnknownEngine": {"any", store.Ref{Key: "nothing/x"}, "", store.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stores[tc.from].Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
	before := server.Requests()
	for _, key := range []string{"", "/", "../x", "app/../../sys", "app//db", "./x"} {
		if _, err := stores["kv"].Get(t.Context(), store.Ref{Key: key}); err == nil {
			t.Errorf("the key %q is taken", key)
		}
	}
	if server.Requests() != before {
		t.Error("keys that leave their mount reached the server")
	}
}

func TestMap(t *testing.T) {
	server := serve(t)
	server.Put("kv/app", map[string]any{"s": "text", "n": 1.5, "b": true, "o": map[string]any{"x": "y"}, "z": nil}, nil)
	client := open(t, vault.Config{Server: server.URL, Path: "kv"})
	got, err := client.Map(t.Context(), store.Ref{Key: "app"})
	want := map[string][]byte{"s": []byte("text"), "n": []byte("1.5"), "b": []byte("true"), "o": []byte(`{"x":"y"}`), "z": nil}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = client.Map(t.Context(), store.Ref{Key: "app", Property: "o"})
	if diff := cmp.Diff(map[string][]byte{"x": []byte("y")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := client.Map(t.Context(), store.Ref{Key: "app", Property: "s"}); err == nil || strings.Contains(err.Error(), "text") {
		t.Errorf("the keys of a text: %v", err)
	}
}

func TestFind(t *testing.T) {
	server := serve(t)
	server.Put("kv/app/db", map[string]any{"k": "1"}, map[string]string{"env": "dev"})
	server.Put("kv/app/deep/er", map[string]any{"k": "2"}, map[string]string{"env": "prod"})
	server.Put("kv/app/gone", nil, nil)
	server.Put("kv/other", map[string]any{"k": "3"}, nil)
	client := open(t, vault.Config{Server: server.URL, Path: "kv"})
	for name, tc := range map[string]struct {
		find store.Find
		want []string
	}{
		"All":     {store.Find{}, []string{"app/db", "app/deep/er", "other"}},
		"Path":    {store.Find{Path: "app"}, []string{"app/db", "app/deep/er"}},
		"Name":    {store.Find{Name: "er$"}, []string{"app/deep/er", "other"}},
		"Tags":    {store.Find{Tags: map[string]string{"env": "dev"}}, []string{"app/db"}},
		"Nothing": {store.Find{Path: "none"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Find(t.Context(), tc.find)
			want := map[string][]byte{}
			for _, name := range tc.want {
				data, _ := server.Read("kv/" + name)
				want[name] = []byte(`{"k":"` + data["k"].(string) + `"}`)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
	old := open(t, vault.Config{Server: server.URL, Path: "old", Version: "v1"})
	if _, err := old.Find(t.Context(), store.Find{}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("a search in version 1: %v", err)
	}
	if _, err := client.Find(t.Context(), store.Find{Path: "../x"}); err == nil {
		t.Error("a path that leaves the mount is taken")
	}
}

func TestPushAndDelete(t *testing.T) {
	server := serve(t)
	for mount, version := range map[string]string{"kv": "v2", "old": "v1"} {
		t.Run(version, func(t *testing.T) {
			client := open(t, vault.Config{Server: server.URL, Path: mount, Version: version})
			user, password := store.PushRef{Key: "app", Property: "user"}, store.PushRef{Key: "app", Property: "password"}
			for _, push := range []struct {
				ref   store.PushRef
				value string
			}{{user, "u"}, {password, "p"}, {password, "q"}} {
				if err := client.Push(t.Context(), push.ref, []byte(push.value)); err != nil {
					t.Fatal(err)
				}
			}
			data, custom := server.Read(mount + "/app")
			if version == "v1" {
				custom = map[string]string{"managed-by": data["custom_metadata"].(map[string]any)["managed-by"].(string)}
			}
			if data["user"] != "u" || data["password"] != "q" || custom["managed-by"] != "external-secrets" {
				t.Errorf("after pushes: %v %v", data, custom)
			}
			if has, err := client.Exists(t.Context(), user); !has || err != nil {
				t.Errorf("what was pushed exists: %v, %v", has, err)
			}
			before := server.Requests()
			if err := client.Push(t.Context(), user, []byte("u")); err != nil || server.Requests()-before > 2 {
				t.Errorf("a push of what is there: %v, %d requests", err, server.Requests()-before)
			}
			for _, ref := range []store.PushRef{user, user, password, password} {
				if err := client.Delete(t.Context(), ref); err != nil {
					t.Error(err)
				}
				if has, err := client.Exists(t.Context(), ref); has || err != nil {
					t.Errorf("%s after its deletion: %v, %v", ref.Property, has, err)
				}
			}
			if data, _ := server.Read(mount + "/app"); data != nil {
				t.Errorf("the secret without keys is there: %v", data)
			}
			if err := client.Push(t.Context(), store.PushRef{Key: "whole", Whole: true}, []byte(`{"a":"1"}`)); err != nil {
				t.Error(err)
			}
			if got, err := client.Get(t.Context(), store.Ref{Key: "whole", Property: "a"}); err != nil || string(got) != "1" {
				t.Errorf("%q, %v", got, err)
			}
			if err := client.Push(t.Context(), store.PushRef{Key: "whole"}, []byte("s3cret")); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a text without a property: %v", err)
			}
			server.Put(mount+"/theirs", map[string]any{"k": "v"}, nil)
			if err := client.Push(t.Context(), store.PushRef{Key: "theirs", Property: "k"}, []byte("x")); !errors.Is(err, store.ErrNotOurs) {
				t.Errorf("a push to a secret of another manager: %v", err)
			}
			if err := client.Delete(t.Context(), store.PushRef{Key: "theirs"}); err != nil {
				t.Error(err)
			}
			if data, _ := server.Read(mount + "/theirs"); data == nil {
				t.Error("the secret of another manager was deleted")
			}
		})
	}
}

func TestLogins(t *testing.T) {
	server := serve(t)
	server.Put("kv/app", map[string]any{"k": "v"}, nil)
	ref := store.Ref{Key: "app", Property: "k"}
	jwt := func(context.Context) (string, error) { return "account-token", nil }
	for name, tc := range map[string]struct {
		auth vault.Auth
		is   error
	}{
		"AppRole":           {auth: vault.Auth{AppRole: &vault.AppRole{RoleID: "role", Secret: store.SecretRef{Name: "secret"}}}},
		"AppRoleRef":        {auth: vault.Auth{AppRole: &vault.AppRole{RoleRef: &store.SecretRef{Name: "role"}, Secret: store.SecretRef{Name: "secret"}}}},
		"Kubernetes":        {auth: vault.Auth{Kubernetes: &vault.Kubernetes{Path: "clusters/dev", Role: "reader", JWT: jwt}}},
		"WrongSecret":       {auth: vault.Auth{AppRole: &vault.AppRole{RoleID: "role", Secret: store.SecretRef{Name: "wrong"}}}, is: store.ErrDenied},
		"UnknownMethod":     {auth: vault.Auth{Kubernetes: &vault.Kubernetes{Role: "reader", JWT: jwt}}, is: store.ErrDenied},
		"WrongToken":        {auth: vault.Auth{Token: &store.SecretRef{Name: "wrong"}}, is: store.ErrDenied},
		"TokenOfOtherSpace": {auth: vault.Auth{Namespace: "elsewhere", AppRole: &vault.AppRole{RoleID: "role", Secret: store.SecretRef{Name: "secret"}}}, is: store.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			space := "team"
			if tc.auth.Token != nil {
				space = ""
			}
			client := open(t, vault.Config{Server: server.URL, Path: "kv", Namespace: space, Auth: tc.auth})
			before, revoked := server.Logins, server.Revoked
			for range 3 {
				if _, err := client.Get(t.Context(), ref); !errors.Is(err, tc.is) || (err != nil && strings.Contains(err.Error(), "sesame")) {
					t.Fatalf("%v, want %v", err, tc.is)
				}
			}
			if tc.is != nil {
				return
			}
			if n := server.Logins - before; n != 1 {
				t.Errorf("%d logins for three reads, want one", n)
			}
			if err := client.Check(t.Context()); err != nil {
				t.Error(err)
			}
			if err := client.Close(); err != nil || server.Revoked != revoked+1 {
				t.Errorf("the token was not revoked: %v", err)
			}
		})
	}
	client := open(t, vault.Config{Server: server.URL, Path: "kv"})
	server.Tokens = map[string]string{}
	if err := client.Check(t.Context()); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a token that is not valid: %v", err)
	}
	server.Tokens = map[string]string{"root": ""}
	if err := client.Check(t.Context()); err != nil {
		t.Errorf("the token is valid again: %v", err)
	}
}

func TestAuthority(t *testing.T) {
	server := serve(t)
	tls := server.TLS(t)
	if err := open(t, vault.Config{Server: tls.URL, Path: "kv"}).Check(t.Context()); err == nil {
		t.Error("an unknown authority is trusted")
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})
	if err := open(t, vault.Config{Server: tls.URL, Path: "kv", TLS: rest.TLS{CA: ca}}).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	server := serve(t)
	storetest.Faults(t, server, open(t, vault.Config{Server: server.URL, Path: "kv"}), store.Ref{Key: "app"})
}

func TestNew(t *testing.T) {
	token := vault.Auth{Token: &store.SecretRef{Name: "token"}}
	for name, config := range map[string]vault.Config{
		"NoURL":   {Server: "vault:8200", Auth: token},
		"Version": {Server: "http://v", Version: "v3", Auth: token},
		"NoAuth":  {Server: "http://v"},
		"TwoAuth": {Server: "http://v", Auth: vault.Auth{Token: token.Token, AppRole: &vault.AppRole{}}},
		"BadCA":   {Server: "http://v", Auth: token, TLS: rest.TLS{CA: []byte("none")}},
	} {
		if _, err := vault.New(t.Context(), config, values, &http.Client{}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
