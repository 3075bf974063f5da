package lua

import (
	"strings"

	glua "github.com/yuin/gopher-lua"
)

// strings is the library string, with functions that charge for what they make.
func (m *meter) strings(state *glua.LState) *glua.LTable {
	texts := library(state, glua.OpenString)
	m.replace(state, texts, map[string]wrap{
		"rep": m.rep, "format": m.format, "find": m.matching, "match": m.matching,
		"lower": m.result, "upper": m.result, "reverse": m.result,
	})
	for name, f := range map[string]glua.LGFunction{"gsub": m.gsub, "gmatch": m.gmatch, "gfind": m.gmatch} {
		texts.RawSetString(name, state.NewFunction(f))
	}
	return texts
}

// result charges for a text as long as the first argument.
func (m *meter) result(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		m.charge(state, len(state.CheckString(1)))
		return next(state)
	}
}

func (m *meter) rep(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		length, times := len(state.CheckString(1)), state.CheckInt(2)
		if length > 0 && times > 0 {
			// The product may be more than an int can hold.
			m.charge(state, int(min(float64(length)*float64(times), float64(m.left)+1)))
		}
		return next(state)
	}
}

// longestField is how long a number becomes by a width of two digits and a precision of two.
const longestField = 512

// format refuses what Lua itself refuses and the interpreter does not: wide fields, and arguments by number.
func (m *meter) format(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		text := state.CheckString(1)
		size := len(text)
		for i := 0; i < len(text); i++ {
			if text[i] != '%' {
				continue
			}
			if i++; i < len(text) && text[i] == '%' {
				continue
			}
			size += longestField
			for i < len(text) && strings.IndexByte("-+ #0", text[i]) >= 0 {
				i++
			}
			digits := 0
			for ; i < len(text) && (text[i] == '.' || text[i] >= '0' && text[i] <= '9'); i++ {
				if digits++; text[i] == '.' {
					digits = 0
				}
				if digits > 2 {
					state.RaiseError("invalid format (width or precision too long)")
				}
			}
			if i < len(text) && (text[i] == '[' || text[i] == '*') {
				state.RaiseError("invalid option '%%%c' to 'format'", text[i])
			}
		}
		for i := 2; i <= state.GetTop(); i++ {
			if arg, ok := state.Get(i).(glua.LString); ok {
				// A quoted text has up to four bytes for one.
				size += 4 * len(arg)
			}
		}
		m.charge(state, size)
		return next(state)
	}
}
