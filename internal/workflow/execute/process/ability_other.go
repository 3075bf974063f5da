//go:build !linux

package process

import "syscall"

const nonBlocking = syscall.O_NONBLOCK

// candidates are none: nothing is confined here.
func candidates() []ability { return nil }

// inner is how what is inside is started.
func (a ability) inner() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// enter does nothing here.
func (j *job) enter() error { return nil }

// restrain does nothing here.
func (j *job) restrain() error { return nil }
