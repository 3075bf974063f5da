package process

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestLacking(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const users, mounts, debian, ubuntu = "proc/sys/user/max_user_namespaces", "proc/sys/user/max_mnt_namespaces",
		"proc/sys/kernel/unprivileged_userns_clone", "proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	for name, c := range map[string]struct {
		reason  string
		machine fstest.MapFS
		root    bool
		want    []string
	}{
		"Permitted": {"nothing stands out", fstest.MapFS{users: file("96365\n"), mounts: file("96365\n"), debian: file("1\n"), ubuntu: file("0\n"), "proc/self/status": file("Seccomp:\t0\n")}, false, nil},
		"None":      {"no user namespaces", fstest.MapFS{users: file("0\n")}, false, []string{"user.max_user_namespaces is 0: sysctl -w user.max_user_namespaces=15000"}},
		"Root":      {"root needs none", fstest.MapFS{users: file("0\n"), ubuntu: file("1\n")}, true, nil},
		"Mounts":    {"root needs those of mounts", fstest.MapFS{mounts: file("0\n")}, true, []string{"user.max_mnt_namespaces is 0: sysctl -w user.max_mnt_namespaces=15000"}},
		"Debian":    {"a setting of Debian", fstest.MapFS{debian: file("0\n")}, false, []string{"kernel.unprivileged_userns_clone is 0: sysctl -w kernel.unprivileged_userns_clone=1"}},
		"Ubuntu": {
			"a rule of AppArmor",
			fstest.MapFS{ubuntu: file("1\n")},
			false,
			[]string{`kernel.apparmor_restrict_unprivileged_userns is 1: a profile of AppArmor with "userns," for this binary, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`},
		},
		"Docker": {
			"a container",
			fstest.MapFS{".dockerenv": file(""), "proc/self/status": file("Name:\tx\nSeccomp:\t0\n")},
			true,
			[]string{"this is a container whose runtime rules out namespaces: run headgate outside it, or start it with --privileged (docker, podman)"},
		},
		"Filtered": {
			"a container without a mark",
			fstest.MapFS{"proc/self/status": file("Name:\tx\nSeccomp:\t2\n")},
			true,
			[]string{"this is a container whose runtime rules out namespaces: run headgate outside it, or start it with --privileged (docker, podman)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lacking(c.machine, c.root)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			got := explained([]string{"starting a process in namespaces: operation not permitted"}, c.machine, c.root)
			if want := strings.Join(append([]string{"starting a process in namespaces: operation not permitted"}, c.want...), "; "); got != want {
				t.Errorf("%s: it is explained by %q, want %q", c.reason, got, want)
			}
		})
	}
	if got := explained(nil, fstest.MapFS{}, false); !strings.HasPrefix(got, "only Linux has the namespaces") {
		t.Errorf("elsewhere: %q", got)
	}
}

// withoutMounts, in the environment, has the test binary find out what a machine permits that has no mount namespaces.
const withoutMounts = "HEADGATE_TEST_WITHOUT_MOUNTS"

// ableWithoutMounts prints why nothing can be confined. It runs in a user namespace, in which the limits are its own.
func ableWithoutMounts() {
	reason := "limits could not be set"
	if os.WriteFile("/proc/sys/user/max_mnt_namespaces", []byte("0"), 0) == nil {
		var err error
		if reason, err = Unable(context.Background(), "/proc/self/exe"); err != nil {
			reason = err.Error()
		}
	}
	_, _ = os.Stdout.WriteString(reason)
}
