package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
)

func TestCredentials(t *testing.T) {
	const simulated = "http://127.0.0.1:4444"
	for name, tc := range map[string]struct {
		reason, data   string
		endpoint, fail string
	}{
		"Bare":      {"the classic provider stores the token alone", "dop_v1_abc", "https://api.digitalocean.com/", ""},
		"Line":      {"a file ends with a line break", "dop_v1_abc\n", "https://api.digitalocean.com/", ""},
		"Quoted":    {"a value that was quoted once too often", "'dop_v1_abc'", "https://api.digitalocean.com/", ""},
		"JSON":      {"upjet stores an object", `{"token":"dop_v1_abc","spaces_access_id":"x"}`, "https://api.digitalocean.com/", ""},
		"Endpoint":  {"an API that is permitted", `{"token":"dop_v1_abc","api_endpoint":"http://127.0.0.1:4444"}`, "http://127.0.0.1:4444/", ""},
		"Usual":     {"the usual API by name", `{"token":"dop_v1_abc","api_endpoint":"https://api.digitalocean.com"}`, "https://api.digitalocean.com/", ""},
		"Elsewhere": {"an address that a tenant chose", `{"token":"dop_v1_abc","api_endpoint":"http://169.254.169.254/"}`, "", "api_endpoint is not an API that this engine may call"},
		"Below":     {"a path below one that is permitted", `{"token":"dop_v1_abc","api_endpoint":"http://127.0.0.1:4444/x"}`, "", "api_endpoint is not an API that this engine may call"},
		"Empty":     {"nothing", " \n", "", "no token"},
		"NoToken":   {"an object without one", `{"api_endpoint":"http://127.0.0.1:4444"}`, "", "no token"},
		"Broken":    {"an object that is cut off", `{"token":"dop_v1_abc"`, "", "not valid JSON"},
		"Type":      {"a token that is not a string", `{"token":{"dop_v1_abc":1}}`, "", "not valid JSON"},
		"Inside":    {"a token that would end the header", "dop_v1_abc\r\nX-Other: 1", "", "characters that no token has"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := api.ParseCredentials([]byte(tc.data), simulated)
			if tc.fail != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fail) || strings.Contains(err.Error(), "abc") {
					t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.fail)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			account := api.NewAccounts(api.Options{}).Of(c)
			if got := account.Endpoint().String(); got != tc.endpoint {
				t.Errorf("%s: for %s, want %s", tc.reason, got, tc.endpoint)
			}
			holder := struct {
				Name string
				of   api.Credentials
			}{"x", c}
			client := account.Client("Droplet")
			for _, printed := range []string{
				fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%+v", holder), fmt.Sprintf("%#v", holder),
				fmt.Sprintf("%+v", account), fmt.Sprintf("%#v", account), fmt.Sprintf("%+v", client.HTTPClient), fmt.Sprintf("%+v", client.HTTPClient.Transport),
			} {
				if strings.Contains(printed, "dop_v1_abc") {
					t.Errorf("%s: the token is printed: %s", tc.reason, printed)
				}
			}
		})
	}
}

func TestAccountsAreShared(t *testing.T) {
	accounts := api.NewAccounts(api.Options{})
	parse := func(data string) api.Credentials {
		t.Helper()
		c, err := api.ParseCredentials([]byte(data), "http://127.0.0.1:4444")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if accounts.Of(parse("one")) != accounts.Of(parse(`{"token":"one"}`)) {
		t.Error("one token has two budgets")
	}
	if accounts.Of(parse("one")) == accounts.Of(parse("two")) {
		t.Error("two tokens share a budget")
	}
	if accounts.Of(parse("one")) == accounts.Of(parse(`{"token":"one","api_endpoint":"http://127.0.0.1:4444"}`)) {
		t.Error("two APIs share a budget")
	}
}
