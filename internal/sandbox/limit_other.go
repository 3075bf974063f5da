//go:build !linux

package sandbox

import (
	"os"
	"syscall"
)

// limitData does nothing: only Linux bounds what a process allocates. The limits of stack, time and output hold.
func limitData(int64) {}

// apart has nothing to say.
func apart() *syscall.SysProcAttr { return nil }

// resident is unknown.
func resident(*os.ProcessState) int64 { return 0 }
