package redaction_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/redaction"
)

func TestText(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"Plain":       {"nothing to see", "nothing to see"},
		"URL":         {`cloning "https://git.example/a/b.git": refused`, `cloning "https://git.example/a/b.git": refused`},
		"Login":       {`cloning "https://ann:hush@git.example/a": refused`, `cloning "https://git.example/a": refused`},
		"Token":       {"https://hush@git.example", "https://git.example"},
		"At":          {"https://ann:hu@sh@git.example/a", "https://git.example/a"},
		"Slash":       {"parse https://ann:hu/sh@git.example/a: invalid port", "parse https://git.example/a: invalid port"},
		"Port":        {"https://git.example:8443/a@v1", "https://git.example:8443/a@v1"},
		"IPv6":        {"http://[::1]:80/x@y", "http://[::1]:80/x@y"},
		"Digest":      {"oci://ghcr.io/a/b@sha256:abc", "oci://ghcr.io/a/b@sha256:abc"},
		"Query":       {"https://git.example/a?access_token=hush&ref=v1: no", "https://git.example/a?access_token=…&ref=v1: no"},
		"Signature":   {"GET https://s3.example/b/k?X-Amz-Signature=hush&X-Amz-Date=1#f", "GET https://s3.example/b/k?X-Amz-Signature=…&X-Amz-Date=…#f"},
		"BareQuery":   {"https://git.example/a?hush", "https://git.example/a?…"},
		"SSH":         {"ssh://git@git.example/a", "ssh://git@git.example/a"},
		"SSHPassword": {"ssh://git:hush@git.example/a", "ssh://git@git.example/a"},
		"SSHShort":    {"git@git.example:a/b", "git@git.example:a/b"},
		"Several":     {"https://a:hush@b/c, then git::https://d:hush@e?sshkey=hush (https://f:hush@g)", "https://b/c, then git::https://e?sshkey=… (https://g)"},
		"Comma":       {"https://ann:hu,sh'(x@git.example/a?t=hu,sh, and so on", "https://git.example/a?t=…, and so on"},
		"List":        {"[https://a:hush@b https://c:hush@d],https://e:hush@f,https://g?t=hush,https://h", "[https://b https://d],https://f,https://g?t=…,https://h"},
		"Quoted":      {"'https://a:hush@b/c': no", "'https://b/c': no"},
		"JSON":        {`{"u":"https://a:hush@b"}`, `{"u":"https://b"}`},
		"End":         {"https://", "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			got := redaction.Text(tc.text)
			if got != tc.want || strings.Contains(got, "hush") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if again := redaction.Text(got); again != got {
				t.Errorf("a second time gives %q", again)
			}
			if err := redaction.Err(errors.New(tc.text)); err != tc.want {
				t.Errorf("of an error it is %q", err)
			}
		})
	}
	if got := redaction.Err(nil); got != "" {
		t.Errorf("of no error it is %q", got)
	}
}

// FuzzText: a login never survives, wherever it stands.
func FuzzText(f *testing.F) {
	f.Add("cloning ", "/a?x=y")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "hush") {
			t.Skip()
		}
		if got := redaction.Text(before + " https://ann:hush@git.example/" + after); strings.Contains(got, "hush") {
			t.Errorf("got %q", got)
		}
	})
}
