//go:build !linux

package sandbox

import "syscall"

// limitData does nothing: only Linux bounds what a process allocates. The limits of stack, time and output hold.
func limitData(int64) {}

// apart has nothing to say.
func apart() *syscall.SysProcAttr { return nil }
