package azure_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/azure"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

var principal = azure.Auth{Principal: &azure.Principal{ClientID: store.SecretRef{Name: "id"}, Secret: store.SecretRef{Name: "secret"}}}

func open(t *testing.T, server *storetest.KeyVault, auth azure.Auth) *azure.Client {
	t.Helper()
	config := azure.Config{VaultURL: server.URL + "/", Authority: server.URL + "/", AnyHost: true, Tenant: "tenant", Auth: auth}
	client, err := azure.New(t.Context(), config, storetest.Lookup(map[string]string{"id": "client", "secret": "azure-secret\n", "wrong": "none"}), server.Client())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestGet(t *testing.T) {
	server := storetest.NewKeyVault(t)
	server.Put("db", "first", nil)
	server.Put("db", `{"password":"p","a.b":"dotted"}`, map[string]string{"env": "dev"})
	client := open(t, server, principal)
	for name, tc := range map[string]struct {
		ref  store.Ref
		want string
		is   error
	}{
		"All":         {store.Ref{Key: "db"}, `{"password":"p","a.b":"dotted"}`, nil},
		"Kind":        {store.Ref{Key: "secret/db", Property: "password"}, "p", nil},
		"Dotted":      {store.Ref{Key: "db", Property: "a.b"}, "dotted", nil},
		"Version":     {store.Ref{Key: "db", Version: "v1"}, "first", nil},
		"Tags":        {store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, `{"env":"dev"}`, nil},
		"Tag":         {store.Ref{Key: "db", Property: "env", MetadataPolicy: store.MetadataFetch}, "dev", nil},
		"NoProperty":  {store.Ref{Key: "db", Property: "none"}, "", store.ErrNoProperty},
		"Missing":     {store.Ref{Key: "none"}, "", store.ErrNotFound},
		"NoVersion":   {store.Ref{Key: "db", Version: "v9"}, "", store.ErrNotFound},
		"Certificate": {store.Ref{Key: "cert/db"}, "", store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
	for _, key := range []string{"", "a/b", "../db", "secret/a/b", "a b"} {
		if _, err := client.Get(t.Context(), store.Ref{Key: key}); err == nil {
			t.Errorf("the key %q is taken", key)
		}
	}
	got, err := client.Map(t.Context(), store.Ref{Key: "db"})
	if diff := cmp.Diff(map[string][]byte{"password": []byte("p"), "a.b": []byte("dotted")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if server.Logins != 1 {
		t.Errorf("%d logins, want one for all requests", server.Logins)
	}
}

func TestFind(t *testing.T) {
	server := storetest.NewKeyVault(t)
	server.Put("one", "1", map[string]string{"env": "dev"})
	server.Put("two", "2", map[string]string{"env": "prod"})
	server.Put("off", "3", nil)
	server.Disable("off")
	client := open(t, server, principal)
	for name, tc := range map[string]struct {
		find store.Find
		want map[string][]byte
	}{
		"All":  {store.Find{}, map[string][]byte{"one": []byte("1"), "two": []byte("2")}},
		"Name": {store.Find{Name: "^t"}, map[string][]byte{"two": []byte("2")}},
		"Tags": {store.Find{Tags: map[string]string{"env": "dev"}}, map[string][]byte{"one": []byte("1")}},
	} {
		got, err := client.Find(t.Context(), tc.find)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	if _, err := client.Find(t.Context(), store.Find{Path: "x"}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("a path: %v", err)
	}
}

func TestPushAndDelete(t *testing.T) {
	server := storetest.NewKeyVault(t)
	server.Put("theirs", "t", nil)
	client := open(t, server, principal)
	whole, part := store.PushRef{Key: "whole"}, store.PushRef{Key: "object", Property: "p"}
	for _, ref := range []store.PushRef{whole, part, {Key: "object", Property: "q"}} {
		if err := client.Push(t.Context(), ref, []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := client.Get(t.Context(), store.Ref{Key: "object"}); err != nil || string(got) != `{"p":"v","q":"v"}` {
		t.Errorf("after two properties: %s, %v", got, err)
	}
	before := server.Requests()
	if err := client.Push(t.Context(), whole, []byte("v")); err != nil || server.Requests() != before+1 {
		t.Errorf("a push of what is there: %v, %d requests, want one that reads", err, server.Requests()-before)
	}
	for _, ref := range []store.PushRef{whole, whole, part} {
		if err := client.Delete(t.Context(), ref); err != nil {
			t.Error(err)
		}
		if has, err := client.Exists(t.Context(), ref); has || err != nil {
			t.Errorf("%v after its deletion: %v, %v", ref, has, err)
		}
	}
	if has, err := client.Exists(t.Context(), store.PushRef{Key: "object", Property: "q"}); !has || err != nil {
		t.Errorf("another property: %v, %v", has, err)
	}
	if err := client.Push(t.Context(), store.PushRef{Key: "theirs"}, []byte("x")); !errors.Is(err, store.ErrNotOurs) {
		t.Errorf("a push to a secret of another manager: %v", err)
	}
	if err := client.Delete(t.Context(), store.PushRef{Key: "theirs"}); err != nil {
		t.Error(err)
	}
	if got, err := client.Get(t.Context(), store.Ref{Key: "theirs"}); err != nil || string(got) != "t" {
		t.Errorf("the secret of another manager: %q, %v", got, err)
	}
}

func TestLogins(t *testing.T) {
	server := storetest.NewKeyVault(t)
	assert := func(token string) azure.Auth {
		return azure.Auth{Workload: &azure.Workload{ClientID: "client", Token: func(context.Context) (string, error) { return token, nil }}}
	}
	for name, tc := range map[string]struct {
		auth azure.Auth
		is   error
	}{
		"Principal":     {principal, nil},
		"Workload":      {assert("account-token"), nil},
		"WrongSecret":   {azure.Auth{Principal: &azure.Principal{ClientID: store.SecretRef{Name: "id"}, Secret: store.SecretRef{Name: "wrong"}}}, store.ErrDenied},
		"WrongWorkload": {assert("another"), store.ErrDenied},
	} {
		if err := open(t, server, tc.auth).Check(t.Context()); !errors.Is(err, tc.is) || (err != nil && strings.Contains(err.Error(), "AADSTS")) {
			t.Errorf("%s: %v, want %v", name, err, tc.is)
		}
	}
}

func TestFaults(t *testing.T) {
	server := storetest.NewKeyVault(t)
	client := open(t, server, principal)
	if err := client.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Faults(t, server, client, store.Ref{Key: "db"})
}

func TestNew(t *testing.T) {
	for name, config := range map[string]azure.Config{
		"HTTP":   {VaultURL: "http://v", Tenant: "t", Auth: principal},
		"NoAuth": {VaultURL: "https://v", Tenant: "t"},
		"Tenant": {VaultURL: "https://v", Tenant: "a/b", Auth: principal},
	} {
		if _, err := azure.New(t.Context(), config, storetest.Lookup(map[string]string{"id": "client", "secret": "s"}), &http.Client{}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
