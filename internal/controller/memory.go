package controller

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Files that hold the limit of a container, in the two versions of control groups.
const (
	limitFile    = "/sys/fs/cgroup/memory.max"
	limitFileOld = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
)

// unlimited is more than any machine has: the older control groups say so where there is no limit.
const unlimited = int64(1) << 52

// LimitMemory has the collector of garbage keep to nine tenths of the memory that the container may use, so
// that it works harder rather than that the process is killed. It returns the limit in bytes, and zero when
// there is none, or when GOMEMLIMIT says another.
func LimitMemory() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	for _, name := range []string{limitFile, limitFileOld} {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		limit := memoryLimit(string(data))
		if limit > 0 {
			debug.SetMemoryLimit(limit)
		}
		return limit
	}
	return 0
}

// memoryLimit is nine tenths of what the file of a control group says, or zero.
func memoryLimit(text string) int64 {
	bytes, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || bytes <= 0 || bytes >= unlimited {
		return 0
	}
	return bytes / 10 * 9
}
