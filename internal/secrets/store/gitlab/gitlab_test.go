package gitlab_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/gitlab"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

func open(t *testing.T, server *storetest.GitLab, config gitlab.Config) *gitlab.Client {
	t.Helper()
	config.URL, config.Token = server.URL, store.SecretRef{Name: "token"}
	client, err := gitlab.New(t.Context(), config, storetest.Lookup(map[string]string{"token": server.Token}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func serve(t *testing.T) *storetest.GitLab {
	server := storetest.NewGitLab(t, "projects/1", "projects/a/b", "groups/2", "groups/3")
	server.Set("projects/1", "ONE", "project", "*")
	server.Set("projects/1", "SCOPED", "dev", "dev")
	server.Set("projects/1", "SCOPED", "all", "*")
	server.Set("projects/1", "JSON_VALUE", `{"a":"b"}`, "*")
	server.Set("projects/a/b", "PATH", "by path", "*")
	server.Set("groups/2", "ONE", "outer", "*")
	server.Set("groups/2", "BOTH", "outer", "*")
	server.Set("groups/3", "BOTH", "inner", "*")
	server.Groups["1"] = map[int]string{2: "outer", 3: "outer/inner"}
	return server
}

func TestGet(t *testing.T) {
	server := serve(t)
	project, groups := gitlab.Config{Project: "1"}, gitlab.Config{Project: "1", Groups: []string{"2", "3"}}
	for name, tc := range map[string]struct {
		config gitlab.Config
		ref    store.Ref
		want   string
		is     error
	}{
		"Project":      {groups, store.Ref{Key: "ONE"}, "project", nil},
		"Group":        {groups, store.Ref{Key: "BOTH"}, "inner", nil},
		"Inherited":    {gitlab.Config{Project: "1", Inherit: true}, store.Ref{Key: "BOTH"}, "inner", nil},
		"OnlyGroups":   {gitlab.Config{Groups: []string{"2"}}, store.Ref{Key: "ONE"}, "outer", nil},
		"Scoped":       {gitlab.Config{Project: "1", Environment: "dev"}, store.Ref{Key: "SCOPED"}, "dev", nil},
		"AllScopes":    {gitlab.Config{Project: "1", Environment: "prod"}, store.Ref{Key: "SCOPED"}, "all", nil},
		"ByPath":       {gitlab.Config{Project: "a/b"}, store.Ref{Key: "PATH"}, "by path", nil},
		"Hyphens":      {project, store.Ref{Key: "JSON-VALUE", Property: "a"}, "b", nil},
		"NoProperty":   {project, store.Ref{Key: "JSON_VALUE", Property: "c"}, "", store.ErrNoProperty},
		"Missing":      {groups, store.Ref{Key: "NONE"}, "", store.ErrNotFound},
		"Version":      {project, store.Ref{Key: "ONE", Version: "1"}, "", store.ErrUnsupported},
		"Metadata":     {project, store.Ref{Key: "ONE", MetadataPolicy: store.MetadataFetch}, "", store.ErrUnsupported},
		"NotUniqueKey": {project, store.Ref{Key: "ONE"}, "project", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(t, server, tc.config).Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
	if _, err := open(t, server, project).Get(t.Context(), store.Ref{Key: "SCOPED"}); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key of several scopes: %v", err)
	}
}

func TestMapAndFind(t *testing.T) {
	server := serve(t)
	got, err := open(t, server, gitlab.Config{Project: "1"}).Map(t.Context(), store.Ref{Key: "JSON_VALUE"})
	if diff := cmp.Diff(map[string][]byte{"a": []byte("b")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	all := gitlab.Config{Project: "1", Groups: []string{"2", "3"}, Environment: "dev"}
	got, err = open(t, server, all).Find(t.Context(), store.Find{Name: "^(ONE|BOTH|SCOPED)$"})
	if diff := cmp.Diff(map[string][]byte{"ONE": []byte("project"), "BOTH": []byte("inner"), "SCOPED": []byte("dev")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = open(t, server, gitlab.Config{Project: "1"}).Find(t.Context(), store.Find{Name: "SCOPED", Tags: map[string]string{"environment_scope": "prod"}})
	if diff := cmp.Diff(map[string][]byte{"SCOPED": []byte("all")}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for name, find := range map[string]store.Find{"Path": {Path: "x"}, "Tag": {Tags: map[string]string{"a": "b"}}, "Scope": {Tags: map[string]string{"environment_scope": "x"}}} {
		if _, err := open(t, server, all).Find(t.Context(), find); !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPages(t *testing.T) {
	server := storetest.NewGitLab(t, "projects/1")
	for i := range 250 {
		server.Set("projects/1", fmt.Sprintf("V%d", i), "x", "*")
	}
	client := open(t, server, gitlab.Config{Project: "1"})
	if got, err := client.Find(t.Context(), store.Find{}); err != nil || len(got) != 250 {
		t.Errorf("%d variables, %v; want 250", len(got), err)
	}
	for i := range store.MaxFound {
		server.Set("projects/1", fmt.Sprintf("W%d", i), "x", "*")
	}
	if _, err := client.Find(t.Context(), store.Find{}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("too many variables: %v", err)
	}
}

func TestCheck(t *testing.T) {
	server := serve(t)
	client := open(t, server, gitlab.Config{Project: "1", Inherit: true})
	if err := client.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := open(t, server, gitlab.Config{Project: "9"}).Check(t.Context()); !errors.Is(err, store.ErrDenied) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("a project that is missing: %v", err)
	}
	server.Token = "another"
	if err := client.Check(t.Context()); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a token that is not valid: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	client := open(t, serve(t), gitlab.Config{Project: "1"})
	_, exists := client.Exists(t.Context(), store.PushRef{})
	for name, err := range map[string]error{"Push": client.Push(t.Context(), store.PushRef{}, nil), "Delete": client.Delete(t.Context(), store.PushRef{}), "Exists": exists} {
		if !errors.Is(err, store.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaults(t *testing.T) {
	server := serve(t)
	storetest.Faults(t, server, open(t, server, gitlab.Config{Project: "1"}), store.Ref{Key: "ONE"})
}

func TestNew(t *testing.T) {
	lookup := storetest.Lookup(map[string]string{"token": "t"})
	for name, config := range map[string]gitlab.Config{
		"Nothing": {}, "URL": {URL: "ftp://x", Project: "1"}, "Inherit": {Groups: []string{"1"}, Inherit: true}, "Token": {Project: "1", Token: store.SecretRef{Name: "x"}},
	} {
		if name != "Token" {
			config.Token.Name = "token"
		}
		if _, err := gitlab.New(t.Context(), config, lookup, &http.Client{}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
