package source_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/source"
)

func TestRewrites(t *testing.T) {
	r, err := source.ParseRewrites([]string{
		"oci://ghcr.io/=oci://mirror.local:5000/ghcr/",
		"oci://ghcr.io/team/=oci://team.local/",
		"https://git.example.com/team=http://127.0.0.1:8080/copy",
		"ssh://git@git.example.com/=https://mirror.local/git/",
		"https://charts.example.com/?a=https://b.local/",
	})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"oci://ghcr.io/other/app":                "oci://mirror.local:5000/ghcr/other/app",
		"oci://ghcr.io/team/app":                 "oci://team.local/app",
		"https://git.example.com/team":           "http://127.0.0.1:8080/copy",
		"https://git.example.com/team.git":       "http://127.0.0.1:8080/copy.git",
		"https://git.example.com/team/app":       "http://127.0.0.1:8080/copy/app",
		"https://git.example.com/teammates/app":  "https://git.example.com/teammates/app",
		"ssh://git@git.example.com/team/app.git": "https://mirror.local/git/team/app.git",
		"oci://ghcr.io.evil.example/team/app":    "oci://ghcr.io.evil.example/team/app",
		"https://elsewhere.example.com/x":        "https://elsewhere.example.com/x",
		"":                                       "",
	} {
		if got := r.Apply(address); got != want {
			t.Errorf("%q becomes %q, want %q", address, got, want)
		}
	}
	if got := (source.Rewrites{}).Apply("https://a/b"); got != "https://a/b" {
		t.Errorf("no rules make %q", got)
	}
}

func TestRewritesWith(t *testing.T) {
	first, err := source.ParseRewrites([]string{"https://a/=https://first/"})
	if err != nil {
		t.Fatal(err)
	}
	both, err := first.With([]string{"https://a/=https://second/", "https://b/=https://second/"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"https://a/x": "https://first/x", "https://b/x": "https://second/x"} {
		if got := both.Apply(address); got != want {
			t.Errorf("%q becomes %q, want %q", address, got, want)
		}
	}
	if got := first.Apply("https://b/x"); got != "https://b/x" {
		t.Errorf("the rules of before have changed: %q", got)
	}
	if _, err := first.With([]string{"https://c/=https://x/", "https://c/=https://y/"}); err == nil {
		t.Error("two rules for one URL are taken")
	}
}

func TestRewritesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"oci://ghcr.io/":                       `missing "="`,
		"=oci://mirror/":                       "not the start of a URL",
		"ghcr.io/=oci://mirror/":               "not the start of a URL",
		"oci://ghcr.io/=":                      "not the start of a URL",
		"oci:///x=oci://mirror/":               "names no host",
		"https://u:hunter2@a/=https://b/":      "credentials",
		"https://a/=https://u:hunter2@b/":      "credentials",
		"ssh://git:hunter2@a/=https://b/":      "password",
		"https://%zz/hunter2@x/=https://b/":    "not the start of a URL",
		"https://same/=https://b/,another one": "",
	} {
		texts := []string{text}
		if want == "" {
			texts, want = []string{"https://same/=https://b/", "https://same/=https://c/"}, "two rules for"
		}
		_, err := source.ParseRewrites(texts)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error shows a credential: %v", text, err)
		}
		if want != `missing "="` && want != "two rules for" && !errors.Is(err, source.ErrURL) {
			t.Errorf("%q: error %v is no ErrURL", text, err)
		}
	}
}

func FuzzRewrites(f *testing.F) {
	f.Add("oci://ghcr.io/=oci://mirror/", "oci://ghcr.io/app")
	f.Add("https://a=https://b", "https://a/c")
	f.Fuzz(func(t *testing.T, rule, address string) {
		r, err := source.ParseRewrites([]string{rule})
		if err != nil {
			return
		}
		got := r.Apply(address)
		from, to, _ := strings.Cut(rule, "=")
		if got != address && (!strings.HasPrefix(address, from) || !strings.HasPrefix(got, to)) {
			t.Errorf("rule %q makes %q of %q", rule, got, address)
		}
	})
}
