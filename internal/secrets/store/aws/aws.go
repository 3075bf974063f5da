// Package aws reads and writes secrets of AWS Secrets Manager and of the Parameter Store of Systems Manager by the SDK of AWS.
//
// Secrets that another program manages, by their tag managed-by, are neither written nor deleted. The room refuses credentials of
// the machine, which the configuration does not name, redirects, and the SDK's repetition of requests.
package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	managedBy = "managed-by"
	manager   = "external-secrets"
	// session is the name of sessions of roles.
	session = "external-secrets-provider-aws"
)

// The services that a store can be of.
const (
	SecretsManager = "SecretsManager"
	ParameterStore = "ParameterStore"
)

// Config is a service in a region, and how to log in.
type Config struct {
	// Service is SecretsManager or ParameterStore.
	Service string
	Region  string
	// Endpoint and STSEndpoint are URLs; the defaults are those of AWS in the region.
	Endpoint, STSEndpoint string
	// Prefix comes before every key, but not before the paths and names of Find.
	Prefix string
	// Keys are static credentials.
	Keys *Keys
	// Workload returns a token by which Role is assumed, as Kubernetes issues it for an account.
	Workload func(context.Context) (string, error)
	// Role is the ARN of a role that is assumed, which is optional with Keys.
	Role, ExternalID string
	// ForceDelete has secrets of Secrets Manager be deleted at once; otherwise they can be restored for RecoveryDays, which are 7 to
	// 30, or for the service's default when zero.
	ForceDelete  bool
	RecoveryDays int64
}

// Keys are those of an account; a session token is optional.
type Keys struct {
	ID, Secret store.SecretRef
	Session    *store.SecretRef
}

// Client is a store of this kind.
type Client struct {
	prefix  string
	http    *http.Client
	service service
	// encodes says that whole Secrets are written with values in base64.
	encodes bool
}

var _ store.Client = (*Client)(nil)

// region is the form of names of regions, which become parts of hosts.
var region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]+$`)

// New checks the configuration and looks up credentials. It sends nothing.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	if !region.MatchString(config.Region) {
		return nil, fmt.Errorf("region %q is not the name of a region", config.Region)
	}
	for _, text := range []string{config.Endpoint, config.STSEndpoint} {
		if at, err := url.Parse(text); text != "" && (err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || at.User != nil) {
			return nil, errors.New("an endpoint of the store is not a URL of http or https")
		}
	}
	if days := config.RecoveryDays; days != 0 && (config.ForceDelete || days < 7 || days > 30) {
		return nil, errors.New("recoveryWindowInDays is neither 7 to 30 nor unset, or it is given with forceDeleteWithoutRecovery")
	}
	own := rest.Bounded(client)
	login, err := login(ctx, config, lookup, own)
	if err != nil {
		return nil, err
	}
	cached, c := sdk.NewCredentialsCache(login), &Client{prefix: config.Prefix, http: own}
	switch config.Service {
	case SecretsManager:
		options := secretsmanager.Options{Region: config.Region, HTTPClient: own, Retryer: sdk.NopRetryer{}, Credentials: cached, BaseEndpoint: text(config.Endpoint)}
		c.service = secrets{secretsmanager.New(options), config}
	case ParameterStore:
		options := ssm.Options{Region: config.Region, HTTPClient: own, Retryer: sdk.NopRetryer{}, Credentials: cached, BaseEndpoint: text(config.Endpoint)}
		c.service, c.encodes = parameters{ssm.New(options)}, true
	default:
		return nil, fmt.Errorf("service %q is not one of %s, %s", config.Service, SecretsManager, ParameterStore)
	}
	return c, nil
}

// login returns what gets credentials for requests.
func login(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (sdk.CredentialsProvider, error) {
	options := sts.Options{Region: config.Region, HTTPClient: client, Retryer: sdk.NopRetryer{}, BaseEndpoint: text(config.STSEndpoint)}
	switch {
	case config.Keys != nil && config.Workload == nil:
		static, err := keys(ctx, config.Keys, lookup)
		if err != nil || config.Role == "" {
			return static, err
		}
		options.Credentials = static
		return granted{stscreds.NewAssumeRoleProvider(sts.New(options), config.Role, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = session
			if config.ExternalID != "" {
				o.ExternalID = &config.ExternalID
			}
		})}, nil
	case config.Keys == nil && config.Workload != nil && config.Role != "":
		return granted{workload{sts.New(options), config}}, nil
	default:
		return nil, errors.New("the store needs either access keys or a ServiceAccount with a role")
	}
}

func keys(ctx context.Context, keys *Keys, lookup store.Lookup) (sdk.CredentialsProvider, error) {
	id, err := store.Credential(lookup(ctx, keys.ID))
	if err != nil {
		return nil, fmt.Errorf("reading the access key of AWS: %w", err)
	}
	secret, err := store.Credential(lookup(ctx, keys.Secret))
	if err != nil {
		return nil, fmt.Errorf("reading the secret access key of AWS: %w", err)
	}
	token := ""
	if keys.Session != nil {
		if token, err = store.Credential(lookup(ctx, *keys.Session)); err != nil {
			return nil, fmt.Errorf("reading the session token of AWS: %w", err)
		}
	}
	return credentials.NewStaticCredentialsProvider(id, secret, token), nil
}

// workload gets credentials for a token that is requested each time.
type workload struct {
	sts    *sts.Client
	config Config
}

// Retrieve assumes the role.
func (w workload) Retrieve(ctx context.Context) (sdk.Credentials, error) {
	token, err := w.config.Workload(ctx)
	if err != nil {
		return sdk.Credentials{}, &loginError{fmt.Errorf("requesting the token of the ServiceAccount: %w", err)}
	}
	provider := stscreds.NewWebIdentityRoleProvider(w.sts, w.config.Role, identity(token), func(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = session })
	return provider.Retrieve(ctx)
}

type identity string

// GetIdentityToken returns the token.
func (i identity) GetIdentityToken() ([]byte, error) { return []byte(i), nil }

// granted has failures to get credentials be told from those of the store.
type granted struct{ from sdk.CredentialsProvider }

// Retrieve gets credentials.
func (g granted) Retrieve(ctx context.Context) (sdk.Credentials, error) {
	own, err := g.from.Retrieve(ctx)
	if err != nil {
		return own, refused(err)
	}
	return own, nil
}
