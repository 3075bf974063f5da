package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMergeLines(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n"
	for name, c := range map[string]struct {
		ours, theirs, want string
		agreed             bool
	}{
		"Apart":             {"a\n2\n3\n4\n5\n", "1\n2\n3\n4\nb\n", "a\n2\n3\n4\nb\n", true},
		"Neighbours":        {"1\na\n3\n4\n5\n", "1\n2\nb\n4\n5\n", "", false},
		"The same line":     {"1\na\n3\n4\n5\n", "1\nb\n3\n4\n5\n", "", false},
		"The same change":   {"1\na\n3\n4\n5\n", "1\na\n3\n4\n5\n", "1\na\n3\n4\n5\n", true},
		"One the same":      {"1\na\n3\n4\n5\n", "1\na\n3\n4\n6\n", "1\na\n3\n4\n6\n", true},
		"Insertions":        {"0\n1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n", true},
		"In the same place": {"1\n2\na\n3\n4\n5\n", "1\n2\nb\n3\n4\n5\n", "", false},
		"Deleted, changed":  {"1\n3\n4\n5\n", "1\nb\n3\n4\n5\n", "", false},
		"No end of line":    {"a\n2\n3\n4\n5\n", "1\n2\n3\n4\n5", "a\n2\n3\n4\n5", true},
		"All gone, changed": {"", "1\n2\n3\n4\nb\n", "", false},
		"Binary":            {"a\n2\n3\n4\n5\n", "1\n2\n3\n4\n\x00\n", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, agreed := mergeLines(base, c.ours, c.theirs)
			if got != c.want || agreed != c.agreed {
				t.Errorf("it is %q (%v), want %q (%v)", got, agreed, c.want, c.agreed)
			}
		})
	}
}

// TestMergeLinesAsGit merges random changes as git merge-file does.
func TestMergeLinesAsGit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	conflicts := 0
	for round := range 60 {
		base := make([]string, 12)
		for i := range base {
			base[i] = fmt.Sprintf("line %d", i)
		}
		change := func(side string) string {
			var lines []string
			for i, line := range base {
				switch random.IntN(14) {
				case 0:
				case 1:
					lines = append(lines, side, line)
				case 2:
					lines = append(lines, fmt.Sprintf("%s %d", side, i))
				default:
					lines = append(lines, line)
				}
			}
			return strings.Join(lines, "\n") + "\n"
		}
		before, ours, theirs := strings.Join(base, "\n")+"\n", change("ours"), change("theirs")
		dir := t.TempDir()
		for name, text := range map[string]string{"base": before, "ours": ours, "theirs": theirs} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.CommandContext(t.Context(), "git", "merge-file", "-p", "-q", "ours", "base", "theirs")
		command.Dir = dir
		want, err := command.Output()
		got, agreed := mergeLines(before, ours, theirs)
		if agreed != (err == nil) || agreed && got != string(want) {
			t.Errorf("round %d: it is %v\n%s\nwant %v\n%s\nof\n%s\nand\n%s", round, agreed, got, err, want, ours, theirs)
		}
		if !agreed {
			conflicts++
		}
	}
	if conflicts == 0 || conflicts == 60 {
		t.Errorf("%d of the rounds are conflicts", conflicts)
	}
}
