package settings

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestSecretsAreHidden(t *testing.T) {
	const word = "hunter2"
	login := Login{Password: NewSecret(word)}
	shown := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown[verb] = fmt.Sprintf(verb, struct{ Login *Login }{&login}) + fmt.Sprintf(verb, login)
	}
	asJSON, err := json.Marshal(login)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(login)
	if err != nil {
		t.Fatal(err)
	}
	shown["JSON"], shown["YAML"] = string(asJSON), string(asYAML)
	for how, text := range shown {
		if strings.Contains(text, word) || strings.Contains(text, fmt.Sprintf("%x", word)) {
			t.Errorf("%s shows the password: %s", how, text)
		}
	}
	if login.Password.Reveal() != word || !login.Password.IsSet() || login.Username.IsSet() {
		t.Error("who signs in does not get the password")
	}
}
