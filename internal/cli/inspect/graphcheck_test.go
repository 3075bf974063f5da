package inspect

import (
	"encoding/base64"
	"testing"

	"github.com/headgate-dev/headgate/internal/dialect"
)

func TestHoldsMark(t *testing.T) {
	cases := map[string]struct {
		reason string
		value  any
		want   bool
	}{
		"text":    {reason: "a value that was encrypted", value: map[string]any{"spec": []any{map[string]any{"host": "a." + dialect.Mark + "domain"}}}, want: true},
		"secret":  {reason: "a value of a Secret", value: map[string]any{"data": map[string]any{"k": base64.StdEncoding.EncodeToString([]byte(dialect.Mark + "k"))}}, want: true},
		"another": {reason: "any other value", value: map[string]any{"spec": []any{"encrypted", int64(1), nil, true}, "data": "ZW5jcnlwdA=="}},
	}
	for name, c := range cases {
		if got := holdsMark(c.value); got != c.want {
			t.Errorf("%s: %s: %v, want %v", name, c.reason, got, c.want)
		}
	}
}
