package helm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/egress"
)

// TestSchemaElsewhere has a schema refer to a server of this machine, which is asked where the chart is that of the person who renders it.
func TestSchemaElsewhere(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached++
		_, _ = w.Write([]byte(`{"type": "object"}`))
	}))
	defer server.Close()
	c := loaded(t, map[string]string{"Chart.yaml": metadata, "values.schema.json": `{"$ref": "` + server.URL + `/schema.json"}`})
	for name, of := range map[string]egress.Run{"Own": {}, "Remote": {Remote: true}} {
		policy, err := of.Policy()
		if err != nil {
			t.Fatal(err)
		}
		before := reached
		err = validate(t.Context(), Common{Chart: c, Values: Values{}, Egress: policy.Fetches}, nil)
		if (err != nil) != of.Remote || of.Remote && !strings.Contains(err.Error(), "the address is not permitted") || (reached > before) == of.Remote {
			t.Errorf("%s: %v, reached %d times", name, err, reached-before)
		}
	}
}
