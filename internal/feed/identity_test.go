package feed

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/source"
)

// TestIdentity has what decides on what a server gives, and on what is believed of it, tell remotes apart; and nothing else.
func TestIdentity(t *testing.T) {
	http := source.GitOptions{URL: "https://git.example/app.git", Username: "ann", Password: "secret"}
	ssh := source.GitOptions{URL: "ssh://git@git.example/app.git", Identity: []byte("key"), KnownHosts: []byte("hosts")}
	app := source.GitOptions{URL: "https://git.example/app.git", App: &source.App{AppConfig: source.AppConfig{ID: "1", InstallationID: "2", PrivateKey: "key"}}}
	ignored := "*.md"
	cases := map[string]struct {
		reason string
		of     source.GitOptions
		change func(*source.GitOptions)
		same   bool
	}{
		"nothing":        {"the same is the same", http, func(*source.GitOptions) {}, true},
		"selection":      {"what is selected of a commit is done with what was fetched", http, func(o *source.GitOptions) { o.Sparse, o.Ignore = []string{"a"}, &ignored }, true},
		"reference":      {"a remote has all references", http, func(o *source.GitOptions) { o.Ref = source.GitRef{Tag: "v1"} }, true},
		"signature":      {"signatures are verified for each reader", http, func(o *source.GitOptions) { o.Verify = &source.Verification{Commit: true} }, true},
		"submodules":     {"submodules are fetched for each reader", http, func(o *source.GitOptions) { o.RecurseSubmodules = true }, true},
		"known hosts":    {"no SSH is used over https", http, func(o *source.GitOptions) { o.KnownHosts = []byte("hosts") }, true},
		"empty":          {"empty is none", http, func(o *source.GitOptions) { o.CAFile, o.ClientCert = []byte{}, []byte{} }, true},
		"URL":            {"a server may tell apart what looks alike", http, func(o *source.GitOptions) { o.URL = "https://git.example/app" }, false},
		"login in URL":   {"a login in the URL is one", http, func(o *source.GitOptions) { o.URL = "https://ann:other@git.example/app.git" }, false},
		"username":       {"another user may read something else", http, func(o *source.GitOptions) { o.Username = "bob" }, false},
		"password":       {"a wrong password gets nothing", http, func(o *source.GitOptions) { o.Password = "wrong" }, false},
		"none":           {"nor does none", http, func(o *source.GitOptions) { o.Username, o.Password = "", "" }, false},
		"moved":          {"where a part ends matters", http, func(o *source.GitOptions) { o.Username, o.Password = "anns", "ecret" }, false},
		"token":          {"a token is a login", http, func(o *source.GitOptions) { o.BearerToken = "token" }, false},
		"authority":      {"who trusts less gets nothing by who trusts more", http, func(o *source.GitOptions) { o.CAFile = []byte("pem") }, false},
		"certificate":    {"a certificate is a login", http, func(o *source.GitOptions) { o.ClientCert, o.ClientKey = []byte("pem"), []byte("key") }, false},
		"proxy":          {"so is a proxy", http, func(o *source.GitOptions) { o.Proxy = "http://proxy.example" }, false},
		"SSH":            {"the same is the same over SSH", ssh, func(*source.GitOptions) {}, true},
		"SSH key":        {"a key is a login", ssh, func(o *source.GitOptions) { o.Identity = []byte("other") }, false},
		"SSH passphrase": {"who cannot open a key does not have it", ssh, func(o *source.GitOptions) { o.Password = "wrong" }, false},
		"SSH hosts":      {"hosts are trusted by each reader", ssh, func(o *source.GitOptions) { o.KnownHosts = []byte("others") }, false},
		"App":            {"an App is the same no matter who holds its token", app, func(o *source.GitOptions) { o.App = &source.App{AppConfig: o.App.AppConfig} }, true},
		"App key": {"its key is its login", app, func(o *source.GitOptions) {
			c := o.App.AppConfig
			c.PrivateKey = "other"
			o.App = &source.App{AppConfig: c}
		}, false},
	}
	f := New()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			other := c.of
			c.change(&other)
			if same := f.gitIdentity(c.of) == f.gitIdentity(other); same != c.same {
				t.Errorf("%s: they are the same: %v", c.reason, same)
			}
		})
	}
	if f.gitIdentity(http) == New().gitIdentity(http) {
		t.Error("the digest of credentials is the same in every process")
	}
}
