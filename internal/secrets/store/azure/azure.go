// Package azure reads and writes secrets of Azure Key Vault by the SDK of Azure.
//
// Secrets that another program manages, by their tag managed-by, are neither written nor deleted. The room refuses keys and
// certificates of a vault, identities that the configuration does not name, and the SDK's repetition of requests.
package azure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azsecrets"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	managedBy = "managed-by"
	manager   = "external-secrets"
)

// Config is a vault, and how to log in.
type Config struct {
	// VaultURL is the URL of the vault.
	VaultURL string
	// Authority is the URL of the login service; the default is that of the public cloud.
	Authority string
	// AnyHost permits a vault outside the domain that the login is for, and an authority that Azure does not know.
	AnyHost bool
	// Tenant is the directory of the client.
	Tenant string
	Auth   Auth
}

// Auth has one way to log in.
type Auth struct {
	// Principal is a login with the identifier and a secret of a client.
	Principal *Principal
	// Workload is a login with a token that another party issued, as Kubernetes does for an account.
	Workload *Workload
	// Identity is the managed identity of the machine, by its client identifier; empty for the only one.
	Identity *string
}

// Principal is a client with its secret.
type Principal struct {
	ClientID, Secret store.SecretRef
}

// Workload is a client with a token.
type Workload struct {
	ClientID string
	// Token returns the token of the account.
	Token func(context.Context) (string, error)
}

// Client is a store of this kind.
type Client struct {
	vault string
	api   *azsecrets.Client
	http  *http.Client
}

var _ store.Client = (*Client)(nil)

// New checks the configuration and looks up credentials. It sends nothing.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	at, err := url.Parse(config.VaultURL)
	if err != nil || at.Scheme != "https" || at.Host == "" {
		return nil, errors.New("vaultUrl is not a URL of https")
	}
	own := *client
	next := own.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	own.Transport, own.Timeout = rest.Bodies(next), rest.Timeout
	options := azcore.ClientOptions{Transport: &own, Retry: policy.RetryOptions{MaxRetries: -1}, Telemetry: policy.TelemetryOptions{Disabled: true}}
	if config.Authority != "" {
		options.Cloud = cloud.Configuration{ActiveDirectoryAuthorityHost: config.Authority}
	}
	credential, err := credentials(ctx, config, options, lookup)
	if err != nil {
		return nil, err
	}
	api, err := azsecrets.NewClient(strings.TrimRight(config.VaultURL, "/"), credential, &azsecrets.ClientOptions{ClientOptions: options, DisableChallengeResourceVerification: config.AnyHost})
	if err != nil {
		return nil, errors.New("vaultUrl is not the URL of a vault")
	}
	return &Client{at.Host, api, &own}, nil
}

func credentials(ctx context.Context, config Config, options azcore.ClientOptions, lookup store.Lookup) (credential azcore.TokenCredential, err error) {
	switch auth := config.Auth; {
	case auth.Principal != nil && auth.Workload == nil && auth.Identity == nil:
		var id, secret string
		if id, err = store.Credential(lookup(ctx, auth.Principal.ClientID)); err != nil {
			return nil, fmt.Errorf("reading the client identifier of Azure: %w", err)
		}
		if secret, err = store.Credential(lookup(ctx, auth.Principal.Secret)); err != nil {
			return nil, fmt.Errorf("reading the client secret of Azure: %w", err)
		}
		credential, err = azidentity.NewClientSecretCredential(config.Tenant, id, secret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: config.AnyHost})
	case auth.Workload != nil && auth.Principal == nil && auth.Identity == nil:
		credential, err = azidentity.NewClientAssertionCredential(config.Tenant, auth.Workload.ClientID, auth.Workload.Token,
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: config.AnyHost})
	case auth.Identity != nil && auth.Principal == nil && auth.Workload == nil:
		identity := azidentity.ManagedIdentityCredentialOptions{ClientOptions: options}
		if *auth.Identity != "" {
			identity.ID = azidentity.ClientID(*auth.Identity)
		}
		credential, err = azidentity.NewManagedIdentityCredential(&identity)
	default:
		return nil, errors.New("the store needs one of a service principal, a workload identity and a managed identity")
	}
	if err != nil {
		return nil, errors.New("tenantId, the client or the authority of the store are unusable")
	}
	return credential, nil
}

// known is the form of names in a vault.
var known = regexp.MustCompile(`^[0-9A-Za-z-]{1,127}$`)

// name reads a key, which may say what kind of object it is of.
func name(key string) (string, error) {
	kind, name, has := strings.Cut(key, "/")
	switch {
	case !has:
		name = key
	case kind == "key" || kind == "cert":
		return "", fmt.Errorf("reading %q: keys and certificates of a vault: %w", key, store.ErrUnsupported)
	case kind != "secret":
		return "", fmt.Errorf("the key %q is neither a name nor secret/NAME", key)
	}
	if !known.MatchString(name) {
		return "", fmt.Errorf("the key %q is not a name of a vault, which has letters, digits and hyphens", key)
	}
	return name, nil
}

func (c *Client) read(ctx context.Context, key, version string) (azsecrets.Secret, error) {
	name, err := name(key)
	if err != nil {
		return azsecrets.Secret{}, err
	}
	of := fmt.Sprintf("reading the secret %q of the vault %s", name, c.vault)
	if version != "" && !known.MatchString(version) {
		return azsecrets.Secret{}, fmt.Errorf("%s: %q is not a version", of, version)
	}
	got, err := c.api.GetSecret(ctx, name, version, nil)
	if err != nil {
		return azsecrets.Secret{}, failure(of, err)
	}
	if got.Value == nil {
		return azsecrets.Secret{}, fmt.Errorf("%s: %w: it has no value", of, store.ErrMalformed)
	}
	return got.Secret, nil
}

// Get returns a secret, or a property of its JSON. Metadata are its tags.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	got, err := c.read(ctx, ref.Key, ref.Version)
	if err != nil {
		return nil, err
	}
	value := []byte(*got.Value)
	if ref.MetadataPolicy == store.MetadataFetch {
		if value, err = json.Marshal(got.Tags); err != nil {
			return nil, fmt.Errorf("the tags of the secret %q cannot be written as JSON", ref.Key)
		}
	}
	return store.Property(ctx, fmt.Sprintf("the secret %q", ref.Key), value, ref.Property)
}

// Map returns the fields of a secret that is a JSON object, or of a property of it.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the secret %q", ref.Key), value)
}

// Find returns secrets by name and tags. Those that are disabled are left out.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	if find.Path != "" {
		return nil, fmt.Errorf("finding secrets of a vault by path: %w", store.ErrUnsupported)
	}
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	of, seen := "listing the secrets of the vault "+c.vault, 0
	found := map[string][]byte{}
	for pages := c.api.NewListSecretPropertiesPager(nil); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, failure(of, err)
		}
		for _, p := range page.Value {
			if seen++; seen > store.MaxFound {
				return nil, store.TooMany(of)
			}
			if p == nil || p.ID == nil || !pattern.MatchString(p.ID.Name()) || !find.Tagged(plain(p.Tags)) || (p.Attributes != nil && p.Attributes.Enabled != nil && !*p.Attributes.Enabled) {
				continue
			}
			got, err := c.read(ctx, p.ID.Name(), "")
			if err != nil {
				return nil, err
			}
			found[p.ID.Name()] = []byte(*got.Value)
		}
	}
	return found, nil
}

func plain(tags map[string]*string) map[string]string {
	all := map[string]string{}
	for tag, value := range tags {
		if value != nil {
			all[tag] = *value
		}
	}
	return all
}

// state is a secret before it is written: its value, whether there is one, and whether it may be written.
func (c *Client) state(ctx context.Context, key string) (value []byte, has, ours bool, tags map[string]*string, err error) {
	got, err := c.read(ctx, key, "")
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, false, nil, nil
	}
	if err != nil {
		return nil, false, false, nil, err
	}
	return []byte(*got.Value), true, plain(got.Tags)[managedBy] == manager, got.Tags, nil
}

// Push sets a secret, or a property of its JSON.
func (c *Client) Push(ctx context.Context, ref store.PushRef, value []byte) error {
	name, err := name(ref.Key)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("pushing the secret %q of the vault %s", name, c.vault)
	now, has, ours, tags, err := c.state(ctx, ref.Key)
	if err != nil {
		return err
	}
	if has && !ours {
		return fmt.Errorf("%s: %w", of, store.ErrNotOurs)
	}
	if ref.Property != "" {
		if value, err = store.WithProperty(of, now, ref.Property, value); err != nil {
			return err
		}
	}
	if has && string(now) == string(value) {
		return nil
	}
	text, by := string(value), manager
	if tags == nil {
		tags = map[string]*string{}
	}
	tags[managedBy] = &by
	_, err = c.api.SetSecret(ctx, name, azsecrets.SetSecretParameters{Value: &text, Tags: tags}, nil)
	return failure(of, err)
}

// Delete removes a property, and the secret with the last one. Secrets of other managers are left alone.
func (c *Client) Delete(ctx context.Context, ref store.PushRef) error {
	now, has, ours, tags, err := c.state(ctx, ref.Key)
	if err != nil || !has || !ours {
		return err
	}
	name, err := name(ref.Key)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("deleting the secret %q of the vault %s", name, c.vault)
	if ref.Property != "" {
		rest, left, err := store.WithoutProperty(of, now, ref.Property)
		if err != nil {
			return err
		}
		if left > 0 {
			text := string(rest)
			_, err := c.api.SetSecret(ctx, name, azsecrets.SetSecretParameters{Value: &text, Tags: tags}, nil)
			return failure(of, err)
		}
	}
	_, err = c.api.DeleteSecret(ctx, name, nil)
	if err = failure(of, err); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Exists reports whether there is a secret, with the property when one is given.
func (c *Client) Exists(ctx context.Context, ref store.PushRef) (bool, error) {
	now, has, _, _, err := c.state(ctx, ref.Key)
	if err != nil || !has || ref.Property == "" {
		return has, err
	}
	fields, err := store.Fields(fmt.Sprintf("the secret %q", ref.Key), now)
	_, has = fields[ref.Property]
	return has, err
}

// Check lists secrets.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.api.NewListSecretPropertiesPager(nil).NextPage(ctx)
	return failure("listing the secrets of the vault "+c.vault, err)
}

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// failure is that of the store which an error of the SDK stands for, without the answer that the SDK quotes.
func failure(of string, err error) error {
	if err == nil {
		return nil
	}
	var response *azcore.ResponseError
	var login *azidentity.AuthenticationFailedError
	var sending *url.Error
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return store.TooLarge(of, err)
	case errors.As(err, &response):
		return store.StatusError(of, response.StatusCode, header(response.RawResponse))
	case errors.As(err, &login) && login.RawResponse != nil:
		if status := login.RawResponse.StatusCode; status == http.StatusTooManyRequests || status >= 500 {
			return store.StatusError(of, status, login.RawResponse.Header)
		}
		return fmt.Errorf("%s: %w: the login was refused", of, store.ErrDenied)
	case errors.As(err, &sending), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return store.Unreachable(of, err)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w", of, store.ErrMalformed)
	default:
		return fmt.Errorf("%s: %w, or the login failed", of, store.ErrMalformed)
	}
}

func header(response *http.Response) http.Header {
	if response == nil {
		return nil
	}
	return response.Header
}
