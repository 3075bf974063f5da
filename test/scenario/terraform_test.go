package scenario

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/kit"
)

// terraforms has one apply of the module take a cluster to what Git says, and another one change nothing.
func terraforms(t *testing.T, o *operated) {
	terraform := ""
	for _, name := range []string{"tofu", "terraform"} {
		if found, err := exec.LookPath(name); err == nil {
			terraform = found
			break
		}
	}
	if terraform == "" {
		t.Skip("neither tofu nor terraform is here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../../deploy/terraform")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "terraformrc"), "")
	writeFile(t, filepath.Join(dir, "main.tf"), fmt.Sprintf(`module "headgate" {
  source            = %q
  kubeconfig        = %q
  repository        = %q
  path              = "clusters/demo"
  git_username      = %q
  git_password_file = %q
  age_key_file      = %q
  headgate          = %q
  timeout           = "3m"
}
`, module, o.kit.Plane.Kubeconfig(), o.url, kit.User, filepath.Join(o.secrets, "password"), filepath.Join(o.secrets, "age.agekey"), self))
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), terraform, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asCommand+"=1", "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "terraformrc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v:\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	command("init", "-input=false", "-no-color")
	command("validate", "-no-color")
	said := command("apply", "-input=false", "-auto-approve", "-no-color")
	if !strings.Contains(said, "matches Git") {
		t.Errorf("apply says:\n%s", said)
	}
	if said := command("plan", "-input=false", "-no-color", "-detailed-exitcode"); !strings.Contains(said, "No changes") {
		t.Errorf("a second plan says:\n%s", said)
	}
	state, err := os.ReadFile(filepath.Join(dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{kit.Token, "AGE-SECRET-KEY"} {
		if strings.Contains(string(state), secret) {
			t.Errorf("a secret is in the state")
		}
	}
	command("destroy", "-input=false", "-auto-approve", "-no-color")
}
