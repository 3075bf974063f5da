package source

import (
	"slices"
	"strings"
	"testing"
)

// FuzzIgnore reads ignore rules: what a rule leaves out does not depend on rules that name nothing.
func FuzzIgnore(f *testing.F) {
	for _, seed := range []string{"*.md\n!keep.md", "/dir/\n**/x", "[", "\\", "!", "# x\n\n  ", strings.Repeat("*", 50) + "a"} {
		f.Add(seed, "dir/x.md")
	}
	f.Fuzz(func(t *testing.T, rules, path string) {
		if path == "" || strings.HasPrefix(path, "/") || len(rules) > 4000 {
			return
		}
		one := matching(ignorePatterns(rules, nil))
		if one.leaveOut(path) != matching(ignorePatterns(rules+"\n# nothing\n", nil)).leaveOut(path) {
			t.Errorf("a comment changes what %q leaves out", rules)
		}
	})
}

// FuzzNewestVersion selects a version of a range: one of those that there are.
func FuzzNewestVersion(f *testing.F) {
	f.Add("1.0.0 v1.2.0 2.0.0-rc.1", "^1")
	f.Add("1 2 3", "*")
	f.Add("x 1.0.0+meta", ">=0 <2 || 5.x")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, list, text string) {
		names := strings.Fields(list)
		if got, err := newestVersion(names, text); err == nil && !slices.Contains(names, got) {
			t.Errorf("%q is none of %q", got, names)
		}
	})
}

// FuzzDockerConfig reads logins of registries: no error shows a password.
func FuzzDockerConfig(f *testing.F) {
	f.Add(`{"auths":{"ghcr.io":{"auth":"dXNlcjpodW50ZXIyaHVudGVyMg=="}}}`)
	f.Add(`{"auths":{"https://index.docker.io/v1/":{"username":"u","password":"hunter2hunter2"}}}`)
	f.Add(`{"auths":{"x":{"auth":"hunter2hunter2"}}}`)
	f.Add(`{"auths":{"x":"hunter2hunter2"}}`)
	f.Add(`{"credsStore":"pass"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readDockerConfig([]byte(text))
		switch {
		case err != nil && strings.Contains(err.Error(), "hunter2hunter2"):
			t.Errorf("an error shows a password: %v", err)
		case err == nil && slices.Contains(c.secrets(), text):
			t.Errorf("%q is a login, and a password", text)
		}
	})
}
