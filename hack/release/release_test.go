// Package release tests what a release is made with: the install script against a server that has a release, and the script
// that writes the version. It holds no code, and reaches no network.
package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// program is what the releases of the tests contain.
const program = "#!/bin/sh\necho it runs\n"

// A served is a release: what is at each path below its address.
type served map[string]string

func releaseOf(t *testing.T, version, platform string) served {
	t.Helper()
	name := "headgate_" + version + "_" + platform + ".tar.gz"
	archive := pack(t, map[string]string{"LICENSE": "text\n", "headgate": program})
	sums := fmt.Sprintf("%x  %s\n%s  headgate_%s_plan9_mips.tar.gz\n", sha256.Sum256([]byte(archive)), name, strings.Repeat("0", 64), version)
	at := "/download/v" + version + "/"
	return served{at + name: archive, at + "checksums.txt": sums, "/latest/download/checksums.txt": sums}
}

func (s served) with(path, content string) served {
	s[path] = content
	return s
}

func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	for name, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.String()
}

// tools makes a directory for PATH with the programs of this machine that the script may use, and those of the test.
func tools(t *testing.T, download string, own map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"sh", "cut", "sed", "mktemp", "rm", "wc", "tar", "gzip", "mkdir", "cp", "chmod", "mv", "sha256sum", "shasum", download} {
		path, err := exec.LookPath(name)
		switch {
		case err == nil:
			if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		case name == download:
			t.Skipf("there is no %s on this machine", name)
		}
	}
	for name, script := range own {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// downloader is a program of this machine that the script fetches with.
func downloader(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"curl", "wget"} {
		if _, err := exec.LookPath(name); err == nil {
			return name
		}
	}
	t.Skip("there is neither curl nor wget on this machine")
	return ""
}

func uname(system, machine string) map[string]string {
	return map[string]string{"uname": `case $1 in -s) echo ` + system + `;; *) echo ` + machine + `;; esac`}
}

func and(a, b map[string]string) map[string]string {
	for name, script := range b {
		a[name] = script
	}
	return a
}

func TestInstall(t *testing.T) {
	const signature = "/download/v1.2.3/checksums.txt.sigstore.json"
	for name, tc := range map[string]struct {
		reason   string
		release  func(t *testing.T) served
		own      map[string]string
		version  string
		download string // empty: whichever there is
		want     string // of the output
		fails    bool
	}{
		"Latest": {
			"the latest release is found by its checksums",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "", "", `headgate v1\.2\.3 is .*/bin/headgate`, false,
		},
		"Curl": {
			"curl is enough",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "", "curl", `headgate v1\.2\.3 is`, false,
		},
		"Wget": {
			"wget is enough",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "", "wget", `headgate v1\.2\.3 is`, false,
		},
		"Named": {
			"a release by its number, of another platform, before the release of a version",
			func(t *testing.T) served { return releaseOf(t, "2.0.0-rc.1", "darwin_arm64") },
			uname("Darwin", "arm64"), "2.0.0-rc.1", "", `headgate v2\.0\.0-rc\.1 is`, false,
		},
		"Path": {
			"a directory that is not on the PATH is named",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_arm64") },
			uname("Linux", "aarch64"), "v1.2.3", "", `add it to your PATH: export PATH=".*/bin:\$PATH"`, false,
		},
		"Unsigned": {
			"without cosign it is said what was not verified",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "", "", `not verified, since cosign is not on the PATH: that checksums\.txt was signed by the release v1\.2\.3 of headgate-dev/headgate\. .*(.*\n)*headgate v1\.2\.3 is`, false,
		},
		"Signed": {
			"cosign gets the checksums and their bundle",
			func(t *testing.T) served {
				return releaseOf(t, "1.2.3", "linux_amd64").with(signature, "a bundle")
			},
			and(uname("Linux", "x86_64"), map[string]string{"cosign": `read bundle <"$3" || :; echo "cosign $1 of $bundle" >&2`}),
			"", "", `cosign verify-blob of a bundle\n(.*\n)*headgate v1\.2\.3 is`, false,
		},
		"SignedBy": {
			"the signature has to be that of the release with this version, to the letter",
			func(t *testing.T) served {
				return releaseOf(t, "1.2.3", "linux_amd64").with(signature, "a bundle")
			},
			and(uname("Linux", "x86_64"), map[string]string{"cosign": `echo "by $4 $5" >&2`}),
			"v1.2.3", "", `by --certificate-identity https://github\.com/headgate-dev/headgate/\.github/workflows/release\.yaml@refs/tags/v1\.2\.3\n`, false,
		},
		"Older": {
			"a server that has an older release, with its signature, instead of the one that was named",
			func(t *testing.T) served {
				old := releaseOf(t, "1.0.0", "linux_amd64").with("/download/v1.0.0/checksums.txt.sigstore.json", "a bundle")
				return old.with("/download/v1.2.3/checksums.txt", old["/download/v1.0.0/checksums.txt"]).with(signature, "a bundle")
			},
			and(uname("Linux", "x86_64"), map[string]string{"cosign": "exit 0"}),
			"1.2.3", "", `/download/v1\.2\.3/checksums\.txt is of the release v1\.0\.0, and HEADGATE_VERSION is v1\.2\.3; nothing was installed`, true,
		},
		"LatestOfAMirror": {
			"which release is the latest is what a mirror says",
			func(t *testing.T) served { return releaseOf(t, "1.0.0", "linux_amd64") },
			uname("Linux", "x86_64"), "latest", "", `says that v1\.0\.0 is the latest release; HEADGATE_VERSION names one that you know`, false,
		},
		"NoVersion": {
			"a version that leads elsewhere",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "v9/../v1.2.3", "", `HEADGATE_VERSION is v9/\.\./v1\.2\.3, want a release such as v1\.2\.3, or latest`, true,
		},
		"NoNumber": {
			"a version without a number",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "main", "", `HEADGATE_VERSION is main, want a release such as v1\.2\.3, or latest`, true,
		},
		"Forged": {
			"a signature that cosign refuses",
			func(t *testing.T) served {
				return releaseOf(t, "1.2.3", "linux_amd64").with(signature, "a bundle")
			},
			and(uname("Linux", "x86_64"), map[string]string{"cosign": "exit 1"}),
			"", "", `is not that of the release v1\.2\.3 of Headgate; nothing was installed`, true,
		},
		"Checksum": {
			"an archive that is not the one of the checksums",
			func(t *testing.T) served {
				return releaseOf(t, "1.2.3", "linux_amd64").with("/download/v1.2.3/headgate_1.2.3_linux_amd64.tar.gz", pack(t, map[string]string{"headgate": "#!/bin/sh\necho other\n"}))
			},
			uname("Linux", "x86_64"), "", "", `headgate_1\.2\.3_linux_amd64\.tar\.gz has the checksum [0-9a-f]{64}, and checksums\.txt says [0-9a-f]{64}; nothing was installed`, true,
		},
		"Machine": {
			"a processor without a release",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "riscv64"), "", "", `there is no release for Linux on riscv64; build it`, true,
		},
		"System": {
			"a system without a release",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("FreeBSD", "amd64"), "", "", `there is no release for FreeBSD; build it`, true,
		},
		"Lacking": {
			"a release without an archive for the platform",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "aarch64"), "", "", `/latest/download/checksums\.txt names no archive for linux_arm64`, true,
		},
		"Hostile": {
			"names of archives that leave the directory are none",
			func(t *testing.T) served {
				return served{"/latest/download/checksums.txt": strings.Repeat("0", 64) + "  headgate_1/../../x_linux_amd64.tar.gz\n"}
			},
			uname("Linux", "x86_64"), "", "", `names no archive for linux_amd64`, true,
		},
		"Unknown": {
			"a release that does not exist",
			func(t *testing.T) served { return releaseOf(t, "1.2.3", "linux_amd64") },
			uname("Linux", "x86_64"), "v9.9.9", "", `cannot fetch http.*/download/v9\.9\.9/checksums\.txt`, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.download == "" {
				tc.download = downloader(t)
			}
			path := tools(t, tc.download, tc.own)
			release := tc.release(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				content, found := release[r.URL.Path]
				if !found {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write([]byte(content))
			}))
			defer server.Close()
			bin := filepath.Join(t.TempDir(), "bin")
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "../install.sh")
			cmd.Env = []string{"PATH=" + path, "TMPDIR=" + t.TempDir(), "HEADGATE_URL=" + server.URL + "/", "HEADGATE_BIN_DIR=" + bin, "HEADGATE_VERSION=" + tc.version}
			out, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails {
				t.Fatalf("%s: %v\n%s", tc.reason, err, out)
			}
			if !regexp.MustCompile(tc.want).Match(out) {
				t.Errorf("%s: it says\n%s\nwant %s", tc.reason, out, tc.want)
			}
			want := map[bool]string{false: program, true: ""}[tc.fails]
			if diff := cmp.Diff(want, installed(t, bin)); diff != "" {
				t.Errorf("%s: what is installed (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// installed is the content of the only file in a directory; nothing if there is none.
func installed(t *testing.T, bin string) string {
	t.Helper()
	entries, err := os.ReadDir(bin)
	if os.IsNotExist(err) {
		return ""
	}
	if err != nil || len(entries) != 1 || entries[0].Name() != "headgate" {
		t.Fatalf("%s has %v, want headgate alone (%v)", bin, entries, err)
	}
	data, err := os.ReadFile(filepath.Join(bin, "headgate"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestArchives compares the platforms and names of the release with those that the install script knows.
func TestArchives(t *testing.T) {
	var config struct {
		Builds   []struct{ Targets []string }
		Archives []struct {
			Name string `json:"name_template"`
		}
	}
	data, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 || len(config.Archives) != 1 {
		t.Fatalf("%d builds and %d archives, want one of each", len(config.Builds), len(config.Archives))
	}
	if got, want := config.Archives[0].Name, "headgate_{{ .Version }}_{{ .Os }}_{{ .Arch }}"; got != want {
		t.Errorf("archives are named %s, and the install script expects %s", got, want)
	}
	machines := map[string][2]string{
		"linux_amd64": {"Linux", "x86_64"}, "linux_arm64": {"Linux", "aarch64"}, "darwin_amd64": {"Darwin", "x86_64"}, "darwin_arm64": {"Darwin", "arm64"},
	}
	for _, target := range config.Builds[0].Targets {
		machine, known := machines[target]
		if !known {
			t.Errorf("%s is released, and no test installs it", target)
			continue
		}
		delete(machines, target)
		// The script asks for an archive of exactly this platform: the release of another one is refused by that name.
		path := tools(t, downloader(t), uname(machine[0], machine[1]))
		server := httptest.NewServer(http.NotFoundHandler())
		sums := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("none\n")) }))
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "../install.sh")
		cmd.Env = []string{"PATH=" + path, "TMPDIR=" + t.TempDir(), "HEADGATE_URL=" + sums.URL, "HEADGATE_BIN_DIR=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		server.Close()
		sums.Close()
		if err == nil || !strings.Contains(string(out), "names no archive for "+target+"\n") {
			t.Errorf("%s: %v\n%s", target, err, out)
		}
	}
	if len(machines) > 0 {
		t.Errorf("the install script knows platforms that are not released: %v", machines)
	}
}
