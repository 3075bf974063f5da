//go:build race

package helm

// raced is so where the race detector watches: it keeps memory and stacks of its own, and ends a process that gets no more.
const raced = true
