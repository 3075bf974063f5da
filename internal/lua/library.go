package lua

import (
	"slices"

	glua "github.com/yuin/gopher-lua"
)

// absent are the basic functions that read files, make scripts or reach into the process, and so are not there.
func absent() []string {
	return []string{"dofile", "loadfile", "loadstring", "load", "module", "newproxy", "_printregs"}
}

// open gives a run the basic functions. The libraries table and os, and with more of them string and math, are opened
// when a script first asks for one: most ask for none.
func (m *meter) open(state *glua.LState, more bool) {
	library(state, glua.OpenBase)
	global := state.Get(glua.GlobalsIndex).(*glua.LTable)
	for _, name := range absent() {
		global.RawSetString(name, glua.LNil)
	}
	m.replace(state, global, map[string]wrap{"rawset": m.rawset})
	for name, f := range map[string]glua.LGFunction{"print": silent, "collectgarbage": silent, "require": require} {
		global.RawSetString(name, state.NewFunction(f))
	}
	there := map[string]func(*glua.LState) *glua.LTable{"table": m.tables, "os": clock}
	if more {
		there["string"], there["math"] = m.strings, numbers
		methods := state.CreateTable(0, 1)
		methods.RawSetString("__index", state.NewFunction(func(state *glua.LState) int {
			state.Push(state.GetTable(state.GetGlobal("string"), state.Get(2)))
			return 1
		}))
		state.SetMetatable(glua.LString(""), methods)
	}
	meta := state.CreateTable(0, 1)
	meta.RawSetString("__index", state.NewFunction(func(state *glua.LState) int {
		name, _ := state.Get(2).(glua.LString)
		if open := there[string(name)]; open != nil {
			global.RawSetString(string(name), open(state))
			state.Push(global.RawGetString(string(name)))
			return 1
		}
		state.Push(refusal(state, string(name)))
		return 1
	}))
	global.Metatable = meta
}

func library(state *glua.LState, open glua.LGFunction) *glua.LTable {
	state.Push(state.NewFunction(open))
	state.Call(0, 1)
	table, _ := state.Get(-1).(*glua.LTable)
	state.Pop(1)
	return table
}

func (m *meter) tables(state *glua.LState) *glua.LTable {
	table := library(state, glua.OpenTable)
	m.replace(state, table, map[string]wrap{"insert": m.insert, "concat": m.concatTable})
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

// numbers is the library math. A seed would be that of the process, and so it is ignored.
func numbers(state *glua.LState) *glua.LTable {
	table := library(state, glua.OpenMath)
	table.RawSetString("randomseed", state.NewFunction(silent))
	return table
}

// refusal stands for a library that a script does not get: using it raises an error with the reason. For any other name
// there is nothing, as with all variables that are not set.
func refusal(state *glua.LState, name string) glua.LValue {
	reason := name + " is not available to scripts"
	switch {
	case name == "string" || name == "math":
		reason = "the library " + name + " is not available to this script; set useOpenLibs"
	case !slices.Contains(append(absent(), "io", "debug", "coroutine", "channel", "package"), name):
		return glua.LNil
	}
	refuse := state.NewFunction(func(state *glua.LState) int {
		state.RaiseError("%s", reason)
		return 0
	})
	answer, how := state.NewTable(), state.NewTable()
	how.RawSetString("__index", refuse)
	how.RawSetString("__call", refuse)
	answer.Metatable = how
	return answer
}

// silent takes whatever it is given.
func silent(state *glua.LState) int {
	state.Push(glua.LNumber(0))
	return 1
}

// require gives the libraries that are there anyway, by their names.
func require(state *glua.LState) int {
	name := state.CheckString(1)
	if !slices.Contains([]string{"os", "table", "string", "math"}, name) {
		state.RaiseError("module %s is not available to scripts", name)
	}
	state.Push(state.GetGlobal(name))
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
