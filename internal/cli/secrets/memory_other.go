//go:build !linux

package secrets

// memoryDir is a directory whose files are kept in memory; none is known here.
func memoryDir() string { return "" }
