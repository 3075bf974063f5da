package wrapper

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestConceal runs a program beside Secrets of artifacts: they are neither in its environment, nor can the one of the wrapper be read by its user.
func TestConceal(t *testing.T) {
	defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }()
	t.Setenv(SecretVariable("login", "password"), "hidden")
	code, printed, err := execute(&Task{Result: true}, []string{"--", "sh", "-c", "env; true"})
	if err != nil || code != 0 || len(printed) == 0 {
		t.Fatalf("exit code %d, %q, %v", code, printed, err)
	}
	if strings.Contains(string(printed), "hidden") {
		t.Errorf("the program gets the Secret: %q", printed)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("other processes of the user can read the environment: %d, %v", dumpable, err)
	}
}
