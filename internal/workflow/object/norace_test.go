//go:build !race

package object

const raced = false
