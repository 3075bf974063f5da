package boot

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
)

// TestLog logs as the controller does.
func TestLog(t *testing.T) {
	lines := func(level, encoding string) []map[string]any {
		t.Helper()
		var text bytes.Buffer
		handler, err := newLogHandler(&text, level, encoding)
		if err != nil {
			t.Fatal(err)
		}
		log := logr.FromSlogHandler(handler)
		log.V(1).Info("small")
		log.Info("large", "kind", "Kustomization")
		log.Error(errors.New("broken"), "bad")
		slog.New(handler).Warn("odd")
		var out []map[string]any
		for line := range bytes.Lines(text.Bytes()) {
			entry := map[string]any{}
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if entry["ts"] == nil {
				t.Errorf("%q has no time", line)
			}
			delete(entry, "ts")
			out = append(out, entry)
		}
		return out
	}
	small := map[string]any{"level": "debug", "msg": "small"}
	large := map[string]any{"level": "info", "msg": "large", "kind": "Kustomization"}
	bad := map[string]any{"level": "error", "msg": "bad", "error": "broken"}
	odd := map[string]any{"level": "warn", "msg": "odd"}
	for level, want := range map[string][]map[string]any{
		"debug": {small, large, bad, odd}, "info": {large, bad, odd}, "error": {bad},
	} {
		if diff := cmp.Diff(want, lines(level, "json")); diff != "" {
			t.Errorf("%s\n%s", level, diff)
		}
	}
	for _, wrong := range [][2]string{{"trace", "json"}, {"info", "xml"}} {
		if _, err := newLogHandler(&bytes.Buffer{}, wrong[0], wrong[1]); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
