package decrypt_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

func mark(key string) string { return "simulated-" + key }

func TestStandIn(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\ndata:\n  a: aHVudGVyMg==\nstringData:\n  b: hunter2\n  list:\n    - hunter2\n  count: 7\n  on: true\n"
	own, other := identity(t), identity(t)
	data := encrypt(t, secret, "^(data|stringData)$", decrypt.YAML, own)
	for name, given := range map[string]*decrypt.Keys{
		"no keys": nil, "keys of others": keys(t, other),
	} {
		t.Run(name, func(t *testing.T) {
			plain, err := given.WithStandIn(mark, "made-up").Data(data, decrypt.YAML, decrypt.YAML)
			if err != nil {
				t.Fatal(err)
			}
			text := string(plain)
			for _, want := range []string{
				"name: s\n", "made-up: values\n", "a: " + base64.StdEncoding.EncodeToString([]byte("simulated-a")) + "\n", "b: simulated-b\n",
				"- simulated-list\n", "count: 0\n", "\"on\": false\n",
			} {
				if !strings.Contains(strings.ReplaceAll(text, " on:", " \"on\":"), want) {
					t.Errorf("there is no %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, "sops") || strings.Contains(text, "ENC[") {
				t.Errorf("something encrypted is left:\n%s", text)
			}
		})
	}
	// What can be decrypted is.
	plain, err := keys(t, own).WithStandIn(mark, "made-up").Data(data, decrypt.YAML, decrypt.YAML)
	if err != nil || !strings.Contains(string(plain), "b: hunter2\n") {
		t.Errorf("got %s, %v", plain, err)
	}
	if strings.Contains(string(plain), "made-up") {
		t.Errorf("what is real has the label:\n%s", plain)
	}
}

func TestStandInOfAnObject(t *testing.T) {
	data := encrypt(t, `{"kind":"Secret","metadata":{"name":"s"},"data":{"a":"aHVudGVyMg=="}}`, "^data$", decrypt.JSON, identity(t))
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	got, err := (&decrypt.Keys{}).WithStandIn(mark, "made-up").Object(object)
	if err != nil {
		t.Fatal(err)
	}
	if value := got["data"].(map[string]any)["a"]; value != base64.StdEncoding.EncodeToString([]byte("simulated-a")) {
		t.Errorf("got %v", value)
	}
	if labels := got["metadata"].(map[string]any)["labels"]; fmt.Sprint(labels) != "map[made-up:values]" {
		t.Errorf("the labels are %v", labels)
	}
}
