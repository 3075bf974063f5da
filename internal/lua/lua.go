// Package lua runs small scripts over one object of Kubernetes, as Argo CD does for health checks.
//
// A script gets the object as the global obj and returns a table. It sees nothing else: no files, no processes, no
// network, no environment, no other script, nothing of an earlier run. It is bounded in time by the context, and in memory by
// counting: each step, table and text is charged to a budget, before it is made. The steps are counted where
// the interpreter asks the context whether it is done; for the rest, the operators that make texts and tables grow are
// replaced by functions that count, in the syntax tree, before it is compiled.
//
// It is a room of its own because it is the only one that imports the interpreter, and knows nothing of health: the caller of a
// script says what its result means.
package lua

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	glua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

const (
	// DefaultTime is how long a script may run, as with Argo CD.
	DefaultTime = time.Second
	// DefaultMemory is the budget of one run, in bytes. At 64 bytes for a step it is a million steps; Argo CD's own checks take
	// five hundred at most.
	DefaultMemory = 64 << 20
	// maxSource is how long the text of a script may be; a ConfigMap holds no more than four such.
	maxSource = 256 << 10
)

var (
	// ErrTime is that a script ran for too long.
	ErrTime = errors.New("it timed out")
	// ErrMemory is that a script used up its budget.
	ErrMemory = errors.New("it exceeded its budget of memory and steps")
)

// Options say what a script may do. The zero value is what Argo CD gives to a script of its settings.
type Options struct {
	// OpenLibs gives it the libraries string and math beside the basic functions, table and the date and time of os.
	OpenLibs bool
	// Time is how long it may run; zero means DefaultTime.
	Time time.Duration
	// Memory is its budget in bytes; zero means DefaultMemory.
	Memory int
}

// Script is a compiled script. It can be run by many at once.
type Script struct {
	name  string
	proto *glua.FunctionProto
	Options
}

// Value is what a script returned.
type Value struct {
	// Type is the name that Lua has for it, such as "table" or "nil".
	Type string
	// Fields are those of a table, by names, that hold a string, a number or a boolean.
	Fields map[string]any
}

// Compile makes a script of its text. Its errors begin with the name, and the line.
func Compile(name, source string, o Options) (*Script, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s: the script is longer than %d bytes", name, maxSource)
	}
	stmts, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, syntax(err))
	}
	proto, err := glua.Compile(counted(stmts), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "compile error near "))
	}
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	return &Script{name: name, proto: proto, Options: o}, nil
}

// syntax words an error of the parser in one line.
func syntax(err error) string {
	var at *parse.Error
	if !errors.As(err, &at) {
		return strings.Join(strings.Fields(err.Error()), " ")
	}
	if at.Pos.Line == parse.EOF {
		return "at the end: " + at.Message
	}
	return fmt.Sprintf("line %d: %s near %q", at.Pos.Line, at.Message, at.Token)
}

// Run runs the script over an object.
func (s *Script) Run(ctx context.Context, object map[string]any) (Value, error) {
	value, _, err := s.run(ctx, object)
	return value, err
}

// run tells also how much of the budget was used.
func (s *Script) run(ctx context.Context, object map[string]any) (Value, int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Time, ErrTime)
	defer cancel()
	state := glua.NewState(glua.Options{
		SkipOpenLibs: true, MinimizeStackMemory: true,
		RegistrySize: 128, RegistryGrowStep: 384, RegistryMaxSize: glua.RegistrySize,
	})
	defer state.Close()
	m := newMeter(ctx, s.Memory)
	m.open(state, s.OpenLibs)
	state.SetGlobal("obj", fromGo(state, object))
	state.SetContext(m)
	state.Push(state.NewFunctionFromProto(s.proto))
	helpers := m.helpers()
	for _, helper := range helpers {
		state.Push(state.NewFunction(helper))
	}
	if err := state.PCall(len(helpers), 1, nil); err != nil {
		return Value{}, s.Memory - m.left, s.failure(m, err)
	}
	return toGo(state.Get(-1)), s.Memory - m.left, nil
}

// failure words an error of a run: the name, the line where it is known, and what happened.
func (s *Script) failure(m *meter, err error) error {
	text := err.Error()
	var raised *glua.ApiError
	if errors.As(err, &raised) {
		// The error itself would print the stack, which is useless in a status.
		text = "it raised a " + raised.Object.Type().String()
		if said, ok := raised.Object.(glua.LString); ok {
			text = string(said)
		}
	}
	cause := m.Err()
	if cause == nil {
		cause = errors.New(text)
	}
	at, found := strings.CutSuffix(text, cause.Error())
	if !found || !strings.HasPrefix(at, s.name+":") {
		at = ""
	}
	if at == "" && !strings.HasPrefix(cause.Error(), s.name+":") {
		at = s.name + ": "
	}
	return fmt.Errorf("%s%w", at, cause)
}

// counted puts a chunk into a function that has the helpers as locals, by names that no script can spell.
func counted(stmts []ast.Stmt) []ast.Stmt {
	rewrite(stmts)
	body := &ast.FunctionExpr{ParList: &ast.ParList{HasVargs: true}, Stmts: stmts}
	names := &ast.LocalAssignStmt{Names: helperNames(), Exprs: []ast.Expr{&ast.Comma3Expr{}}}
	return []ast.Stmt{names, &ast.ReturnStmt{Exprs: []ast.Expr{&ast.FuncCallExpr{Func: body}}}}
}
