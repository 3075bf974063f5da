package release

import "testing"

func TestTwinsExclude(t *testing.T) {
	engine, admin := twin{}, twin{home: true}
	home, foreign := twin{user: "a:x", home: true}, twin{user: "b:x"}
	for name, c := range map[string]struct {
		reason     string
		one, other twin
		// first and second report whether the one, and the other, is refused.
		first, second bool
	}{
		"same account":      {"an account that declares it twice would undo its own work", foreign, foreign, true, true},
		"engine twice":      {"so would the engine, wherever the storage is", engine, admin, true, true},
		"one namespace":     {"accounts of the namespace of the storage may both write it", home, twin{user: "a:y", home: true}, true, true},
		"from elsewhere":    {"a name is no right: who declares a release of another namespace is refused alone", home, foreign, false, true},
		"engine elsewhere":  {"a tenant does not keep out what is made with the rights of the engine", engine, home, false, true},
		"engine at home":    {"nor does one of another namespace", admin, foreign, false, true},
		"both from outside": {"the server says which of the accounts may write there", foreign, twin{user: "c:x"}, false, false},
	} {
		if first, second := c.other.excludes(c.one), c.one.excludes(c.other); first != c.first || second != c.second {
			t.Errorf("%s: %s: refused are %t and %t, want %t and %t", name, c.reason, first, second, c.first, c.second)
		}
	}
}
