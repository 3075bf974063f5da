package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlocking = syscall.O_NONBLOCK

// candidates are the ways to be confined, the best one first. Root does without a user namespace where there are none: it loses its capabilities all
// the same.
func candidates() []ability {
	if os.Geteuid() == 0 {
		return []ability{{User: true}, {}}
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
		// The second one is needed to drop what others may still be given.
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
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

// ofContainers are the capabilities that root keeps where nothing confines it, if it has them: those that a container has.
var ofContainers = map[int]bool{
	unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FSETID: true, unix.CAP_FOWNER: true, unix.CAP_MKNOD: true, unix.CAP_NET_RAW: true,
	unix.CAP_SETGID: true, unix.CAP_SETUID: true, unix.CAP_SETFCAP: true, unix.CAP_SETPCAP: true, unix.CAP_NET_BIND_SERVICE: true,
	unix.CAP_SYS_CHROOT: true, unix.CAP_KILL: true, unix.CAP_AUDIT_WRITE: true,
}

// restrain takes every right from this thread, and from what it starts, but those of its user. Only what is not confined keeps those of a container.
func (j *job) restrain() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping capabilities: %w", err)
	}
	confined := j.Ability.Reason == ""
	for capability := range uintptr(unix.CAP_LAST_CAP + 1) {
		if !confined && ofContainers[int(capability)] {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		// An older kernel has fewer of them. Without confinement, a process without the right to drop any has nothing to lose.
		if err != nil && !errors.Is(err, unix.EINVAL) && confined {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	if confined {
		// What collects outputs follows links that the program has left: it reads no more than the program. The program cannot become it
		// either, by a debugger or by its memory: other threads have not lost anything.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return fmt.Errorf("closing the memory: %w", err)
		}
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			return fmt.Errorf("dropping capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	return nil
}
