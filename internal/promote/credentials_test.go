package promote

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// TestForRepository has credentials go to the repositories that their Secret names, and to no address that only has such a name in it.
func TestForRepository(t *testing.T) {
	const git, team = v1alpha1.GitCredentials, `https://git\.example\.com/team/.*`
	for name, c := range map[string]struct {
		kind, of, address string
		pattern, want     bool
		fails             string
	}{
		"Address":          {kind: git, of: "https://git.example.com/a", address: "https://GIT.example.com/a.git", want: true},
		"Other address":    {kind: git, of: "https://git.example.com/a", address: "https://git.example.com/ab"},
		"No address":       {kind: git, address: "https://git.example.com/a"},
		"Not a pattern":    {kind: git, of: team, address: "https://git.example.com/team/a"},
		"Pattern":          {kind: git, pattern: true, of: team, address: "https://git.example.com/team/a.git", want: true},
		"Anchors":          {kind: git, pattern: true, of: "^" + team + "$", address: "https://git.example.com/team/a", want: true},
		"Alternatives":     {kind: git, pattern: true, of: `https://a\.example/.*|https://b\.example/.*`, address: "https://b.example/x", want: true},
		"Image":            {kind: v1alpha1.ImageCredentials, pattern: true, of: `ghcr\.io/team/.*`, address: "ghcr.io/team/shop", want: true},
		"Beginning only":   {kind: git, pattern: true, of: "^https://git.example.com", address: "https://git.example.com/team/a"},
		"Beginning of a":   {kind: git, pattern: true, of: `https://git\.example\.com`, address: "https://git.example.com.evil.example/a"},
		"In the path":      {kind: git, pattern: true, of: team, address: "https://evil.example/https://git.example.com/team/a"},
		"In the query":     {kind: git, pattern: true, of: team, address: "https://evil.example/a?https://git.example.com/team/a"},
		"In the fragment":  {kind: git, pattern: true, of: team, address: "https://evil.example/a#https://git.example.com/team/a"},
		"An end":           {kind: git, pattern: true, of: `team/a$`, address: "https://evil.example/team/a"},
		"Alternative's":    {kind: git, pattern: true, of: `https://a\.example/.*|https://b\.example/.*`, address: "https://evil.example/https://b.example/x"},
		"Another line":     {kind: git, pattern: true, of: "(?m)^" + team + "$", address: "https://evil.example/\nhttps://git.example.com/team/a"},
		"Image in another": {kind: v1alpha1.ImageCredentials, pattern: true, of: `ghcr\.io/team/.*`, address: "evil.example/ghcr.io/team/shop"},
		"Open group":       {kind: git, pattern: true, of: `x)|(.*`, address: "https://evil.example/a", fails: "not a valid regular expression"},
		"Long":             {kind: git, pattern: true, of: strings.Repeat("a", maxExpression+1), address: "a", fails: "is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{Data: map[string][]byte{"repoURL": []byte(c.of)}}
			if c.pattern {
				secret.Data["repoURLIsRegex"] = []byte("true")
			}
			got, err := forRepository(secret, c.kind, c.address)
			if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q for %s: %v, %v; want %v, %q", c.of, c.address, got, err, c.want, c.fails)
			}
		})
	}
}
