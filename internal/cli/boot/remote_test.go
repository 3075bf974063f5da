package boot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/headgate-dev/headgate/internal/flux/roots"
)

func TestAddressOf(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("me@host:dir", 0o750); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{
		"git@example.com:team/fleet.git": "ssh://git@example.com/team/fleet.git",
		"https://example.com/fleet.git":  "https://example.com/fleet.git",
		"me@host:dir":                    "me@host:dir",
		"clusters/prod":                  "clusters/prod",
		"git@example.com:/absolute":      "git@example.com:/absolute",
	} {
		if got := addressOf(named); got != want {
			t.Errorf("%s: %q, want %q", named, got, want)
		}
	}
}

// TestRemoteRoot keeps what may not stand in a URL for a Secret.
func TestRemoteRoot(t *testing.T) {
	identity, hosts := filepath.Join(t.TempDir(), "id"), filepath.Join(t.TempDir(), "hosts")
	for file, text := range map[string]string{identity: "key", hosts: "host"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		path  string
		files sshFiles
		want  roots.Root
	}{
		"password": {path: "https://me:secret@example.com/x", want: roots.Root{
			URL: "https://example.com/x", Credentials: map[string][]byte{"username": []byte("me"), "password": []byte("secret")},
		}},
		"open": {path: "https://example.com/x", want: roots.Root{URL: "https://example.com/x"}},
		"ssh": {path: "ssh://git@example.com/x", files: sshFiles{identity, hosts}, want: roots.Root{
			URL: "ssh://git@example.com/x", Credentials: map[string][]byte{"identity": []byte("key"), "known_hosts": []byte("host")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := upOptions{path: tc.path, branch: "main", root: "clusters/prod", ssh: tc.files}
			if err := o.checkRemote(); err != nil {
				t.Fatal(err)
			}
			tc.want.Branch, tc.want.Path, tc.want.For = "main", "clusters/prod", tc.want.URL
			got, err := o.remoteRoot()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(roots.Root{}, "Served")); diff != "" {
				t.Errorf("the root (-want +got):\n%s", diff)
			}
		})
	}
	if err := (upOptions{path: "ssh://git@example.com/x"}).checkRemote(); err == nil {
		t.Error("ssh without a key is taken")
	}
}
