package aws_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/aws"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

func TestPushAndDelete(t *testing.T) {
	for _, service := range []string{aws.SecretsManager, aws.ParameterStore} {
		t.Run(service, func(t *testing.T) {
			server := storetest.NewAWS(t)
			server.PutText("/theirs", "t", nil)
			client := open(t, server, aws.Config{Service: service, Prefix: "/"})
			whole, part := store.PushRef{Key: "whole"}, store.PushRef{Key: "object", Property: "p"}
			for _, ref := range []store.PushRef{whole, part, {Key: "object", Property: "q"}} {
				if err := client.Push(t.Context(), ref, []byte("v")); err != nil {
					t.Fatal(err)
				}
				if has, err := client.Exists(t.Context(), ref); !has || err != nil {
					t.Errorf("%v after its push: %v, %v", ref, has, err)
				}
			}
			if got, err := client.Get(t.Context(), store.Ref{Key: "object"}); err != nil || string(got) != `{"p":"v","q":"v"}` {
				t.Errorf("after two properties: %s, %v", got, err)
			}
			before := server.Requests()
			if err := client.Push(t.Context(), whole, []byte("v")); err != nil || server.Requests() != before+2 {
				t.Errorf("a push of what is there: %v, %d requests, want two that read", err, server.Requests()-before)
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
		})
	}
}

func TestPushMetadata(t *testing.T) {
	for name, tc := range map[string]struct{ service, spec, kind, value string }{
		"Binary":     {aws.SecretsManager, `{}`, "binary", `{"k":"v"}`},
		"Text":       {aws.SecretsManager, `{"secretPushFormat":"string"}`, "string", `{"k":"v"}`},
		"String":     {aws.ParameterStore, `{}`, "String", `{"k":"dg=="}`},
		"Decoded":    {aws.ParameterStore, `{"encodeAsDecoded":true}`, "String", `{"k":"v"}`},
		"Encrypted":  {aws.ParameterStore, `{"secretType":"SecureString","tier":{"type":"Advanced"}}`, "SecureString", `{"k":"dg=="}`},
		"Format":     {aws.SecretsManager, `{"secretPushFormat":"other"}`, "", ""},
		"Type":       {aws.ParameterStore, `{"secretType":"other"}`, "", ""},
		"Tier":       {aws.ParameterStore, `{"tier":{"type":"other"}}`, "", ""},
		"Unknown":    {aws.SecretsManager, `{"other":1}`, "", ""},
		"TheManager": {aws.SecretsManager, `{"tags":{"managed-by":"me"}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := storetest.NewAWS(t)
			client := open(t, server, aws.Config{Service: tc.service})
			push := func(spec string) error {
				ref := store.PushRef{Key: "/new", Whole: true, Metadata: json.RawMessage(`{"kind":"PushSecretMetadata","spec":` + spec + `}`)}
				return client.Push(t.Context(), ref, []byte(`{"k":"v"}`))
			}
			if err := push(tc.spec); (err == nil) != (tc.kind != "") {
				t.Fatal(err)
			}
			if kind, _ := server.Kind("/new"); kind != tc.kind {
				t.Errorf("the type is %q, want %q", kind, tc.kind)
			}
			if tc.kind == "" {
				return
			}
			if got, err := client.Get(t.Context(), store.Ref{Key: "/new"}); err != nil || string(got) != tc.value {
				t.Errorf("%s, %v; want %s", got, err, tc.value)
			}
			for _, tags := range []map[string]string{{"a": "1", "b": "2"}, {"b": "3"}} {
				text, err := json.Marshal(map[string]any{"tags": tags})
				if err != nil {
					t.Fatal(err)
				}
				err = push(string(text))
				tags["managed-by"] = "external-secrets"
				_, got := server.Kind("/new")
				if diff := cmp.Diff(tags, got); err != nil || diff != "" {
					t.Errorf("%v %s", err, diff)
				}
			}
		})
	}
}

func TestDeletedAndEmptySecrets(t *testing.T) {
	server := storetest.NewAWS(t)
	server.Empty("ours", map[string]string{"managed-by": "external-secrets"})
	client := open(t, server, aws.Config{Service: aws.SecretsManager})
	ref := store.PushRef{Key: "ours"}
	if has, err := client.Exists(t.Context(), ref); has || err != nil {
		t.Errorf("a secret without a value: %v, %v", has, err)
	}
	if err := client.Push(t.Context(), ref, []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), store.Ref{Key: "ours"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a secret that is marked for deletion: %v", err)
	}
	if err := client.Push(t.Context(), ref, []byte("v")); err == nil || !strings.Contains(err.Error(), "InvalidRequestException") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a push to a secret that is marked for deletion: %v", err)
	}
}
