package lua

import (
	"encoding/json"
	"maps"
	"slices"

	glua "github.com/yuin/gopher-lua"
)

// fromGo gives a value of an object to a script. The keys of a map come in order, so that what a script sees by pairs is the
// same in every run.
func fromGo(state *glua.LState, value any) glua.LValue {
	switch v := value.(type) {
	case bool:
		return glua.LBool(v)
	case string:
		return glua.LString(v)
	case json.Number:
		return glua.LString(v)
	case float64:
		return glua.LNumber(v)
	case int64:
		return glua.LNumber(v)
	case int:
		return glua.LNumber(v)
	case int32:
		return glua.LNumber(v)
	case []any:
		list := state.CreateTable(len(v), 0)
		for _, item := range v {
			list.Append(fromGo(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			table.RawSetString(key, fromGo(state, v[key]))
		}
		return table
	}
	return glua.LNil
}

// toGo takes what a script returned.
func toGo(value glua.LValue) Value {
	v := Value{Type: value.Type().String()}
	table, ok := value.(*glua.LTable)
	if !ok {
		return v
	}
	v.Fields = map[string]any{}
	table.ForEach(func(key, field glua.LValue) {
		name, ok := key.(glua.LString)
		if !ok {
			return
		}
		switch f := field.(type) {
		case glua.LString:
			v.Fields[string(name)] = string(f)
		case glua.LNumber:
			v.Fields[string(name)] = float64(f)
		case glua.LBool:
			v.Fields[string(name)] = bool(f)
		}
	})
	return v
}
