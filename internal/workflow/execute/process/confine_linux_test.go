package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConfined is about what a step may do to the machine, as the user that the test runs as, in each of the ways to confine it.
func TestConfined(t *testing.T) {
	for _, a := range candidates() {
		name := "Mounts"
		if a.User {
			name = "User"
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.needsPaths()
			dir := t.TempDir()
			if err := try(t.Context(), w.options.Program, dir, a); err != nil && os.Geteuid() == 0 {
				t.Skipf("this machine confines in another way: %v", err)
			}
			w.ability.User = a.User
			w.confined(t)
		})
	}
}

// confined runs steps that attempt what they may not.
func (w *world) confined(t *testing.T) {
	for name, c := range map[string]struct {
		reason, script, want string
	}{
		"Capabilities": {
			"it has none, and cannot get any", `grep -E '^(Cap|NoNewPrivs)' /proc/self/status | tr -s '\t\n' ' '`,
			strings.Repeat("0", 16),
		},
		"Settings": {
			"settings of the kernel cannot be changed, also with the value that they have",
			`for f in /proc/sys/vm/swappiness /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname; do (cat $f > /tmp/v; cat /tmp/v > $f) 2>/dev/null && echo wrote $f; done
			find /proc/sys /proc/irq /proc/bus /proc/fs /sys -maxdepth 3 -writable 2>/dev/null; (: >> /proc/sysrq-trigger) 2>/dev/null && echo sysrq; true`, "",
		},
		"Memory": {
			"what the kernel shows of its memory and keys is empty", `for f in kcore keys timer_list kpageflags vmallocinfo; do head -c 1 /proc/$f 2>/dev/null | wc -c | grep -v '^0$'; done; ls /sys/firmware`, "",
		},
		"Devices": {
			"there are only harmless ones", `ls /dev | tr '\n' ' '`, "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero",
		},
		"DevicesWork": {
			"those work", `echo x > /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo shared > /dev/shm/x; cat /dev/shm/x; echo in | cat /dev/stdin; [ -c /dev/pts/ptmx ] && (: <> /dev/ptmx) && echo terminal`,
			"3\n3\nshared\nin\nterminal",
		},
		"MoreDevices": {
			"others cannot be made", `for at in /tmp /dev / /var/tmp /dev/shm; do mknod $at/disk b 254 0 2>/dev/null && echo made $at/disk; done; true`, "",
		},
		"Run": {
			"sockets of the services of the machine are hidden, and it may be written to", `find /run/ -type s; ls /run | grep -vE '^(secrets|systemd|resolvconf|NetworkManager|current-system|booted-system|opengl-driver)$'; echo x > /run/mine; cat /run/mine`, "x",
		},
		"Names": {
			"hosts are still found by their names", `cat /etc/resolv.conf > /dev/null && echo readable`, "readable",
		},
		"Mounts": {
			"nothing is unmounted, made writable or mounted", `umount /proc/sys 2>/dev/null && echo unmounted; mount -o remount,rw /usr 2>/dev/null && echo remounted; mount -t tmpfs tmpfs /usr 2>/dev/null && echo mounted; true`, "",
		},
		"Nested": {
			"not with namespaces of its own either",
			`unshare -Urmpf sh -c 'umount /proc/sys && echo unmounted; mount -o remount,rw /proc/sys && echo remounted; mount -t proc proc /proc && echo proc; mount -t devtmpfs dev /dev && echo dev' 2>/dev/null; true`, "",
		},
		"FirstProcess": {
			"what has started it cannot be changed by it", `(: < /proc/1/mem) 2>/dev/null && echo memory; (: < /proc/1/environ) 2>/dev/null && echo environment; ls /proc/1/root/ 2>/dev/null; true`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := strings.ToLower(name)
			leaf := w.outcome(node, shell(c.script))
			succeeded(t, w, node, leaf)
			got := *leaf.Outputs.Result
			if name == "Capabilities" {
				for _, line := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
					if !strings.Contains(got, line+": "+c.want) {
						t.Errorf("%s: %s", c.reason, got)
					}
				}
				if !strings.Contains(got, "NoNewPrivs: 1") {
					t.Errorf("%s: %s", c.reason, got)
				}
				return
			}
			if diff := cmp.Diff(c.want, strings.TrimSpace(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestOutputsOfOthers is about an output that is a link to a file of the machine: it is collected with no more rights than the step has.
func TestOutputsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	if os.Geteuid() != 0 {
		t.Skip("only root owns files of other users")
	}
	// It is outside /tmp, of which a step has its own.
	dir, err := os.MkdirTemp("/var/lib", "headgate-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "key")
	const other = 4242
	for _, err := range []error{os.WriteFile(file, []byte("private"), 0o600), os.Chown(file, other, other), os.Chmod(dir, 0o755)} { //nolint:gosec // others may search it
		if err != nil {
			t.Fatal(err)
		}
	}
	template := shell("cat " + file + " 2>/dev/null && echo READ; ln -s " + file + " /tmp/out; true")
	template.Outputs.Parameters = append(template.Outputs.Parameters, from("p", "/tmp/out"))
	leaf := w.outcome("n", template)
	if got := values(leaf)["p"]; got != "" || strings.Contains(w.log("n"), "READ") {
		t.Errorf("a step gets what its user cannot read: %q, log %q", got, w.log("n"))
	}
}

// TestUnable is about a kernel that gives no namespaces: what is missing is named, with what to do.
func TestUnable(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	if reason, err := Unable(t.Context(), w.options.Program); reason != "" || err != nil {
		t.Fatalf("this machine: %q, %v", reason, err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // it is the test
	cmd.Env = append(os.Environ(), withoutMounts+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && os.Getenv("CI") == "" && os.Geteuid() == 0 {
		t.Skipf("root has no user namespaces here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"starting a process in namespaces", "user.max_mnt_namespaces is 0: sysctl -w user.max_mnt_namespaces="} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it lacks %q: %s", want, out)
		}
	}
}
