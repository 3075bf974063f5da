// Package sockets lists what a process listens on: ports, paths, and the names of abstract unix sockets, which have no permissions. Tests compare
// it with what they know by name.
//
// It reads /proc, and refuses to run where there is none.
package sockets

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// table is a file of /proc with sockets of one kind.
type table struct {
	file string
	// network is what its sockets are called.
	network string
	// inode is the field with the inode; read returns the address of a line, and whether it is that of a listener.
	inode int
	read  func(fields []string) (address string, listens bool, err error)
}

// The states of sockets of TCP and UDP that accept what anyone sends.
const (
	listening   = "0A"
	unconnected = "07"
)

// accepts is the flag of a unix socket that listens.
const accepts = 1 << 16

func tables() []table {
	return []table{
		{"tcp", "tcp", 9, port(listening)},
		{"tcp6", "tcp", 9, port(listening)},
		{"udp", "udp", 9, port(unconnected)},
		{"udp6", "udp", 9, port(unconnected)},
		{"unix", "unix", 6, name},
	}
}

// Of lists what a process listens on, sorted, as "tcp 127.0.0.1:80", "unix /path" or "unix @abstract".
func Of(pid int) ([]string, error) {
	root := filepath.Join("/proc", strconv.Itoa(pid))
	if _, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("listing the sockets of process %d: %w", pid, err)
	}
	held, err := inodes(filepath.Join(root, "fd"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, t := range tables() {
		found, err := t.of(filepath.Join(root, "net", t.file), held)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return all, nil
}

// inodes are those of the sockets that a process has open.
func inodes(dir string) (map[string]bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("listing open files: %w", err)
	}
	held := map[string]bool{}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			// It was closed meanwhile.
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing open files: %w", err)
		}
		if inode, is := strings.CutPrefix(to, "socket:["); is {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return held, nil
}

func (t table) of(file string, held map[string]bool) ([]string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(t.file, "6") {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing sockets: %w", err)
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) <= t.inode || !held[fields[t.inode]] {
			continue
		}
		address, listens, err := t.read(fields)
		if err != nil {
			return nil, fmt.Errorf("%s: line %q: %w", file, lines.Text(), err)
		}
		if listens {
			all = append(all, t.network+" "+address)
		}
	}
	return all, lines.Err()
}

// port reads a line of a table of TCP or UDP.
func port(state string) func([]string) (string, bool, error) {
	return func(fields []string) (string, bool, error) {
		if fields[3] != state {
			return "", false, nil
		}
		host, port, _ := strings.Cut(fields[1], ":")
		raw, err := hex.DecodeString(host)
		if err != nil {
			return "", false, err
		}
		number, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			return "", false, err
		}
		// The kernel writes each word of four bytes in the order of the machine, which is the little one wherever tests run.
		for word := range slices.Chunk(raw, 4) {
			slices.Reverse(word)
		}
		return net.JoinHostPort(net.IP(raw).String(), strconv.FormatUint(number, 10)), true, nil
	}
}

// name reads a line of the table of unix sockets.
func name(fields []string) (string, bool, error) {
	flags, err := strconv.ParseUint(fields[3], 16, 32)
	if err != nil || flags&accepts == 0 {
		return "", false, err
	}
	return strings.Join(fields[7:], " "), true, nil
}
