package scenario

import (
	"os"
	"testing"
)

func TestDumpEstate(t *testing.T) {
	if d := os.Getenv("ESTATE"); d != "" {
		newEstate().write(t, d)
	}
}
