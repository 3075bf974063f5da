package lua

import (
	"slices"

	glua "github.com/yuin/gopher-lua"
)

// absent are the basic functions that read files, make scripts or reach into the process, and so are not there.
func absent() []string {
	return []string{"dofile", "loadfile", "loadstring", "load", "module", "newproxy", "_printregs"}
}

// open gives a run its libraries: the basic functions, table, and the date and time of os. With more, string and math.
func (m *meter) open(state *glua.LState, more bool) {
	library(state, glua.OpenBase)
	global := state.Get(glua.GlobalsIndex).(*glua.LTable)
	hidden := absent()
	for _, name := range hidden {
		global.RawSetString(name, glua.LNil)
	}
	tables := library(state, glua.OpenTable)
	m.replace(state, tables, map[string]wrap{"insert": m.insert, "concat": m.concatTable})
	m.replace(state, global, map[string]wrap{"rawset": m.rawset})
	for name, f := range map[string]glua.LGFunction{"print": silent, "collectgarbage": silent, "require": require} {
		global.RawSetString(name, state.NewFunction(f))
	}
	global.RawSetString("os", clock(state))
	hidden = append(hidden, "io", "debug", "coroutine", "channel", "package")
	if more {
		m.openStrings(state)
		// A seed would be that of the process.
		library(state, glua.OpenMath).RawSetString("randomseed", state.NewFunction(silent))
	} else {
		hidden = append(hidden, "string", "math")
	}
	tell(state, global, hidden)
}

func library(state *glua.LState, open glua.LGFunction) *glua.LTable {
	state.Push(state.NewFunction(open))
	state.Call(0, 1)
	table, _ := state.Get(-1).(*glua.LTable)
	state.Pop(1)
	return table
}

// clock is the library os, down to what tells the time.
func clock(state *glua.LState) *glua.LTable {
	all := library(state, glua.OpenOs)
	table := state.NewTable()
	for _, name := range []string{"time", "date"} {
		table.RawSetString(name, all.RawGetString(name))
	}
	return table
}

// tell has what a script asks of a library that it does not get answered by an error with a reason.
func tell(state *glua.LState, global *glua.LTable, hidden []string) {
	meta := state.NewTable()
	meta.RawSetString("__index", state.NewFunction(func(state *glua.LState) int {
		name, _ := state.Get(2).(glua.LString)
		if !slices.Contains(hidden, string(name)) {
			state.Push(glua.LNil)
			return 1
		}
		refuse := state.NewFunction(func(state *glua.LState) int {
			if name == "string" || name == "math" {
				state.RaiseError("the library %s is not open to this script; useOpenLibs opens it", string(name))
			}
			state.RaiseError("%s is not there for scripts", string(name))
			return 0
		})
		answer, how := state.NewTable(), state.NewTable()
		how.RawSetString("__index", refuse)
		how.RawSetString("__call", refuse)
		answer.Metatable = how
		state.Push(answer)
		return 1
	}))
	global.Metatable = meta
}

// silent takes whatever it is given.
func silent(state *glua.LState) int {
	state.Push(glua.LNumber(0))
	return 1
}

// require gives the libraries that are there anyway, by their names.
func require(state *glua.LState) int {
	name := state.CheckString(1)
	table, ok := state.GetGlobal(name).(*glua.LTable)
	if !ok || !slices.Contains([]string{"os", "table", "string", "math"}, name) {
		state.RaiseError("module %s is not there for scripts", name)
	}
	state.Push(table)
	return 1
}

// wrap makes a function of a library into one that charges.
type wrap func(glua.LGFunction) glua.LGFunction

func (m *meter) replace(state *glua.LState, table *glua.LTable, wraps map[string]wrap) {
	for name, with := range wraps {
		if f, ok := table.RawGetString(name).(*glua.LFunction); ok && f.IsG {
			table.RawSetString(name, state.NewFunction(with(f.GFunction)))
		}
	}
}

func (m *meter) insert(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		table := state.CheckTable(1)
		m.charge(state, perItem)
		if state.GetTop() > 2 {
			m.grow(state, table.Len(), state.Get(2))
		}
		return next(state)
	}
}

func (m *meter) rawset(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		m.grow(state, state.CheckTable(1).Len(), state.Get(2))
		return next(state)
	}
}

func (m *meter) concatTable(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		table, size := state.CheckTable(1), 0
		for i := range table.Len() {
			size += len(state.OptString(2, ""))
			if text, ok := table.RawGetInt(i + 1).(glua.LString); ok {
				size += len(text)
			}
		}
		m.charge(state, size)
		return next(state)
	}
}
