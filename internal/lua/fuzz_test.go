package lua

import (
	"testing"
	"time"
)

// FuzzRun runs scripts over an object: they end in time, within their memory, and do not change the object.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		"hs = {} hs.status = 'Healthy' return hs", "while true do end", "local t = {} for i = 1, 1e9 do t[i] = i end", "return string.rep('x', 1e9)", "obj.status.phase = 'x' return obj",
		"local s = 'x' while true do s = s .. s end", "return os.getenv('HOME')", "return require('io')", "local function f() return f() end return f()", "return string.format('%d', 'x')",
		"return setmetatable({}, {__index = function(t, k) return t[k] end}).x", "return string.find(string.rep('a', 100), string.rep('a*', 30) .. 'b')", "goto x ::x:: return 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Compile("fuzz", text, Options{Time: 200 * time.Millisecond, Memory: 8 << 20})
		if err != nil {
			return
		}
		object := map[string]any{"status": map[string]any{"phase": "Ready"}}
		began := time.Now()
		_, _ = s.Run(t.Context(), object)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q takes %s", text, took)
		}
		if status, ok := object["status"].(map[string]any); !ok || status["phase"] != "Ready" {
			t.Errorf("%q changes the object: %v", text, object)
		}
	})
}
