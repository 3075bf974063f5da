package lua

import (
	"strings"

	glua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// maxWays is in how many ways a pattern may be laid over a text, at most: nothing can interrupt the matching, and
// so many take about a second.
const maxWays = 1e8

// ways bounds in how many ways a pattern can be laid over a text of a length: each repetition ends somewhere, one after
// the other, and so does what comes before a pattern that is not anchored.
func ways(pattern string, length int) float64 {
	ends := 1
	if strings.HasPrefix(pattern, "^") {
		ends = 0
	}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '%':
			i++
		case '*', '+', '-':
			ends++
		}
	}
	count := 1.0
	for i := range ends {
		count *= float64(length+i+1) / float64(i+1)
	}
	return count
}

// bearable raises an error when a pattern may take too long.
func bearable(state *glua.LState, pattern string, length int) {
	if ways(pattern, length) > maxWays {
		state.RaiseError("matching the pattern %q with a text of %d bytes may take too long", pattern, length)
	}
}

// matching parses the pattern of find and match.
func (m *meter) matching(next glua.LGFunction) glua.LGFunction {
	return func(state *glua.LState) int {
		if !glua.LVAsBool(state.Get(4)) {
			bearable(state, state.CheckString(2), len(state.CheckString(1)))
		}
		return next(state)
	}
}

// matches finds all matches of the pattern, the second argument, in the first one.
func (m *meter) matches(state *glua.LState, limit int) (string, []*pm.MatchData) {
	text, pattern := state.CheckString(1), state.CheckString(2)
	bearable(state, pattern, len(text))
	m.charge(state, perMatch*(len(text)+1))
	found, err := pm.Find(pattern, []byte(text), 0, limit)
	if err != nil {
		state.RaiseError("%s", err)
	}
	return text, found
}

// gmatch is a function that gives the captures of one match after the other.
func (m *meter) gmatch(state *glua.LState) int {
	text, found := m.matches(state, -1)
	state.Push(state.NewFunction(func(state *glua.LState) int {
		if len(found) == 0 {
			return 0
		}
		match := found[0]
		found = found[1:]
		captures := captured(text, match)
		for _, capture := range captures {
			state.Push(capture)
		}
		return len(captures)
	}))
	return 1
}

// captured are the captures of a match, or all of it when the pattern has none.
func captured(text string, match *pm.MatchData) []glua.LValue {
	if match.CaptureLength() <= 2 {
		return []glua.LValue{capture(text, match, 0)}
	}
	var values []glua.LValue
	for i := 2; i < match.CaptureLength(); i += 2 {
		values = append(values, capture(text, match, i))
	}
	return values
}

func capture(text string, match *pm.MatchData, at int) glua.LValue {
	if match.IsPosCapture(at) {
		return glua.LNumber(match.Capture(at))
	}
	return glua.LString(text[match.Capture(at):match.Capture(at+1)])
}

// gsub replaces matches by a text, by what a table has for them, or by what a function makes of them.
func (m *meter) gsub(state *glua.LState) int {
	state.CheckTypes(3, glua.LTString, glua.LTNumber, glua.LTTable, glua.LTFunction)
	text, found := m.matches(state, state.OptInt(4, -1))
	var out strings.Builder
	write := func(part string) {
		m.charge(state, len(part))
		out.WriteString(part)
	}
	end := 0
	for _, match := range found {
		whole := capture(text, match, 0).String()
		write(text[end:match.Capture(0)])
		end = match.Capture(1)
		switch by := state.Get(3).(type) {
		case *glua.LTable:
			write(replacement(state, whole, state.GetTable(by, captured(text, match)[0])))
		case *glua.LFunction:
			state.Push(by)
			args := captured(text, match)
			for _, arg := range args {
				state.Push(arg)
			}
			state.Call(len(args), 1)
			value := state.Get(-1)
			state.Pop(1)
			write(replacement(state, whole, value))
		default:
			expand(state, by.String(), text, match, write)
		}
	}
	write(text[end:])
	state.Push(glua.LString(out.String()))
	state.Push(glua.LNumber(len(found)))
	return 2
}

// replacement is what takes the place of a match; nothing means the match itself.
func replacement(state *glua.LState, whole string, value glua.LValue) string {
	if glua.LVIsFalse(value) {
		return whole
	}
	if !glua.LVCanConvToString(value) {
		state.RaiseError("invalid replacement value (a %s)", value.Type())
	}
	return glua.LVAsString(value)
}

// expand writes the text that replaces a match, in which %0 to %9 are the match and its captures.
func expand(state *glua.LState, by, text string, match *pm.MatchData, write func(string)) {
	for {
		at := strings.IndexByte(by, '%')
		if at < 0 || at+1 == len(by) {
			write(by)
			return
		}
		write(by[:at])
		switch c := by[at+1]; {
		case c == '0':
			write(capture(text, match, 0).String())
		case c >= '1' && c <= '9':
			captures := captured(text, match)
			if int(c-'1') >= len(captures) {
				state.RaiseError("invalid capture index")
			}
			write(captures[c-'1'].String())
		default:
			write(by[at+1 : at+2])
		}
		by = by[at+2:]
	}
}
