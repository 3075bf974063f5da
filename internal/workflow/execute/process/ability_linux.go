package process

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlocking = syscall.O_NONBLOCK

// candidates are the ways to have paths of their own: as root, a mount namespace will do, unless that is not permitted.
func candidates() []ability {
	if os.Geteuid() == 0 {
		return []ability{{}, {User: true}}
	}
	return []ability{{User: true}}
}

// inner is how what is inside is started: with mounts and processes of its own, all of which end with it, as it ends with its keeper.
func (a ability) inner() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if a.Reason != "" {
		return attr
	}
	attr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	if !a.User {
		return attr
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	// Users keep their numbers.
	attr.UidMappings, attr.GidMappings = identities("uid", os.Geteuid()), identities("gid", os.Getegid())
	if os.Geteuid() == 0 {
		attr.GidMappingsEnableSetgroups = true
	} else {
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return attr
}

// identities map users or groups to themselves: all that root has, or the one that others have.
func identities(kind string, own int) []syscall.SysProcIDMap {
	if os.Geteuid() != 0 {
		return []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	var all []syscall.SysProcIDMap
	data, _ := os.ReadFile("/proc/self/" + kind + "_map")
	for line := range strings.Lines(string(data)) {
		var inside, outside, size int
		if n, _ := fmt.Sscan(line, &inside, &outside, &size); n == 3 {
			all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: size})
		}
	}
	return all
}

// kept are the capabilities that root has in there, if it has them outside: those that a container has.
var kept = map[int]bool{
	unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FSETID: true, unix.CAP_FOWNER: true, unix.CAP_MKNOD: true, unix.CAP_NET_RAW: true,
	unix.CAP_SETGID: true, unix.CAP_SETUID: true, unix.CAP_SETFCAP: true, unix.CAP_SETPCAP: true, unix.CAP_NET_BIND_SERVICE: true,
	unix.CAP_SYS_CHROOT: true, unix.CAP_KILL: true, unix.CAP_AUDIT_WRITE: true,
}

// restrain takes what a program could undo its mounts with, from what this thread starts from here on.
func restrain() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	for capability := range unix.CAP_LAST_CAP + 1 {
		if kept[capability] {
			continue
		}
		// Those that a later kernel has, and a process without the right to drop any, have nothing to lose.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	return nil
}
