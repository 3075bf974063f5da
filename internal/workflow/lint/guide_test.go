package lint

import (
	"os"
	"strings"
	"testing"
)

// TestGuide has the guide name every field that is refused.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide/workflows.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## What is refused\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var refused []string
	for _, typ := range later {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			refused = append(refused, name)
		}
	}
	for _, fields := range others {
		for name := range fields {
			refused = append(refused, name)
		}
	}
	if len(refused) < 20 {
		t.Fatalf("only %d refused fields were found", len(refused))
	}
	for _, name := range refused {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("the guide does not say that %q is refused", name)
		}
	}
}
