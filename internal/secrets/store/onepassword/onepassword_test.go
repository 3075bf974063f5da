package onepassword_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/onepassword"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

// connect starts a server with two vaults, of which the second comes first, and a client of it.
func connect(t *testing.T) (*storetest.Connect, *onepassword.Client) {
	server := storetest.NewConnect(t, "late", "early")
	return server, open(t, server, map[string]int{"late": 2, "early": 1})
}

func open(t *testing.T, server *storetest.Connect, vaults map[string]int) *onepassword.Client {
	t.Helper()
	config := onepassword.Config{Host: server.URL, Vaults: vaults, Token: store.SecretRef{Name: "token", Key: "token"}, Settle: time.Minute}
	client, err := onepassword.New(t.Context(), config, storetest.Lookup(map[string]string{"token": server.Token + "\n"}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestGet(t *testing.T) {
	server, client := connect(t)
	server.Add("early", "db", [2]string{"password", "p1"}, [2]string{"user.name", "u"}, [2]string{"twice", "a"}, [2]string{"twice", "b"})
	server.Add("late", "db", [2]string{"password", "p2"})
	id := server.Add("late", "by id", [2]string{"password", "p3"})
	server.Add("late", "a \"quoted\" \\ title", [2]string{"password", "p4"})
	server.Add("early", "same", [2]string{"password", "x"})
	server.Add("early", "same", [2]string{"password", "y"})
	server.AddFile(server.Add("early", "with file", [2]string{"password", "p5"}), "ca.pem", "PEM")
	document := server.Add("early", "doc", [2]string{"note", "n"})
	server.Set(document, "category", "DOCUMENT")
	server.AddFile(document, "one.txt", "1")
	server.AddFile(document, "two.txt", "2")
	for name, tc := range map[string]struct {
		ref  store.Ref
		want string
		is   error
		says string
	}{
		"DefaultProperty": {ref: store.Ref{Key: "db"}, want: "p1"},
		"Property":        {ref: store.Ref{Key: "db", Property: "user.name"}, want: "u"},
		"FieldPrefix":     {ref: store.Ref{Key: "db", Property: "field/user.name"}, want: "u"},
		"ByID":            {ref: store.Ref{Key: id}, want: "p3"},
		"QuotedTitle":     {ref: store.Ref{Key: "a \"quoted\" \\ title"}, want: "p4"},
		"FilePrefix":      {ref: store.Ref{Key: "with file", Property: "file/ca.pem"}, want: "PEM"},
		"Document":        {ref: store.Ref{Key: "doc", Property: "two.txt"}, want: "2"},
		"FirstFile":       {ref: store.Ref{Key: "doc"}, want: "1"},
		"FieldOfDocument": {ref: store.Ref{Key: "doc", Property: "field/note"}, want: "n"},
		"NoFile":          {ref: store.Ref{Key: "doc", Property: "three.txt"}, is: store.ErrNoProperty},
		"NoField":         {ref: store.Ref{Key: "db", Property: "none"}, is: store.ErrNoProperty},
		"NoItem":          {ref: store.Ref{Key: "nothing"}, is: store.ErrNotFound},
		"NoID":            {ref: store.Ref{Key: strings.Repeat("z", 26)}, is: store.ErrNotFound},
		"SameLabel":       {ref: store.Ref{Key: "db", Property: "twice"}, says: "2 fields"},
		"SameTitle":       {ref: store.Ref{Key: "same"}, says: "2 items"},
		"Version":         {ref: store.Ref{Key: "db", Version: "2"}, is: store.ErrUnsupported},
		"Metadata":        {ref: store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, is: store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), tc.ref)
			if string(got) != tc.want || (tc.says == "" && !errors.Is(err, tc.is)) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
			if tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%v, want it to say %q", err, tc.says)
			}
		})
	}
}

func TestMap(t *testing.T) {
	server, client := connect(t)
	server.Add("early", "db", [2]string{"password", "p"}, [2]string{"user", "u"})
	server.Add("early", "bad", [2]string{"a", "1"}, [2]string{"a", "2"})
	document := server.Add("late", "doc")
	server.Set(document, "category", "DOCUMENT")
	server.AddFile(document, "a", "1")
	server.AddFile(document, "b", "2")
	for name, tc := range map[string]struct {
		ref  store.Ref
		want map[string][]byte
	}{
		"All":      {store.Ref{Key: "db"}, map[string][]byte{"password": []byte("p"), "user": []byte("u")}},
		"One":      {store.Ref{Key: "db", Property: "user"}, map[string][]byte{"user": []byte("u")}},
		"Document": {store.Ref{Key: "doc"}, map[string][]byte{"a": []byte("1"), "b": []byte("2")}},
		"OneFile":  {store.Ref{Key: "doc", Property: "file/b"}, map[string][]byte{"b": []byte("2")}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Map(t.Context(), tc.ref)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
	if _, err := client.Map(t.Context(), store.Ref{Key: "bad"}); err == nil || !strings.Contains(err.Error(), "unique") {
		t.Errorf("labels that are not unique: %v", err)
	}
	if _, err := client.Map(t.Context(), store.Ref{Key: "none"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an item that is missing: %v", err)
	}
}

func TestFind(t *testing.T) {
	server, client := connect(t)
	server.Set(server.Add("early", "one", [2]string{"key-a", "1"}, [2]string{"other", "2"}), "tags", []string{"prod", "web"})
	server.AddFile(server.Add("late", "two", [2]string{"key-a", "hidden by the first"}, [2]string{"key-b", "3"}), "key-file", "4")
	for name, tc := range map[string]struct {
		find store.Find
		want map[string][]byte
	}{
		"Name": {store.Find{Name: "^key-"}, map[string][]byte{"key-a": []byte("1"), "key-b": []byte("3"), "key-file": []byte("4")}},
		"Path": {store.Find{Path: "one"}, map[string][]byte{"key-a": []byte("1"), "other": []byte("2")}},
		"Tags": {store.Find{Tags: map[string]string{"prod": ""}, Name: "o"}, map[string][]byte{"other": []byte("2")}},
		"None": {store.Find{Tags: map[string]string{"prod": "", "db": ""}}, map[string][]byte{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Find(t.Context(), tc.find)
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestPushAndDelete(t *testing.T) {
	server, client := connect(t)
	server.Late(2)
	ref := store.PushRef{Key: "new", Metadata: json.RawMessage(`{"spec":{"tags":["from-cluster"]}}`)}
	if has, err := client.Exists(t.Context(), ref); has || err != nil {
		t.Fatalf("before the push: %v, %v", has, err)
	}
	if err := client.Push(t.Context(), ref, []byte("v1")); err != nil {
		t.Fatal(err)
	}
	items := server.Items("early")
	if len(items) != 1 || items[0]["category"] != "SERVER" || cmp.Diff([]any{"from-cluster"}, items[0]["tags"]) != "" {
		t.Fatalf("the item was not created in the first vault: %v", items)
	}
	server.Set(items[0]["id"].(string), "favorite", true)
	for _, value := range []string{"v2", "v2"} {
		if err := client.Push(t.Context(), ref, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	user := store.PushRef{Key: "new", Property: "user"}
	if err := client.Push(t.Context(), user, []byte("u")); err != nil {
		t.Fatal(err)
	}
	got, err := client.Map(t.Context(), store.Ref{Key: "new"})
	if diff := cmp.Diff(map[string][]byte{"password": []byte("v2"), "user": []byte("u")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if it := server.Items("early")[0]; it["favorite"] != true {
		t.Errorf("the update lost what it does not know: %v", it)
	}
	before := server.Requests()
	if err := client.Push(t.Context(), user, []byte("u")); err != nil || server.Requests()-before != 2 {
		t.Errorf("a push of what is there: %v, %d requests, want two that read", err, server.Requests()-before)
	}
	for _, gone := range []store.PushRef{user, user, ref, ref} {
		if err := client.Delete(t.Context(), gone); err != nil {
			t.Error(err)
		}
		if has, err := client.Exists(t.Context(), gone); has || err != nil {
			t.Errorf("%q after its deletion: %v, %v", gone.Property, has, err)
		}
	}
	if items := server.Items("early"); len(items) != 0 {
		t.Errorf("the item without fields is there: %v", items)
	}
}

func TestPushRefuses(t *testing.T) {
	server, client := connect(t)
	server.Add("early", "two", [2]string{"a", "1"}, [2]string{"a", "2"})
	for name, ref := range map[string]store.PushRef{
		"Whole":        {Key: "x", Whole: true},
		"BadMetadata":  {Key: "x", Metadata: json.RawMessage(`{"spec":[]}`)},
		"UnknownVault": {Key: "x", Metadata: json.RawMessage(`{"spec":{"vault":"other"}}`)},
		"SameLabel":    {Key: "two", Property: "a"},
	} {
		if err := client.Push(t.Context(), ref, []byte("s3cret")); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := client.Delete(t.Context(), store.PushRef{Key: "two", Property: "a"}); err == nil {
		t.Error("one of two fields with the same label was deleted")
	}
}

func TestVaultsAndTokens(t *testing.T) {
	server, client := connect(t)
	if err := client.Check(t.Context()); err != nil {
		t.Error(err)
	}
	missing := open(t, server, map[string]int{"nowhere": 1})
	if _, err := missing.Get(t.Context(), store.Ref{Key: "x"}); err == nil || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), `"nowhere"`) {
		t.Errorf("a vault that is missing: %v", err)
	}
	byID := open(t, server, map[string]int{strings.Repeat("q", 26): 1})
	if err := byID.Check(t.Context()); !errors.Is(err, store.ErrDenied) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("an identifier of no vault: %v", err)
	}
	server.Token = "another"
	if err := client.Check(t.Context()); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a token that is not valid any more: %v", err)
	}
}

func TestFaults(t *testing.T) {
	server, client := connect(t)
	server.Add("early", "db", [2]string{"password", "p"})
	storetest.Faults(t, server, client, store.Ref{Key: "db"})
}

func TestNew(t *testing.T) {
	token := store.SecretRef{Name: "token"}
	for name, config := range map[string]onepassword.Config{
		"NoHost":    {Host: "connect", Vaults: map[string]int{"a": 1}, Token: token},
		"NoVault":   {Host: "http://h", Token: token},
		"SamePlace": {Host: "http://h", Vaults: map[string]int{"a": 1, "b": 1}, Token: token},
		"NoToken":   {Host: "http://h", Vaults: map[string]int{"a": 1}, Token: store.SecretRef{Name: "other"}},
	} {
		if _, err := onepassword.New(t.Context(), config, storetest.Lookup(map[string]string{"token": "t"}), &http.Client{}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
