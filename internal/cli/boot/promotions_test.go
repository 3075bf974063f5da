package boot

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// TestForeignPromotions is about whose promotions are carried out: those of others only by a word of the person.
func TestForeignPromotions(t *testing.T) {
	const url = "https://token@example.com/x.git"
	for name, c := range map[string]struct {
		path     string
		packages []string
		serve    []string
		on, word bool
		want     string
	}{
		"Directory":             {path: ".", on: true},
		"Package":               {packages: []string{"./platform"}, on: true},
		"URL without":           {path: url},
		"URL":                   {path: url, on: true, want: "--promotions: the repository is elsewhere"},
		"SSH":                   {path: "ssh://git@example.com/x.git", on: true, want: "permit it by --allow-remote-promotions"},
		"URL and the word":      {path: url, on: true, word: true},
		"Package of a URL":      {packages: []string{"https://github.com/cnoe-io/stacks//basic"}, on: true, want: "--promotions: the repository is elsewhere"},
		"Beside a directory":    {path: ".", packages: []string{"https://github.com/cnoe-io/stacks//basic"}, on: true, want: "--promotions: the repository is elsewhere"},
		"Served by URL":         {path: url, serve: []string{"flux", "kargo"}, want: "--serve kargo: the repository is elsewhere"},
		"One group":             {path: url, serve: []string{"kargo.akuity.io"}, want: "--serve kargo: the repository is elsewhere"},
		"Others served by URL":  {path: url, serve: []string{"flux"}},
		"Served and the word":   {path: url, serve: []string{"kargo"}, word: true},
		"Served of a directory": {path: ".", serve: []string{"kargo"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &console.Globals{Catalogue: dialects.All()}
			g.Bind(&cobra.Command{})
			o := &upOptions{Globals: g, path: c.path, packages: c.packages}
			o.serving = serving{serve: c.serve, poll: time.Minute, argoNamespace: "argocd"}
			o.promotions = promotions{on: c.on, foreign: c.word}
			if err := o.serving.check(o.Catalogue); err != nil {
				t.Fatal(err)
			}
			err := o.promotions.permitted(o)
			if (err != nil) != (c.want != "") || c.want != "" && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token@")) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
