//go:build race

package scenario

// slowness is how many times longer everything may take: the race detector watches every access to memory.
const slowness = 5
