// Package memory tunes the collector of garbage to the machine.
//
// An API server beside an engine allocates much and keeps little: with the default of Go, most of the time of a boot is spent
// collecting. The collector is made lazier where there is memory for that, and keeps to a limit. The room refuses to overrule
// what a person has said by GOGC or GOMEMLIMIT, and to measure what is used.
package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Files that hold the limit of a container, in the two versions of control groups, and what the machine has.
const (
	limitFile    = "/sys/fs/cgroup/memory.max"
	limitFileOld = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
	machineFile  = "/proc/meminfo"
)

// unlimited is more than any machine has: the older control groups say so where there is no limit.
const unlimited = int64(1) << 52

// How much the heap grows until garbage is collected, in percent of what was kept: lazy while that is little, less as it grows so that
// no more than spare bytes of garbage gather, and never less than keen.
const (
	lazy  = 300
	keen  = 60
	spare = 1 << 30
)

// Limit has the collector of garbage keep to nine tenths of the memory that the container may use, so
// that it works harder rather than that the process is killed. It returns the limit in bytes, and zero when
// there is none, or when GOMEMLIMIT says another.
func Limit() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit := container()
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit
}

// Tune is for processes that carry a control plane: garbage is collected when the heap is four times what was kept, or when a
// gigabyte of garbage has gathered, up to the limit of the container and, where it has none, up to half of what the machine has; from
// there on as often as it takes to stay below. Where GOGC or GOMEMLIMIT is set, nothing changes but for the limit of a container; where the memory of the
// machine is unknown, nothing at all.
func Tune() {
	limit := Limit()
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit == 0 {
		if limit = machine() / 2; limit <= 0 {
			return
		}
		// Another limit may be set already, by a caller that knows more.
		if debug.SetMemoryLimit(-1) == math.MaxInt64 {
			debug.SetMemoryLimit(limit)
		}
	}
	debug.SetGCPercent(lazy)
	follow(lazy)
}

// follow sets how much the heap may grow after each collection, by what that kept. It ends as soon as something else sets it.
func follow(set int) {
	runtime.AddCleanup(new([64]byte), func(set int) {
		kept, now := collected()
		if now != set {
			return
		}
		// Setting it stops the world for a moment: small differences do not count.
		if next := percent(kept); next*10 < set*9 || next*9 > set*10 {
			debug.SetGCPercent(next)
			set = next
		}
		follow(set)
	}, set)
}

// percent is how much a heap of which so many bytes were kept may grow.
func percent(kept uint64) int {
	return int(min(lazy, max(keen, spare*100/max(kept, 1))))
}

// collected is what the last collection kept, in bytes, and how much the heap may grow until the next, in percent.
func collected() (kept uint64, percent int) {
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(read)
	return read[0].Value.Uint64(), int(read[1].Value.Uint64())
}

// container is the limit of the container, or zero.
func container() int64 {
	for _, name := range []string{limitFile, limitFileOld} {
		if data, err := os.ReadFile(name); err == nil {
			return containerLimit(string(data))
		}
	}
	return 0
}

// containerLimit is nine tenths of what the file of a control group says, or zero.
func containerLimit(text string) int64 {
	bytes, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || bytes <= 0 || bytes >= unlimited {
		return 0
	}
	return bytes / 10 * 9
}

// machine is the memory of the machine in bytes, or zero where that is unknown.
func machine() int64 {
	data, err := os.ReadFile(machineFile)
	if err != nil {
		return 0
	}
	return machineMemory(string(data))
}

// machineMemory is what the file of the kernel says, in bytes, or zero.
func machineMemory(text string) int64 {
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(line, "MemTotal:")
		if !is {
			continue
		}
		amount, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		kb, err := strconv.ParseInt(amount, 10, 64)
		if err != nil || unit != "kB" || kb <= 0 || kb >= unlimited>>10 {
			return 0
		}
		return kb << 10
	}
	return 0
}
