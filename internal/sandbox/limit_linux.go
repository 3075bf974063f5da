package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitData has the kernel refuse memory to this process beyond so much. The runtime then ends it at once, however large the piece
// is that was requested; its own limit only has it collect more often.
func limitData(memory int64) {
	// What the runtime reserves and does not use is not data. It takes memory for its heap in pieces of this size.
	const piece = 64 << 20
	most := uint64(memory) + dataNow() + piece
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// dataNow is what this process has for data already.
func dataNow() uint64 {
	const unknown = 256 << 20
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return unknown
	}
	for line := range bytes.Lines(status) {
		if rest, is := bytes.CutPrefix(line, []byte("VmData:")); is {
			kilo, err := strconv.ParseUint(strings.Fields(string(rest))[0], 10, 64)
			if err == nil {
				return kilo << 10
			}
		}
	}
	return unknown
}

// apart has a child not get the signals of the terminal.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// resident is the memory that a process had at most, in bytes.
func resident(s *os.ProcessState) int64 {
	const kilo = 1 << 10
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * kilo
}
