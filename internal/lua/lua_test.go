package lua_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/lua"
)

func run(t *testing.T, source string, o lua.Options) (lua.Value, error) {
	t.Helper()
	script, err := lua.Compile("g/K", source, o)
	if err != nil {
		t.Fatal(err)
	}
	return script.Run(t.Context(), map[string]any{
		"kind": "K", "n": int64(3), "f": 1.5, "yes": true, "none": nil,
		"list": []any{"a", "b", "c"}, "map": map[string]any{"z": "26", "a": "1", "m": "13"},
	})
}

// TestScripts holds what scripts may do against what comes of it. Above all it shows that counting changes nothing.
func TestScripts(t *testing.T) {
	cases := map[string]struct{ reason, source, want string }{
		"object":         {"fields of all types are there", `return {r = obj.kind .. obj.n .. obj.f .. tostring(obj.yes) .. tostring(obj.none) .. #obj.list}`, "K31.5truenil3"},
		"order":          {"the keys of a map come in order", `local s = "" for k, v in pairs(obj.map) do s = s .. k .. v .. " " end return {r = s}`, "a1 m13 z26 "},
		"concat":         {"texts and numbers are put together from left to right", `return {r = "a" .. 1 .. 2.5 .. "b" .. (1 + 2)}`, "a12.5b3"},
		"concat call":    {"a function gives one value to an operator", `local function f() return "x", "y" end return {r = f() .. f() .. "-"}`, "xx-"},
		"concat meta":    {"a table may say how it is put together", `local t = setmetatable({}, {__concat = function(a, b) return "T" end}) return {r = "a" .. "b" .. t}`, "aT"},
		"concat return":  {"what is put together can be returned by a function", `local function f(a) return a .. "!" end return {r = f("x")}`, "x!"},
		"concat dots":    {"so can the first of many arguments", `local function f(...) return "<" .. ... end return {r = f("x", "y")}`, "<x"},
		"items":          {"items are set by key, and by number", `local t = {} t["a"] = 1 t[1] = "x" t[#t + 1] = "y" return {r = t.a .. t[1] .. t[2] .. #t}`, "1xy2"},
		"one value":      {"an item gets the first value of a function", `local function f() return 1, 2 end local t = {} t[1] = f() return {r = t[1] .. #t}`, "11"},
		"swap":           {"items are swapped", `local t = {1, 2} t[1], t[2] = t[2], t[1] return {r = t[1] .. "," .. t[2]}`, "2,1"},
		"newindex":       {"a table may say what becomes of an item", `local n = 0 local t = setmetatable({}, {__newindex = function(t, k, v) n = v end}) t[1] = 7 return {r = n .. tostring(t[1])}`, "7nil"},
		"constructor":    {"tables are made with items, fields, keys and the rest of the arguments", `local function f(...) return {"a", b = "B", [10] = "ten", ...} end local t = f("c", "d") return {r = t[1] .. t.b .. t[10] .. t[2] .. t[3]}`, "aBtencd"},
		"closures":       {"functions keep their variables", `local function counter() local n = 0 return function() n = n + 1 return "n" .. n end end local c = counter() c() return {r = c()}`, "n2"},
		"methods":        {"methods of tables and texts work", `local t = {n = "x"} function t:get(s) return self.n .. s end return {r = t:get("y"):upper() .. ("%d"):format(4)}`, "XY4"},
		"control":        {"loops and conditions work", `local s = "" for i = 1, 5 do if i == 2 then s = s .. "two" elseif i > 3 then break else s = s .. i end end repeat s = s .. "!" until #s > 8 while #s < 11 do s = s .. "?" end return {r = s}`, "1two3!!!!??"},
		"sort":           {"tables are sorted and joined", `local t = {"b", "c", "a"} table.sort(t, function(x, y) return x > y end) table.insert(t, 1, "z") table.insert(t, "y") return {r = table.concat(t, ",")}`, "z,c,b,a,y"},
		"gsub text":      {"matches are replaced by a text with captures", `return {r = string.gsub("a=1, b=2", "(%w)=(%w)", "%2=%1%%%0")}`, "1=a%a=1, 2=b%b=2"},
		"gsub empty":     {"a pattern may match nothing, between all letters", `return {r = (string.gsub("abc", "x*", "-"))}`, "-a-b-c-"},
		"gsub limit":     {"only so many are replaced, and counted", `local s, n = string.gsub("aaa", "a", "b", 2) return {r = s .. n}`, "bba2"},
		"gsub function":  {"a function says what takes the place of a match, or leaves it", `return {r = (string.gsub("abc", "%w", function(c) if c ~= "b" then return c .. c end end))}`, "aabcc"},
		"gsub table":     {"so does a table", `return {r = (string.gsub("a b", "%w", {a = "1"}))}`, "1 b"},
		"gmatch":         {"matches come one after the other", `local s = "" for k, v in string.gmatch("a=1,b=2", "(%w)=(%w)") do s = s .. v .. k end for w in ("x y"):gmatch("%w") do s = s .. w end return {r = s}`, "1a2bxy"},
		"find":           {"texts are found", `local a, b, c = string.find("hello 42", "(%d+)") return {r = a .. b .. c .. tostring(("a.b"):find(".", 1, true))}`, "78422"},
		"format":         {"texts are formatted", `return {r = string.format("%5.2f|%-3d|%s|%%|%q", 1.234, 7, "x", "y")}`, ` 1.23|7  |x|%|"y"`},
		"pcall":          {"errors can be caught", `local ok, err = pcall(function() return nil .. "x" end) return {r = tostring(ok) .. " " .. err}`, "false g/K:1: cannot perform concat operation between nil and string"},
		"time":           {"the time is there, and nothing else of os", `local os = require("os") return {r = type(os.time()) .. os.date("!%Y", 0) .. tostring(os.execute) .. tostring(os.getenv) .. tostring(os.exit)}`, "number1970nilnilnil"},
		"math":           {"so is math", `return {r = math.floor(2.7) .. math.max(1, 3)}`, "23"},
		"no arguments":   {"a chunk has no arguments", `return {r = select("#", ...)}`, "0"},
		"environment":    {"a function may be given other globals", `local function f() x = "a" .. "b" return x end setfenv(f, {}) return {r = f() .. tostring(x)}`, "abnil"},
		"print":          {"what is printed goes nowhere", `print("hello") return {r = "ok"}`, "ok"},
		"collectgarbage": {"nobody collects the garbage of the process", `collectgarbage() return {r = "ok"}`, "ok"},
		"unset":          {"a variable that is not set is nil, also with a name like a library", `return {r = tostring(utf8) .. tostring(hs)}`, "nilnil"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, c.source, lua.Options{OpenLibs: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, fmt.Sprint(got.Fields["r"])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	cases := map[string]struct {
		reason, source string
		closed         bool
		want           string
	}{
		"index":         {"the line and the key are named", "local a = 1\nreturn obj.status.phase", false, "g/K:2: attempt to index a non-table object(nil) with key 'phase'"},
		"store":         {"also where counting stands in between", "\n\nobj.status[1] = 2", false, "g/K:3: attempt to index a non-table object(nil) with key '1'"},
		"concat":        {"also of texts", "return {\n  message = 'a' .. obj.none\n}", false, "g/K:2: cannot perform concat operation between string and nil"},
		"raised":        {"what a script raises", "error('no luck')", false, "g/K:1: no luck"},
		"raised table":  {"a table says nothing", "error({})", false, "g/K: it raised a table"},
		"recursion":     {"functions call each other only so deep", "local function f() return 1 + f() end\nf()", false, "stack overflow"},
		"io":            {"there are no files", "io.open('/etc/passwd')", false, "g/K:1: io is not available to scripts"},
		"dofile":        {"nor other scripts", "dofile('/tmp/x.lua')", false, "g/K:1: dofile is not available to scripts"},
		"loadstring":    {"nor scripts made of texts", "loadstring('return 1')()", false, "g/K:1: loadstring is not available to scripts"},
		"debug":         {"nor a look inside", "debug.getinfo(1)", false, "g/K:1: debug is not available to scripts"},
		"package":       {"nor paths to look for modules", "package.loadlib('x', 'y')", false, "g/K:1: package is not available to scripts"},
		"coroutine":     {"nor threads, which would not be counted", "coroutine.create(print)", false, "g/K:1: coroutine is not available to scripts"},
		"require":       {"nor modules", "require('socket')", false, "g/K:1: module socket is not available to scripts"},
		"execute":       {"nor processes", "os.execute('true')", false, "g/K:1: attempt to call a non-function object"},
		"closed string": {"string is for those it was opened to", "return string.find('a', 'a')", true, "g/K:1: the library string is not available to this script; set useOpenLibs"},
		"closed method": {"and so are its methods", "return ('a'):find('a')", true, "g/K:1: attempt to index a non-table object(string) with key 'find'"},
		"wide format":   {"a width has two digits", "return string.format('%1000d', 1)", false, "g/K:1: invalid format (width or precision too long)"},
		"numbered":      {"arguments come in their order", "return string.format('%[1]s', 'x')", false, "g/K:1: invalid option '%[' to 'format'"},
		"pattern":       {"a pattern that may take for ever is not tried", "return string.find(string.rep('a', 1000), '.-.-.-.-.-.-b')", false, "may take too long"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, c.source, lua.Options{OpenLibs: !c.closed})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
			}
		})
	}
}

func TestCompileErrors(t *testing.T) {
	cases := map[string]struct{ reason, source, want string }{
		"syntax": {"the line and the word are named", "local a = 1\nif a then then", `g/K: line 2: syntax error near "then"`},
		"end":    {"an end is missing", "if true then", "g/K: at the end: syntax error"},
		"goto":   {"the compiler has errors too", "goto nowhere", "nowhere"},
		"long":   {"a script has an end", strings.Repeat("-", 1<<20), "g/K: the script is longer than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := lua.Compile("g/K", c.source, lua.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %q, want %q", c.reason, err, c.want)
			}
		})
	}
}

// TestRunaways runs scripts that would take all memory, or never end, with the budget, and measures what they took.
func TestRunaways(t *testing.T) {
	const most = 8 * lua.DefaultMemory
	cases := map[string]string{
		"endless":           `while true do end`,
		"endless, caught":   `while true do pcall(function() while true do end end) end`,
		"endless, handled":  `local function f() while true do end end while true do xpcall(f, f) end`,
		"doubled text":      `local s = "x" while true do s = s .. s end`,
		"doubled in parts":  `local s = "x" while true do s = "a" .. s .. "b" .. s .. "c" end`,
		"kept texts":        `local t = {} local s = ("x"):rep(1024) for i = 1, 1e9 do t[i] = s .. i end`,
		"joined table":      `local t = {} local s = "x" while true do t = {s, s, s, s} s = table.concat(t, s) end`,
		"repeated":          `return {r = ("x"):rep(1e15)}`,
		"repeated again":    `local s = "x" while true do s = s:rep(1000) end`,
		"formatted":         `local s = "x" while true do s = string.format("%s%s%q", s, s, s) end`,
		"upper":             `local s = ("x"):rep(2^20) local t = {} while true do t[#t + 1] = s:upper() .. "" end`,
		"gsub text":         `local s = "x" while true do s = s:gsub("x", "xx") end`,
		"gsub function":     `local s = ("x"):rep(2^20) return (("y"):rep(1000):gsub("y", function() return s end))`,
		"gsub table":        `local s = ("x"):rep(2^20) return (("y"):rep(1000):gsub("y", {y = s}))`,
		"gmatch":            `local s = ("x"):rep(2^23) for c in s:gmatch(".") do end`,
		"tables":            `local t = {} while true do t = {t, a = 1} end`,
		"tables with keys":  `local t = {} while true do local u = {} u.x = 1 t[#t + 1] = u end`,
		"functions":         `local t = {} while true do t[#t + 1] = function() return t end end`,
		"far item":          `local t = {} for i = 1, 1000 do t[i] = {} t[i][60000000] = 1 end`,
		"far item, several": `local t, a = {} t[60000000], a = 1, 2`,
		"far item, made":    `local t = {} for i = 1, 1000 do t[i] = {[60000000] = 1} end`,
		"far item, raw":     `rawset({}, 60000000, 1)`,
		"far item, put in":  `table.insert({}, 60000000, 1)`,
		"many items":        `local t = {} while true do t[#t + 1] = 1 end`,
		"many keys":         `local t, i = {}, 0 while true do i = i + 1 t["k" .. i] = i end`,
		"put in":            `local t = {} while true do table.insert(t, 1) end`,
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := run(t, source, lua.Options{OpenLibs: true})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, lua.ErrMemory) && !errors.Is(err, lua.ErrTime) {
				t.Errorf("it ended with %v (%v), want the end of its budget", err, got)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "g/K:1: it ") {
				t.Errorf("error %q does not name the script and the line", err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("it took %d MiB, want %d at most", took>>20, most>>20)
			}
		})
	}
}

func TestTime(t *testing.T) {
	_, err := run(t, "while true do end", lua.Options{Time: 1, Memory: 1 << 50})
	if !errors.Is(err, lua.ErrTime) {
		t.Errorf("a script that runs for too long ends with %v", err)
	}
	script, err := lua.Compile("g/K", "while true do end", lua.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := script.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a script that is not wanted any more ends with %v", err)
	}
}

// TestRunsShareNothing runs one script many times at once. Each leaves behind what the next must not see.
func TestRunsShareNothing(t *testing.T) {
	script, err := lua.Compile("g/K", `
		n = (n or 0) + 1
		string.left = (string.left or 0) + 1
		getmetatable("").mark = (getmetatable("").mark or 0) + 1
		obj.n = obj.n + 1
		return {n = n, text = string.left, meta = getmetatable("").mark, obj = obj.n}`, lua.Options{OpenLibs: true})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"n": int64(0)}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				got, err := script.Run(t.Context(), object)
				if err != nil {
					t.Error(err)
					return
				}
				if diff := cmp.Diff(map[string]any{"n": 1.0, "text": 1.0, "meta": 1.0, "obj": 1.0}, got.Fields); diff != "" {
					t.Errorf("something was left by another run (-want +got):\n%s", diff)
				}
			}
		})
	}
	wait.Wait()
}

func TestValues(t *testing.T) {
	cases := map[string]struct {
		reason, source string
		want           lua.Value
	}{
		"table":   {"fields that hold something plain are taken", `return {a = "x", b = 1, c = true, d = {}, [1] = "y"}`, lua.Value{Type: "table", Fields: map[string]any{"a": "x", "b": 1.0, "c": true}}},
		"nothing": {"a script may return nothing", `local a = 1`, lua.Value{Type: "nil"}},
		"text":    {"or something else", `return "Healthy"`, lua.Value{Type: "string"}},
		"several": {"only the first counts", `return {a = "x"}, 2`, lua.Value{Type: "table", Fields: map[string]any{"a": "x"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, c.source, lua.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
