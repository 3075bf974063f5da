//go:build !race

package scenario

// slowness is how many times longer everything may take; see race_test.go.
const slowness = 1
