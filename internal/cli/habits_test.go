package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialects"
)

// TestAccustomed takes the words of the argocd and of the flux command.
func TestAccustomed(t *testing.T) {
	for typed, want := range map[string]string{
		"app list":                           "get app",
		"app get web -n argocd":              "get app web -n argocd",
		"app sync web --prune":               "sync app web --prune",
		"app terminate-op web":               "terminate app web",
		"app nonsense":                       "app nonsense",
		"get kustomizations":                 "get kustomizations",
		"get sources git":                    "get git",
		"get source all -n x":                "get all -n x",
		"get image policy":                   "get imgpol",
		"get image all":                      "get images",
		"reconcile source git flux-system":   "reconcile git flux-system",
		"reconcile ks apps --with-source":    "reconcile ks apps --with-source",
		"suspend image update fleet":         "suspend imgupd fleet",
		"get source --help":                  "get source --help",
		"--context x --state-dir=y app list": "--context x --state-dir=y get app",
		"--kubeconfig x get source git a":    "--kubeconfig x get git a",
		"--version":                          "--version",
		"--help app":                         "--help app",
		"up":                                 "up",
		"why source git":                     "why source git",
	} {
		if diff := cmp.Diff(want, strings.Join(accustomed(strings.Fields(typed)), " ")); diff != "" {
			t.Errorf("headgate %s (-want +got):\n%s", typed, diff)
		}
	}
}

// TestGroups has each verb in a group of the help.
func TestGroups(t *testing.T) {
	root := NewCommand(console.IO{}, dialects.All())
	for _, cmd := range root.Commands() {
		if cmd.GroupID == "" && !cmd.Hidden && cmd.Name() != "help" && cmd.Name() != "completion" {
			t.Errorf("headgate %s is in no group of the help", cmd.Name())
		}
	}
}
