package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// What a process gets to see of the machine besides its files: what container runtimes show of it.
var (
	// unchangeable are the settings of the kernel below /proc. /sys is unchangeable as all files are.
	unchangeable = []string{"bus", "fs", "irq", "sys", "sysrq-trigger"}
	// masked are what the kernel shows of its memory, its keys and its firmware.
	masked = []string{
		"proc/acpi", "proc/asound", "proc/kcore", "proc/keys", "proc/key-users", "proc/kmsg", "proc/kpagecgroup", "proc/kpagecount", "proc/kpageflags",
		"proc/latency_stats", "proc/sched_debug", "proc/scsi", "proc/timer_list", "proc/timer_stats", "proc/vmallocinfo",
		"sys/devices/virtual/powercap", "sys/firmware", "sys/fs/bpf", "sys/fs/pstore", "sys/kernel/debug", "sys/kernel/security", "sys/kernel/tracing",
	}
	// harmless are the devices, and standardLinks lead to those that a process has open.
	harmless      = []string{"full", "null", "random", "tty", "urandom", "zero"}
	standardLinks = map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	}
	// ofNixOS are links below /run to where NixOS has its programs and libraries.
	ofNixOS = []string{"booted-system", "current-system", "opengl-driver"}
)

// owned are directories that a process has for itself, and what is put into each.
func (v *view) owned() map[string]func(at string) error {
	own := map[string]func(string) error{"/dev": v.devices, "/run": v.runtime}
	if info, err := os.Lstat("/var/run"); err == nil && info.IsDir() {
		own["/var/run"] = v.runtime
	}
	return own
}

// devices are those that no program can do harm with, and terminals of its own.
func (v *view) devices(at string) error {
	for _, name := range harmless {
		if _, err := os.Lstat("/dev/" + name); err != nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(at, name), nil, 0o600); err != nil {
			return err
		}
		fd, err := clone("/dev/"+name, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID)
		if err == nil {
			err = attach(fd, filepath.Join(at, name))
		}
		if err != nil {
			return fmt.Errorf("path /dev/%s: %w", name, err)
		}
	}
	for name, target := range standardLinks {
		if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
			return err
		}
	}
	terminals := filepath.Join(at, "pts")
	if err := os.Mkdir(terminals, 0o755); err != nil {
		return err
	}
	err := unix.Mount("devpts", terminals, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	if err != nil {
		return fmt.Errorf("path /dev/pts: %w", err)
	}
	return nil
}

// runtime is where services have their sockets, none of which it shows: only what names of hosts are resolved by, and links of NixOS.
func (v *view) runtime(at string) error {
	for _, name := range ofNixOS {
		if target, err := os.Readlink(filepath.Join("/run", name)); err == nil {
			if err := os.Symlink(target, filepath.Join(at, name)); err != nil {
				return err
			}
		}
	}
	const resolver = "/etc/resolv.conf"
	const most = 40
	path := resolver
	for range most {
		path = filepath.Join(resolve(filepath.Dir(path)), filepath.Base(path))
		if inside, below := strings.CutPrefix(path, strings.TrimPrefix(at, v.root)+"/"); below {
			content, err := os.ReadFile(resolver)
			if err != nil {
				return nil //nolint:nilerr // names are not resolved on this machine either
			}
			return write(filepath.Join(at, inside), content)
		}
		target, err := os.Readlink(path)
		if err != nil {
			return nil //nolint:nilerr // it is a file that is shown as others are
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return nil
}

// write writes a file, with the directories above it.
func write(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // others may read it on the machine, too
}

// processes shows the processes of the namespace, and closes what is not about processes there and below /sys.
func (v *view) processes() error {
	proc := filepath.Join(v.root, "proc")
	if err := os.MkdirAll(proc, 0o755); err != nil {
		return err
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if unix.Mount("proc", proc, "proc", flags, "") != nil {
		// Where a part of it is hidden, there is no other one.
		if err := v.bind("/proc", false); err != nil {
			return err
		}
	}
	for _, name := range unchangeable {
		path := filepath.Join(proc, name)
		fd, err := clone(path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = attach(fd, path)
		}
		if err != nil {
			return fmt.Errorf("path /proc/%s: %w", name, err)
		}
	}
	for _, name := range masked {
		if err := v.mask(filepath.Join(v.root, name)); err != nil {
			return fmt.Errorf("path /%s: %w", name, err)
		}
	}
	return nil
}

// mask has a path be empty, if there is one.
func (v *view) mask(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // not every kernel has it
	}
	if info.IsDir() {
		return unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=0555")
	}
	fd, err := clone(filepath.Join(v.root, "dev", "null"), unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID)
	if err != nil {
		return err
	}
	return attach(fd, path)
}
