package lua

import (
	"context"
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// What is charged, in bytes. Each is more than what it stands for takes, with the growth of maps and slices.
const (
	perStep  = 64
	perTable = 2 << 10
	perItem  = 16
	perMatch = 64
)

// meter is the context of one run, and counts: the interpreter asks it before every step whether it is done.
type meter struct {
	context.Context
	spent chan struct{}
	outer <-chan struct{}
	left  int
}

func newMeter(ctx context.Context, memory int) *meter {
	m := &meter{Context: ctx, outer: ctx.Done(), spent: make(chan struct{}), left: memory}
	close(m.spent)
	return m
}

// Done is asked before every step.
func (m *meter) Done() <-chan struct{} {
	if m.left -= perStep; m.left < 0 {
		return m.spent
	}
	return m.outer
}

// Err is what ended the run. What a script has used up stays so, even when the script catches the error.
func (m *meter) Err() error {
	if m.left < 0 {
		return ErrMemory
	}
	return context.Cause(m.Context)
}

// charge takes from the budget what is about to be made.
func (m *meter) charge(state *glua.LState, bytes int) {
	if m.left -= min(bytes, m.left+1); m.left < 0 {
		state.RaiseError("%s", ErrMemory)
	}
}

// helpers are the functions behind the helperNames.
func (m *meter) helpers() []glua.LGFunction {
	return []glua.LGFunction{m.concat, m.table, m.store, m.index}
}

// concat puts its arguments together, as the operator does.
func (m *meter) concat(state *glua.LState) int {
	top := state.GetTop()
	texts, size := make([]string, top), 0
	for i := range texts {
		value := state.Get(i + 1)
		if !glua.LVCanConvToString(value) {
			return m.concatAny(state)
		}
		texts[i] = glua.LVAsString(value)
		size += len(texts[i])
	}
	m.charge(state, size)
	state.Push(glua.LString(strings.Join(texts, "")))
	return 1
}

// concatAny does so from the right, two at a time, since one of them may be a table that says how.
func (m *meter) concatAny(state *glua.LState) int {
	right := state.Get(state.GetTop())
	for i := state.GetTop() - 1; i > 0; i-- {
		left := state.Get(i)
		if glua.LVCanConvToString(left) && glua.LVCanConvToString(right) {
			a, b := glua.LVAsString(left), glua.LVAsString(right)
			m.charge(state, len(a)+len(b))
			right = glua.LString(a + b)
			continue
		}
		how := state.GetMetaField(left, "__concat")
		if how == glua.LNil {
			how = state.GetMetaField(right, "__concat")
		}
		if how.Type() != glua.LTFunction {
			state.RaiseError("cannot perform concat operation between %v and %v", left.Type(), right.Type())
		}
		state.Push(how)
		state.Push(left)
		state.Push(right)
		state.Call(2, 1)
		right = state.Get(-1)
		state.Pop(1)
	}
	state.Push(right)
	return 1
}

// table charges for a table that was made.
func (m *meter) table(state *glua.LState) int {
	m.charge(state, perTable)
	state.SetTop(1)
	return 1
}

// store assigns to an item of a table.
func (m *meter) store(state *glua.LState) int {
	if table, ok := state.Get(1).(*glua.LTable); ok {
		m.grow(state, table.Len(), state.Get(2))
	}
	state.SetTable(state.Get(1), state.Get(2), state.Get(3))
	return 0
}

// index charges for a key of a table that is not at hand.
func (m *meter) index(state *glua.LState) int {
	m.grow(state, 0, state.Get(1))
	state.SetTop(1)
	return 1
}

// grow charges for the items that a table gets to have one at a key: the interpreter fills up what is in between.
func (m *meter) grow(state *glua.LState, length int, key glua.LValue) {
	if number, ok := key.(glua.LNumber); ok && number > glua.LNumber(length) {
		items := min(float64(number), float64(glua.MaxArrayIndex)) - float64(length)
		m.charge(state, int(items)*perItem)
	}
}
