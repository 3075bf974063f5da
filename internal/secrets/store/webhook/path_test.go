package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store/webhook"
)

// TestSelect has each way in which a path selects no value be a problem of its own.
func TestSelect(t *testing.T) {
	const answer = `{"a":[],"n":null,"l":[{"x":1.5},2]}`
	for name, tc := range map[string]struct {
		query webhook.Query
		want  webhook.Selected
	}{
		"List":      {webhook.Query{Path: "$.l"}, webhook.Selected{Value: []byte(`[{"x":1.5},2]`)}},
		"First":     {webhook.Query{Path: "$.l", First: true}, webhook.Selected{Value: []byte(`{"x":1.5}`)}},
		"Several":   {webhook.Query{Path: "$..x", First: true}, webhook.Selected{Value: []byte("1.5")}},
		"Nothing":   {webhook.Query{Path: "$.z"}, webhook.Selected{Problem: webhook.Nothing}},
		"Empty":     {webhook.Query{Path: "$.a", First: true}, webhook.Selected{Problem: webhook.EmptyList}},
		"Null":      {webhook.Query{Path: "$.n"}, webhook.Selected{Problem: webhook.Null}},
		"Malformed": {webhook.Query{Answer: []byte("{"), Path: "$.n"}, webhook.Selected{Problem: webhook.Malformed}},
	} {
		if tc.query.Answer == nil {
			tc.query.Answer = []byte(answer)
		}
		got, err := webhook.Select(tc.query)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}
