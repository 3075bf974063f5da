// Package synth runs programs of typed charts, and keeps what they describe: it builds the main package of a module with the Go of the
// person, starts it, and writes the files or compares them with those that are there.
//
// Such a program is the person's own, and is run with the person's rights, as "go run" does. The package refuses to write what
// a program did not end with success, to delete files that it did not write, and to be part of an engine.
package synth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoGo is that there is no Go to build with.
var ErrNoGo = errors.New("go was not found in PATH; a module of charts is built with it")

// ErrNoModule is that a directory is in no module.
var ErrNoModule = errors.New("no go.mod in the directory or above it")

// ErrNoProgram is that a directory has no main package.
var ErrNoProgram = errors.New("the directory has no package main, whose main function calls chart.Main")

// BuildError is what the compiler said.
type BuildError struct{ Output string }

// LacksModule reports whether a module is missing, or its checksum.
func (e *BuildError) LacksModule() bool {
	return strings.Contains(e.Output, "go get ") || strings.Contains(e.Output, "go mod ") || strings.Contains(e.Output, "missing go.sum entry")
}

// Error is the message.
func (e *BuildError) Error() string { return "the module cannot be built" }

// Program is the main package of a module.
type Program struct {
	// Dir is the directory of the package, Module that of the module.
	Dir, Module string
	// Watched are the directories of packages that the program is built from and that a person may edit.
	Watched []string
	// go is the command, binary the file that it builds.
	tool, binary string
	others       io.Writer
}

// Open finds the main package in a directory. The binary goes to the directory scratch of the caller; what the program prints to
// its outputs besides goes to others.
func Open(ctx context.Context, dir, scratch string, others io.Writer) (*Program, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, ErrNoGo
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	p := &Program{Dir: dir, tool: tool, binary: filepath.Join(scratch, "charts"), others: others}
	return p, p.inspect(ctx)
}

// inspect asks Go what it would build.
func (p *Program) inspect(ctx context.Context) error {
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, p.tool, "list", "-e", "-deps", "-json=Name,Dir,Standard,Module", ".")
	cmd.Dir, cmd.Stderr = p.Dir, &errs
	out, err := cmd.Output()
	for _, missing := range []string{"go.mod file not found", "cannot find main module"} {
		if err != nil && strings.Contains(errs.String(), missing) {
			return ErrNoModule
		}
	}
	if err != nil {
		return &BuildError{Output: errs.String()}
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	name := ""
	p.Watched = nil
	for {
		var one struct {
			Name, Dir string
			Standard  bool
			Module    *struct {
				Main    bool
				Dir     string
				Replace *struct{ Path string }
			}
		}
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading what go list prints: %w", err)
		}
		if one.Module == nil || one.Standard {
			continue
		}
		if local := one.Module.Main || one.Module.Replace != nil && filepath.IsAbs(one.Dir) && isLocal(one.Module.Replace.Path); local {
			p.Watched = append(p.Watched, one.Dir)
		}
		if one.Dir == p.Dir {
			name, p.Module = one.Name, one.Module.Dir
		}
	}
	if name != "main" {
		return ErrNoProgram
	}
	return nil
}

// isLocal reports whether a replacement is a directory.
func isLocal(path string) bool {
	return strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") || filepath.IsAbs(path)
}

// Build builds the program. Symbols and the state of the working copy are left out: both take time at each edit.
func (p *Program) Build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.tool, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", p.binary, ".")
	cmd.Dir = p.Dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &BuildError{Output: relative(string(out), p.Dir)}
}

// relative has the positions that the compiler prints begin at the directory of the caller, from which they can be opened.
func relative(text, dir string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if file, rest, found := strings.Cut(line, ":"); found && strings.HasSuffix(file, ".go") && !filepath.IsAbs(file) {
			lines[i] = Shown(filepath.Join(dir, file)) + ":" + rest
		}
	}
	return strings.Join(lines, "")
}

// Shown is a name relative to the directory of the caller, if it lies below that.
func Shown(name string) string {
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return name
}
