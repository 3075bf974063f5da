package fake_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/fake"
)

var entries = []fake.Entry{{Key: "a", Value: "one"}, {Key: "a", Value: "two", Version: "v2"}, {Key: "o", Value: `{"x":"1","y.z":2}`}, {Key: "v", Value: "only", Version: "v1"}}

func TestGet(t *testing.T) {
	client := fake.New(fake.Config{Name: "s", Entries: entries}, &fake.Pushed{})
	for name, tc := range map[string]struct {
		ref  store.Ref
		want string
		is   error
	}{
		"Plain":           {ref: store.Ref{Key: "a"}, want: "one"},
		"Version":         {ref: store.Ref{Key: "a", Version: "v2"}, want: "two"},
		"NoSuchVersion":   {ref: store.Ref{Key: "a", Version: "v3"}, is: store.ErrNotFound},
		"OnlyVersion":     {ref: store.Ref{Key: "v"}, is: store.ErrNotFound},
		"Property":        {ref: store.Ref{Key: "o", Property: "y.z"}, want: "2"},
		"MissingProperty": {ref: store.Ref{Key: "o", Property: "w"}, is: store.ErrNoProperty},
		"Missing":         {ref: store.Ref{Key: "b"}, is: store.ErrNotFound},
		"Metadata":        {ref: store.Ref{Key: "a", MetadataPolicy: store.MetadataFetch}, is: store.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
}

func TestMapAndFind(t *testing.T) {
	client := fake.New(fake.Config{Name: "s", Entries: entries}, &fake.Pushed{})
	got, err := client.Map(t.Context(), store.Ref{Key: "o"})
	if diff := cmp.Diff(map[string][]byte{"x": []byte("1"), "y.z": []byte("2")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := client.Map(t.Context(), store.Ref{Key: "a"}); err == nil {
		t.Error("a text has fields")
	}
	got, err = client.Find(t.Context(), store.Find{Name: "^[av]$"})
	if diff := cmp.Diff(map[string][]byte{"a": []byte("two"), "v": []byte("only")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := client.Find(t.Context(), store.Find{Tags: map[string]string{"a": "b"}}); !errors.Is(err, store.ErrUnsupported) {
		t.Errorf("tags: %v", err)
	}
	if _, err := client.Find(t.Context(), store.Find{Name: "("}); err == nil {
		t.Error("a bad pattern is taken")
	}
}

func TestPushAndDelete(t *testing.T) {
	pushed := &fake.Pushed{}
	client, other := fake.New(fake.Config{Name: "s"}, pushed), fake.New(fake.Config{Name: "t"}, pushed)
	whole, part := store.PushRef{Key: "k"}, store.PushRef{Key: "o", Property: "p"}
	for ref, value := range map[string]store.PushRef{"1": whole, "2": part, "3": {Key: "o", Property: "q"}} {
		if err := client.Push(t.Context(), value, []byte(ref)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := fake.New(fake.Config{Name: "s"}, pushed).Get(t.Context(), store.Ref{Key: "o", Property: "p"}); err != nil || string(got) != "2" {
		t.Errorf("after a push: %q, %v", got, err)
	}
	if has, err := other.Exists(t.Context(), whole); has || err != nil {
		t.Errorf("another store has it: %v, %v", has, err)
	}
	if err := client.Push(t.Context(), store.PushRef{Key: "k", Property: "p"}, []byte("x")); err == nil {
		t.Error("a property was set in a text")
	}
	for _, ref := range []store.PushRef{whole, part, part} {
		if err := client.Delete(t.Context(), ref); err != nil {
			t.Error(err)
		}
		if has, err := client.Exists(t.Context(), ref); has || err != nil {
			t.Errorf("%v after its deletion: %v, %v", ref, has, err)
		}
	}
	if has, err := client.Exists(t.Context(), store.PushRef{Key: "o", Property: "q"}); !has || err != nil {
		t.Errorf("another property is gone: %v, %v", has, err)
	}
	pushed.Forget("s")
	if has, _ := client.Exists(t.Context(), store.PushRef{Key: "o"}); has {
		t.Error("what is forgotten is there")
	}
}

func TestCheck(t *testing.T) {
	if err := fake.New(fake.Config{}, &fake.Pushed{}).Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := fake.New(fake.Config{Rejected: "on purpose"}, &fake.Pushed{}).Check(t.Context()); err == nil {
		t.Error("a store that is configured to fail does not")
	}
}
