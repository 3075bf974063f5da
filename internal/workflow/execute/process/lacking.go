package process

import (
	"io/fs"
	"runtime"
	"strconv"
	"strings"
)

// setting is one of the kernel that rules out namespaces.
type setting struct {
	file string
	// bad is whether a value does so.
	bad func(value int) bool
	// of is what it is about: only users other than root, or all.
	others bool
	fix    string
}

func zero(value int) bool { return value == 0 }

var settings = []setting{
	{"proc/sys/user/max_user_namespaces", zero, true, "sysctl -w user.max_user_namespaces=15000"},
	{"proc/sys/user/max_mnt_namespaces", zero, false, "sysctl -w user.max_mnt_namespaces=15000"},
	{"proc/sys/user/max_pid_namespaces", zero, false, "sysctl -w user.max_pid_namespaces=15000"},
	{"proc/sys/kernel/unprivileged_userns_clone", zero, true, "sysctl -w kernel.unprivileged_userns_clone=1"},
	{
		"proc/sys/kernel/apparmor_restrict_unprivileged_userns", func(value int) bool { return value != 0 }, true,
		`a profile of AppArmor with "userns," for this binary, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`,
	},
}

// lacking is what the files of a machine say of why it has no namespaces for a user, and how to have them; empty if they say nothing.
func lacking(machine fs.FS, root bool) []string {
	var all []string
	for _, s := range settings {
		data, err := fs.ReadFile(machine, s.file)
		if err != nil || s.others && root {
			continue
		}
		value, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err == nil && s.bad(value) {
			name := strings.ReplaceAll(strings.TrimPrefix(s.file, "proc/sys/"), "/", ".")
			all = append(all, name+" is "+strconv.Itoa(value)+": "+s.fix)
		}
	}
	if container(machine) {
		all = append(all, "this is a container whose runtime rules out namespaces: run headgate outside it, or start it with --privileged (docker, podman)")
	}
	return all
}

// container reports whether the machine is a container whose system calls are filtered.
func container(machine fs.FS) bool {
	status, err := fs.ReadFile(machine, "proc/self/status")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		if mode, is := strings.CutPrefix(line, "Seccomp:"); is && strings.TrimSpace(mode) == "2" {
			return true
		}
	}
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := fs.Stat(machine, mark); err == nil {
			return true
		}
	}
	return false
}

// explained is why nothing is confined on a machine: what was seen, and what it follows from.
func explained(seen []string, machine fs.FS, root bool) string {
	if len(seen) == 0 {
		return "only Linux has the namespaces that confine a process, and this is " + runtime.GOOS
	}
	return strings.Join(append(seen, lacking(machine, root)...), "; ")
}
