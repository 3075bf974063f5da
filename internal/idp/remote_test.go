package idp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseRemote(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         Remote
		shown        string
	}{
		"HTTPS": {
			reason: "a directory at a tag", text: "https://git.example.org/team/platform//packages/basic/?timeout=90&ref=v1.2.0",
			want:  Remote{URL: "https://git.example.org/team/platform", Path: "packages/basic", Ref: "v1.2.0", Submodules: true, Timeout: 90 * time.Second},
			shown: "https://git.example.org/team/platform//packages/basic?ref=v1.2.0&timeout=1m30s",
		},
		"Version": {
			reason: "version is a synonym of ref, and a timeout may be a duration", text: "https://git.example.org:8443/p.git//a?version=main&submodules=false&timeout=2s",
			want:  Remote{URL: "https://git.example.org:8443/p.git", Path: "a", Ref: "main", Timeout: 2 * time.Second},
			shown: "https://git.example.org:8443/p.git//a?ref=main&submodules=false&timeout=2s",
		},
		"Both": {
			reason: "ref comes before version", text: "https://git.example.org/p//a?version=old&ref=new",
			want:  Remote{URL: "https://git.example.org/p", Path: "a", Ref: "new", Submodules: true, Timeout: defaultTimeout},
			shown: "https://git.example.org/p//a?ref=new",
		},
		"SCP": {
			reason: "the short form of ssh", text: "git@git.example.org:team/platform//packages?ref=main",
			want:  Remote{URL: "git@git.example.org:team/platform", Path: "packages", Ref: "main", Submodules: true, Timeout: defaultTimeout},
			shown: "git@git.example.org:team/platform//packages?ref=main",
		},
		"SSH": {
			reason: "the account of ssh is part of the address", text: "ssh://git@git.example.org/team/platform//packages",
			want:  Remote{URL: "ssh://git@git.example.org/team/platform", Path: "packages", Submodules: true, Timeout: defaultTimeout},
			shown: "ssh://git@git.example.org/team/platform//packages",
		},
		"Root": {
			reason: "the root of a repository", text: "https://git.example.org/p//",
			want:  Remote{URL: "https://git.example.org/p", Path: ".", Submodules: true, Timeout: defaultTimeout},
			shown: "https://git.example.org/p//",
		},
		"Credentials": {
			reason: "credentials are not shown", text: "https://me:hunter2@git.example.org/p//a",
			want:  Remote{URL: "https://git.example.org/p", Username: "me", Password: "hunter2", Path: "a", Submodules: true, Timeout: defaultTimeout},
			shown: "https://git.example.org/p//a",
		},
		"GitHub": {
			reason: "GitHub's host alone is enough, as for kustomize", text: "github.com/cnoe-io/stacks//basic",
			want:  Remote{URL: "https://github.com/cnoe-io/stacks", Path: "basic", Submodules: true, Timeout: defaultTimeout},
			shown: "https://github.com/cnoe-io/stacks//basic",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseRemote(tc.text)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got.String() != tc.shown {
				t.Errorf("%s: it is shown as %q, not %q", tc.reason, got.String(), tc.shown)
			}
		})
	}
}

func TestParseRemoteRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		remote bool // it is one, with a mistake
		says   string
	}{
		"Undivided":    {text: "https://git.example.org/team/platform", says: "REPOSITORY//DIRECTORY"},
		"Local":        {text: "./packages//basic", says: "REPOSITORY//DIRECTORY"},
		"Absolute":     {text: "/srv//packages", says: "REPOSITORY//DIRECTORY"},
		"File":         {text: "file:///srv/platform//packages", says: "without file://"},
		"Scheme":       {text: "ext://sh -c id//x", says: "https, http or ssh"},
		"Host":         {text: "https://   /(@team/platform//packages", says: "not a valid URL"},
		"No host":      {text: "https:///platform//packages", says: "REPOSITORY//DIRECTORY"},
		"Option":       {text: "git@-oProxyCommand=id:x//y", says: "REPOSITORY//DIRECTORY"},
		"Leaves":       {text: "https://git.example.org/p//a/../../b", remote: true, says: "leaves the repository"},
		"Ref":          {text: "https://git.example.org/p//a?ref=--upload-pack=id", remote: true, says: "is not the name of a revision"},
		"Timeout":      {text: "https://git.example.org/p//a?timeout=soon", remote: true, says: `timeout="soon" is not between`},
		"Long timeout": {text: "https://git.example.org/p//a?timeout=999999", remote: true, says: "is not between"},
		"Submodules":   {text: "https://git.example.org/p//a?submodules=2", remote: true, says: "neither true nor false"},
		"Query":        {text: "https://me:hunter2@git.example.org/p//a?ref=%zz", remote: true, says: "the query is not valid"},
		"Password":     {text: "https://me:hunter2@git.exa mple.org/p//a", says: "not a valid URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseRemote(tc.text)
			if err == nil || errors.Is(err, ErrNotRemote) == tc.remote || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: %v", tc.text, err)
			}
		})
	}
}

func FuzzParseRemote(f *testing.F) {
	for _, text := range []string{
		"https://git.example.org/team/platform//packages/basic/?timeout=90&ref=v1", "git@git.example.org:team/platform//packages?version=main",
		"ssh://git@git.example.org:22/p//a?submodules=false", "https://u:p@h/p//..%2f", "github.com/a/b//c?ref=%2d",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := ParseRemote(text)
		if err != nil {
			return
		}
		if one.URL == "" || one.Path == ".." || strings.HasPrefix(one.Path, "../") || strings.HasPrefix(one.Path, "/") || strings.HasPrefix(one.Ref, "-") || strings.HasPrefix(one.URL, "-") {
			t.Errorf("%q is read as %+v", text, one)
		}
		again, err := ParseRemote(one.String())
		if err != nil {
			t.Fatalf("%q is shown as %q: %v", text, one.String(), err)
		}
		one.Username, one.Password = "", ""
		if diff := cmp.Diff(one, again); diff != "" {
			t.Errorf("%q is shown as %q (-want +got):\n%s", text, one.String(), diff)
		}
	})
}
