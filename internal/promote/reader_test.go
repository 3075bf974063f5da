package promote

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// TestWithhold has values of Secrets removed from what a step says and puts out, in the forms that expressions give them.
func TestWithhold(t *testing.T) {
	secrets := map[string]string{"object": `{"user":"ann-the-user","password":"hunt\"er2","pin":54321}`, "number": "1234567", "text": "it's a word"}
	scope := &expressions.Scope{Read: func(expressions.Kind, string) (map[string]any, error) {
		data := map[string]any{}
		for key, value := range secrets {
			data[key] = value
		}
		return data, nil
	}}
	config, err := expressions.Config(v1alpha1.Config{
		"object": "${{ secret('s', 'object') }}", "number": "${{ secret('s', 'number') }}", "all": "${{ secret('s') }}", "quoted": "${{ quote(secret('s', 'object')) }}",
		"yaml": "${{ asYAML(secret('s')) }}", "json": "${{ asJSON(secret('s')) }}", "base64": "${{ toBase64('x:' + secret('s', 'text') + ':y') }}",
		"leaf": "${{ fromJSON(secret('s', 'object')).password }}", "pin": "${{ fromJSON(secret('s', 'object')).pin }}", "words": "see ${{ secret('s', 'text') }}", "own": "a word",
	}, scope)
	if err != nil {
		t.Fatal(err)
	}
	shown, _ := json.Marshal(config)
	read := &reader{values: map[string]bool{}}
	for _, value := range secrets {
		read.values[value] = true
	}
	result := read.withhold(steps.Result{
		Outcome: plan.Outcome{
			Status: plan.StepSucceeded, Message: "the server says " + string(shown),
			HealthChecks: []v1alpha1.HealthCheckStep{{Uses: argocdUpdate, Config: v1alpha1.Config{"apps": []any{map[string]any{"name": "it's a word"}}}}},
		},
		Output: config,
	})
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"ann-the-user", "hunt", "54321", "1234567", "it's a", base64.StdEncoding.EncodeToString([]byte("it's a word"))[4:12]} {
		if strings.Contains(string(data), never) {
			t.Errorf("%q is in %s", never, data)
		}
	}
	if result.Output["own"] != "a word" || result.Output["words"] != "see …" || result.Output["number"] != "…" || result.Status != plan.StepSucceeded {
		t.Errorf("the result is %s", data)
	}
}

// TestWithholdKept has a step fail whose result later steps need, and which has a value of a Secret in it: it would be shown.
func TestWithholdKept(t *testing.T) {
	const value = "a-word"
	succeeded := plan.Outcome{Status: plan.StepSucceeded}
	refused := plan.Outcome{Status: plan.StepErrored, Terminal: true, Message: errKept.Error()}
	for name, c := range map[string]struct {
		checkout steps.Checkout
		want     plan.Outcome
	}{
		"Nothing of it": {steps.Checkout{URL: "https://git.example.com/a", Branch: "main", Head: "a-word"}, succeeded},
		"Address":       {steps.Checkout{URL: "https://git.example.com/a-word"}, refused},
		"Branch":        {steps.Checkout{Branch: "of-a-word"}, refused},
		"Author":        {steps.Checkout{AuthorEmail: "a-word@example.com"}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			read := &reader{values: map[string]bool{value: true, "m": true}}
			got := read.withhold(steps.Result{Outcome: succeeded, State: steps.State{Checkouts: map[string]steps.Checkout{"out": c.checkout}}})
			if diff := cmp.Diff(c.want, got.Outcome); diff != "" {
				t.Error(diff)
			}
		})
	}
}
