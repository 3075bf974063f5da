package aws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/aws"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

var static = &aws.Keys{ID: store.SecretRef{Name: "id"}, Secret: store.SecretRef{Name: "secret"}}

func open(t *testing.T, server *storetest.AWS, config aws.Config) *aws.Client {
	t.Helper()
	config.Region, config.Endpoint, config.STSEndpoint = storetest.AWSRegion, server.URL, server.URL
	if config.Keys == nil && config.Workload == nil {
		config.Keys = static
	}
	client, err := aws.New(t.Context(), config, storetest.Lookup(map[string]string{"id": "AKIDTEST", "secret": "aws-secret\n", "session": "aws-session", "wrong": "none"}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

const object = `{"password":"p","a.b":"dotted","deep":{"list":[{"n":7}]}}`

type get struct {
	ref  store.Ref
	want string
	is   error
}

func testGet(t *testing.T, client *aws.Client, cases map[string]get) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), tc.ref)
			if string(got) != tc.want || !errors.Is(err, tc.is) || (err != nil && strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.is)
			}
		})
	}
	if _, err := client.Get(t.Context(), store.Ref{}); err == nil {
		t.Error("an empty key is taken")
	}
	got, err := client.Map(t.Context(), store.Ref{Key: "db"})
	want := map[string][]byte{"password": []byte("p"), "a.b": []byte("dotted"), "deep": []byte(`{"list":[{"n":7}]}`)}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestGetSecrets(t *testing.T) {
	server := storetest.NewAWS(t)
	for _, value := range []string{"first", "second", object} {
		server.PutText("app/db", value, map[string]string{"env": "dev"})
	}
	server.PutBinary("app/binary", []byte{0, 0xff})
	server.Empty("app/empty", nil)
	client := open(t, server, aws.Config{Service: aws.SecretsManager, Prefix: "app/"})
	testGet(t, client, map[string]get{
		"All":        {store.Ref{Key: "db"}, object, nil},
		"Binary":     {store.Ref{Key: "binary"}, "\x00\xff", nil},
		"Property":   {store.Ref{Key: "db", Property: "password"}, "p", nil},
		"Dotted":     {store.Ref{Key: "db", Property: "a.b"}, "dotted", nil},
		"Path":       {store.Ref{Key: "db", Property: "deep.list.0.n"}, "7", nil},
		"Stage":      {store.Ref{Key: "db", Version: "AWSPREVIOUS"}, "second", nil},
		"ID":         {store.Ref{Key: "db", Version: "uuid/id-1"}, "first", nil},
		"Tags":       {store.Ref{Key: "db", MetadataPolicy: store.MetadataFetch}, `{"env":"dev"}`, nil},
		"Tag":        {store.Ref{Key: "db", Property: "env", MetadataPolicy: store.MetadataFetch}, "dev", nil},
		"NoProperty": {store.Ref{Key: "db", Property: "none"}, "", store.ErrNoProperty},
		"Missing":    {store.Ref{Key: "none"}, "", store.ErrNotFound},
		"NoValue":    {store.Ref{Key: "empty"}, "", store.ErrNotFound},
		"NoTags":     {store.Ref{Key: "none", MetadataPolicy: store.MetadataFetch}, "", store.ErrNotFound},
		"NoStage":    {store.Ref{Key: "db", Version: "none"}, "", store.ErrNotFound},
	})
}

func TestGetParameters(t *testing.T) {
	server := storetest.NewAWS(t)
	server.PutText("/app/db", "first", map[string]string{"env": "dev"})
	server.PutText("/app/db", object, nil)
	client := open(t, server, aws.Config{Service: aws.ParameterStore, Prefix: "/app/"})
	testGet(t, client, map[string]get{
		"All":       {store.Ref{Key: "db"}, object, nil},
		"Path":      {store.Ref{Key: "db", Property: "deep.list.0.n"}, "7", nil},
		"Version":   {store.Ref{Key: "db", Version: "1"}, "first", nil},
		"Tag":       {store.Ref{Key: "db", Property: "env", MetadataPolicy: store.MetadataFetch}, "dev", nil},
		"Missing":   {store.Ref{Key: "none"}, "", store.ErrNotFound},
		"NoTags":    {store.Ref{Key: "none", MetadataPolicy: store.MetadataFetch}, "", store.ErrNotFound},
		"NoVersion": {store.Ref{Key: "db", Version: "9"}, "", store.ErrNotFound},
	})
}

func TestFind(t *testing.T) {
	for _, service := range []string{aws.SecretsManager, aws.ParameterStore} {
		t.Run(service, func(t *testing.T) {
			server := storetest.NewAWS(t)
			server.PutText("/app/one", "1", map[string]string{"env": "dev"})
			server.PutText("/app/two", "2", map[string]string{"env": "development"})
			server.PutText("/app/x/three", "3", map[string]string{"env": "dev", "dev": "env"})
			server.PutText("/other", "4", nil)
			client := open(t, server, aws.Config{Service: service})
			cases := map[string]struct {
				find store.Find
				want string
			}{
				"All":  {store.Find{}, "/app/one=1 /app/two=2 /app/x/three=3 /other=4"},
				"Name": {store.Find{Name: "t(wo|hree)$"}, "/app/two=2 /app/x/three=3"},
				"Path": {store.Find{Path: "/app/x"}, "/app/x/three=3"},
				"Tags": {store.Find{Tags: map[string]string{"env": "dev"}}, "/app/one=1 /app/x/three=3"},
				"Both": {store.Find{Tags: map[string]string{"env": "dev"}, Path: "/app", Name: "one"}, "/app/one=1"},
			}
			find := func(name string) {
				got, err := client.Find(t.Context(), cases[name].find)
				want := map[string][]byte{}
				for _, pair := range strings.Fields(cases[name].want) {
					key, value, _ := strings.Cut(pair, "=")
					want[key] = []byte(value)
				}
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v %s", name, err, diff)
				}
			}
			for name := range cases {
				find(name)
			}
			if service == aws.ParameterStore {
				server.Deny["GetParametersByPath"] = true
				find("Name")
				find("Path")
			}
			if _, err := client.Find(t.Context(), store.Find{Name: "("}); err == nil {
				t.Error("an invalid expression is taken")
			}
			for i := range store.MaxFound {
				server.PutText(fmt.Sprintf("/many/%d", i), "v", nil)
			}
			if _, err := client.Find(t.Context(), store.Find{Name: "none"}); !errors.Is(err, store.ErrTooLarge) {
				t.Errorf("a list without end: %v", err)
			}
		})
	}
}

func TestLogins(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/reader"
	token := func(token string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return token, nil }
	}
	session := &aws.Keys{ID: static.ID, Secret: static.Secret, Session: &store.SecretRef{Name: "session"}}
	refused := errors.New("the account is in another namespace")
	for name, tc := range map[string]struct {
		config  aws.Config
		session string
		is      error
	}{
		"Keys":          {aws.Config{Keys: static}, "", nil},
		"Session":       {aws.Config{Keys: session}, "aws-session", nil},
		"NoSession":     {aws.Config{Keys: static}, "aws-session", store.ErrDenied},
		"WrongSecret":   {aws.Config{Keys: &aws.Keys{ID: static.ID, Secret: store.SecretRef{Name: "wrong"}}}, "", store.ErrDenied},
		"WrongID":       {aws.Config{Keys: &aws.Keys{ID: store.SecretRef{Name: "wrong"}, Secret: static.Secret}}, "", store.ErrDenied},
		"Role":          {aws.Config{Keys: static, Role: role, ExternalID: "external"}, "", nil},
		"WrongExternal": {aws.Config{Keys: static, Role: role, ExternalID: "other"}, "", store.ErrDenied},
		"WrongRole":     {aws.Config{Keys: static, Role: role + "s", ExternalID: "external"}, "", store.ErrDenied},
		"Workload":      {aws.Config{Workload: token("account-token"), Role: role}, "", nil},
		"WrongWorkload": {aws.Config{Workload: token("another"), Role: role}, "", store.ErrDenied},
		"NoToken":       {aws.Config{Workload: func(context.Context) (string, error) { return "", refused }, Role: role}, "", refused},
	} {
		t.Run(name, func(t *testing.T) {
			server := storetest.NewAWS(t)
			server.Session, server.ExternalID = tc.session, "external"
			server.PutText("db", "v", nil)
			tc.config.Service = aws.SecretsManager
			client := open(t, server, tc.config)
			for range 2 {
				if err := client.Check(t.Context()); !errors.Is(err, tc.is) || (err != nil && strings.Contains(err.Error(), "s3cret")) {
					t.Errorf("%v, want %v", err, tc.is)
				}
			}
			if got, err := client.Get(t.Context(), store.Ref{Key: "db"}); tc.is == nil && (err != nil || string(got) != "v") {
				t.Errorf("%q, %v", got, err)
			}
			if server.Logins > 1 {
				t.Errorf("%d logins, want one for all requests", server.Logins)
			}
		})
	}
}

func TestCheckWithoutPermission(t *testing.T) {
	for service, operation := range map[string]string{aws.SecretsManager: "ListSecrets", aws.ParameterStore: "DescribeParameters"} {
		server := storetest.NewAWS(t)
		server.Deny[operation] = true
		client := open(t, server, aws.Config{Service: service})
		if err := client.Check(t.Context()); err != nil {
			t.Errorf("%s: credentials that may not list: %v", service, err)
		}
		if _, err := client.Find(t.Context(), store.Find{Tags: map[string]string{"a": "b"}}); !errors.Is(err, store.ErrDenied) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: finding without permission: %v", service, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, service := range []string{aws.SecretsManager, aws.ParameterStore} {
		t.Run(service, func(t *testing.T) {
			server := storetest.NewAWS(t)
			client := open(t, server, aws.Config{Service: service})
			for code, transient := range map[string]bool{"ThrottlingException": true, "InternalServiceError": true, "DecryptionFailure": false} {
				server.Code = code
				before := server.Requests()
				_, err := client.Get(t.Context(), store.Ref{Key: "db"})
				if _, is := store.RetryAfter(err); err == nil || is != transient || !strings.Contains(err.Error(), code) || strings.Contains(err.Error(), "s3cret") || server.Requests() != before+1 {
					t.Errorf("%s: transient %v, want %v; %d requests: %v", code, is, transient, server.Requests()-before, err)
				}
			}
			storetest.Faults(t, server, client, store.Ref{Key: "db"})
		})
	}
}

func TestRedirects(t *testing.T) {
	other := storetest.NewPlain(t, func(http.ResponseWriter, *http.Request) {})
	server := storetest.NewPlain(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	config := aws.Config{Service: aws.SecretsManager, Region: storetest.AWSRegion, Endpoint: server.URL, Keys: static}
	client, err := aws.New(t.Context(), config, storetest.Lookup(map[string]string{"id": "AKIDTEST", "secret": "s"}), &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), store.Ref{Key: "db"}); err == nil || other.Requests() != 0 {
		t.Errorf("%v, and %d requests to another server", err, other.Requests())
	}
}

func TestNew(t *testing.T) {
	good := aws.Config{Service: aws.SecretsManager, Region: "cn-north-1", Keys: static}
	lookup := storetest.Lookup(map[string]string{"id": "i", "secret": "s"})
	if _, err := aws.New(t.Context(), good, lookup, &http.Client{}); err != nil {
		t.Fatal(err)
	}
	token := func(context.Context) (string, error) { return "t", nil }
	for name, change := range map[string]func(*aws.Config){
		"Service":  func(c *aws.Config) { c.Service = "S3" },
		"Region":   func(c *aws.Config) { c.Region = "eu-1.attacker.example/" },
		"Endpoint": func(c *aws.Config) { c.Endpoint = "file:///etc" },
		"User":     func(c *aws.Config) { c.Endpoint = "https://user:password@host" },
		"STS":      func(c *aws.Config) { c.STSEndpoint = "sts" },
		"NoLogin":  func(c *aws.Config) { c.Keys = nil },
		"NoRole":   func(c *aws.Config) { c.Keys, c.Workload = nil, token },
		"TwoWays":  func(c *aws.Config) { c.Workload, c.Role = token, "r" },
		"NoSecret": func(c *aws.Config) { c.Keys = &aws.Keys{ID: store.SecretRef{Name: "id"}} },
		"Recovery": func(c *aws.Config) { c.RecoveryDays = 3 },
		"BothWays": func(c *aws.Config) { c.RecoveryDays, c.ForceDelete = 7, true },
	} {
		config := good
		change(&config)
		if _, err := aws.New(t.Context(), config, lookup, &http.Client{}); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
