package scenario

import (
	"bytes"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/cli"
)

// ends has the Promotion in progress of a Stage ended by the command, which exits with a code and says a text.
func (p *pipelined) ends(t *testing.T, stage string, code int, text string) {
	t.Helper()
	var out bytes.Buffer
	args := []string{"promote", "shop/" + stage, "--abort", "--kubeconfig", p.kit.Plane.Kubeconfig()}
	got := cli.Main(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: &out, Err: &out, Child: true})
	if got != code || !strings.Contains(out.String(), text) {
		t.Fatalf("headgate promote shop/%s --abort: exit code %d, want %d, and %q in:\n%s", stage, got, code, text, out.String())
	}
}
