//go:build !race

package helm

const raced = false
