package digitalocean

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/digitalocean/godo"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
	"github.com/headgate-dev/headgate/internal/provision/managed"
)

// connector reaches accounts of DigitalOcean. It is safe for concurrent use.
type connector struct {
	options Options
	clock   Clock
	used    *api.Accounts

	mu       sync.Mutex
	accounts map[*api.Account]*account
}

func newConnector(o Options, used *api.Accounts) *connector {
	c := &connector{options: o, clock: o.Clock, used: used, accounts: map[*api.Account]*account{}}
	if c.clock == nil {
		c.clock = machine{}
	}
	return c
}

// session is what a pass for a resource works with.
type session struct {
	*managed.Resource
	account *account
	do      *godo.Client
	clock   Clock
	infer   Inference
}

// Connect returns what a resource stands for.
func (c *connector) Connect(ctx context.Context, r *managed.Resource) (managed.External, error) {
	account, err := c.accountOf(ctx, r)
	if err != nil {
		return nil, err
	}
	s := session{Resource: r, account: account, do: account.Client(r.Kind.Kind.Kind), clock: c.clock, infer: c.options.Inference}
	switch r.Kind.Kind.Kind {
	case dropletKind:
		return newDroplet(s)
	case imageKind:
		return newImage(s)
	case keyKind:
		return newKey(s)
	case ipKind:
		return newAddress(ctx, s)
	}
	return nil, managed.Invalid("%s is not a kind of DigitalOcean", r.Kind.Kind.Kind)
}

// accountOf is the account of the provider configuration.
func (c *connector) accountOf(ctx context.Context, r *managed.Resource) (*account, error) {
	stored, err := r.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	credentials, err := c.parse(stored.Data)
	if err != nil {
		return nil, managed.Invalid("%s %s: %w", r.Configuration.GetKind(), r.Configuration.GetName(), err)
	}
	of := c.used.Of(credentials)
	c.mu.Lock()
	defer c.mu.Unlock()
	one, known := c.accounts[of]
	if !known {
		one = newAccount(of, c.clock)
		c.accounts[of] = one
	}
	return one, nil
}

// parse reads credentials. With a simulated account, those that name no API are for that one: a token that is real does not
// reach the real API by oversight.
func (c *connector) parse(data []byte) (api.Credentials, error) {
	simulated := c.options.Simulated
	if simulated == nil {
		return api.ParseCredentials(data)
	}
	parsed, err := api.ParseCredentials(data, simulated.URL)
	if err != nil || parsed.Named() {
		return parsed, err
	}
	stand, err := json.Marshal(map[string]string{"token": simulated.Token, "api_endpoint": simulated.URL})
	if err != nil {
		return api.Credentials{}, fmt.Errorf("encoding the credentials of the simulated account: %w", err)
	}
	return api.ParseCredentials(stand, simulated.URL)
}

// uid identifies the resource in tags.
func (s session) uid() string { return string(s.Object.GetUID()) }

// deleting reports whether the resource is being deleted.
func (s session) deleting() bool { return s.Object.GetDeletionTimestamp() != nil }

// decode reads a part of the resource.
func (s session) decode(into any, path ...string) error {
	fields, has, err := unstructured.NestedMap(s.Object.Object, path...)
	if err != nil || !has {
		return err
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return managed.Invalid("reading %v: %w", path, err)
	}
	return nil
}

// declared reads spec.initProvider and spec.forProvider: the latter alone is compared, and both are what is created.
func (s session) declared(compared, created any) error {
	for _, err := range []error{
		s.initial(), s.decode(compared, "spec", "forProvider"), s.decode(created, "spec", "initProvider"), s.decode(created, "spec", "forProvider"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// initial refuses by name what initProvider has and nothing acts on: references, and what is about changes and deletions.
func (s session) initial() error {
	if s.deleting() {
		return nil // nothing is created any more
	}
	fields, _, _ := unstructured.NestedMap(s.Object.Object, "spec", "initProvider")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		refers := strings.HasSuffix(name, "Ref") || strings.HasSuffix(name, "Refs") || strings.HasSuffix(name, "Selector")
		if refers || name == "gracefulShutdown" || name == "resizeDisk" {
			return managed.Invalid("spec.initProvider.%s is not supported: set it in spec.forProvider", name)
		}
	}
	return nil
}

// policy is spec.replacementPolicy as it was declared.
func (s session) policy() string {
	text, _, _ := unstructured.NestedString(s.Object.Object, "spec", "replacementPolicy")
	return text
}

// connection is what the connection Secret gets.
func connection(c map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for name, value := range c {
		all[name] = []byte(value)
	}
	return all
}
