// Package gcp reads and writes secrets of the Secret Manager of Google Cloud by the client library of Google.
//
// Secrets that another program manages, by their label managed-by, are neither written nor deleted. The room refuses the identity of the machine,
// federated identities, redirects, and the library's repetition of requests.
package gcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/secretmanager/v1"

	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/rest"
)

const (
	managedBy = "managed-by"
	manager   = "external-secrets"
	latest    = "latest"
	// pageSize is how many secrets one answer lists.
	pageSize = 250
)

// Config is a project, and how to log in.
type Config struct {
	// Project is the identifier of the project; the default is that of the key.
	Project string
	// Location is a region for regional secrets; without one they are global.
	Location string
	// Endpoint is a URL; the default is that of Google, in the region if there is one.
	Endpoint string
	// Key is the key of a service account, as JSON.
	Key store.SecretRef
	// Fetch has the newest enabled version be read where the latest one is disabled or destroyed.
	Fetch bool
}

// Client is a store of this kind.
type Client struct {
	parent string
	// regional secrets are replicated nowhere.
	regional bool
	fetch    bool
	api      *secretmanager.ProjectsSecretsService
	http     *http.Client
}

var _ store.Client = (*Client)(nil)

var (
	// project and region are the forms of identifiers, which become parts of paths and hosts.
	project = regexp.MustCompile(`^[a-z0-9.:-]{1,100}$`)
	region  = regexp.MustCompile(`^[a-z]+-[a-z]+[0-9]+$`)
	// known is the form of names of secrets, version that of versions and their aliases.
	known   = regexp.MustCompile(`^[0-9A-Za-z_-]{1,255}$`)
	version = regexp.MustCompile(`^[0-9A-Za-z_-]{1,63}$`)
)

// New checks the configuration and looks up credentials. It sends nothing.
func New(ctx context.Context, config Config, lookup store.Lookup, client *http.Client) (*Client, error) {
	if at, err := url.Parse(config.Endpoint); config.Endpoint != "" && (err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || at.User != nil) {
		return nil, errors.New("the endpoint of the store is not a URL of http or https")
	}
	if config.Location != "" && !region.MatchString(config.Location) {
		return nil, fmt.Errorf("location %q is not the name of a region", config.Location)
	}
	text, err := store.Credential(lookup(ctx, config.Key))
	if err != nil {
		return nil, fmt.Errorf("reading the key of the service account: %w", err)
	}
	account, err := google.JWTConfigFromJSON([]byte(text), secretmanager.CloudPlatformScope)
	if err != nil {
		return nil, errors.New("the key of the service account is not the JSON of such a key")
	}
	if config.Project == "" {
		var key struct {
			Project string `json:"project_id"`
		}
		_ = json.Unmarshal([]byte(text), &key)
		config.Project = key.Project
	}
	if !project.MatchString(config.Project) {
		return nil, fmt.Errorf("projectID %q is not the identifier of a project", config.Project)
	}
	own := rest.Bounded(client)
	login := account.TokenSource(context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, own))
	authorized := *own
	authorized.Transport = &oauth2.Transport{Source: oauth2.ReuseTokenSource(nil, login), Base: own.Transport}
	c := &Client{parent: "projects/" + config.Project, fetch: config.Fetch, http: own}
	endpoint := config.Endpoint
	if config.Location != "" {
		c.regional = true
		c.parent += "/locations/" + config.Location
		if endpoint == "" {
			endpoint = "https://secretmanager." + config.Location + ".rep.googleapis.com/"
		}
	}
	options := []option.ClientOption{option.WithHTTPClient(&authorized)}
	if endpoint != "" {
		options = append(options, option.WithEndpoint(strings.TrimRight(endpoint, "/")+"/"))
	}
	service, err := secretmanager.NewService(ctx, options...)
	if err != nil {
		return nil, errors.New("the store cannot be set up with its endpoint")
	}
	c.api = service.Projects.Secrets
	return c, nil
}

// path is the name of a secret in the API.
func (c *Client) path(key string) (string, error) {
	if !known.MatchString(key) {
		return "", fmt.Errorf("the key %q is not the name of a secret, which has letters, digits, hyphens and underscores", key)
	}
	return c.parent + "/secrets/" + key, nil
}

// read returns a version of a secret.
func (c *Client) read(ctx context.Context, key, number string) ([]byte, error) {
	path, err := c.path(key)
	if err != nil {
		return nil, err
	}
	if number == "" {
		number = latest
	}
	of := fmt.Sprintf("reading the secret %q of %s", key, c.parent)
	if !version.MatchString(number) {
		return nil, fmt.Errorf("%s: %q is not a version", of, number)
	}
	got, err := c.api.Versions.Access(path + "/versions/" + number).Context(ctx).Do()
	if number == latest && c.fetch && unavailable(err) {
		return c.newest(ctx, of, path)
	}
	if err != nil {
		return nil, failure(of, err)
	}
	return payload(of, got)
}

func payload(of string, got *secretmanager.AccessSecretVersionResponse) ([]byte, error) {
	if got.Payload == nil {
		return nil, fmt.Errorf("%s: %w: it has no payload", of, store.ErrMalformed)
	}
	value, err := base64.StdEncoding.DecodeString(got.Payload.Data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: its payload is not base64", of, store.ErrMalformed)
	}
	return value, nil
}

// unavailable reports whether the version that was requested is there and cannot be read: it is disabled or destroyed.
func unavailable(err error) bool {
	var answer *googleapi.Error
	return errors.As(err, &answer) && answer.Code == http.StatusBadRequest
}

// newest reads the newest version that is enabled.
func (c *Client) newest(ctx context.Context, of, path string) ([]byte, error) {
	list, err := c.api.Versions.List(path).Filter("state:ENABLED").PageSize(1).Context(ctx).Do()
	if err != nil {
		return nil, failure(of, err)
	}
	if len(list.Versions) == 0 {
		return nil, fmt.Errorf("%s: no version of it is enabled: %w", of, store.ErrNotFound)
	}
	last := list.Versions[0].Name
	got, err := c.api.Versions.Access(path + "/versions/" + last[strings.LastIndex(last, "/")+1:]).Context(ctx).Do()
	if err != nil {
		return nil, failure(of, err)
	}
	return payload(of, got)
}

// Get returns a secret, or a property of its JSON. Metadata are its annotations and labels.
func (c *Client) Get(ctx context.Context, ref store.Ref) ([]byte, error) {
	of := fmt.Sprintf("the secret %q", ref.Key)
	if ref.MetadataPolicy != store.MetadataFetch {
		value, err := c.read(ctx, ref.Key, ref.Version)
		if err != nil {
			return nil, err
		}
		return store.Property(ctx, of, value, ref.Property)
	}
	described, err := c.describe(ctx, ref.Key)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(map[string]any{"annotations": described.Annotations, "labels": described.Labels})
	if err != nil {
		return nil, fmt.Errorf("the metadata of %s cannot be written as JSON", of)
	}
	return store.Property(ctx, of, value, ref.Property)
}

func (c *Client) describe(ctx context.Context, key string) (*secretmanager.Secret, error) {
	path, err := c.path(key)
	if err != nil {
		return nil, err
	}
	got, err := c.api.Get(path).Context(ctx).Do()
	return got, failure(fmt.Sprintf("describing the secret %q of %s", key, c.parent), err)
}

// Map returns the fields of a secret that is a JSON object, or of a property of it.
func (c *Client) Map(ctx context.Context, ref store.Ref) (map[string][]byte, error) {
	value, err := c.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	return store.Fields(fmt.Sprintf("the secret %q", ref.Key), value)
}

// Find returns secrets by name, by a part of it as the path, and by labels. Those without a version that can be read are left out.
func (c *Client) Find(ctx context.Context, find store.Find) (map[string][]byte, error) {
	pattern, err := find.Pattern()
	if err != nil {
		return nil, err
	}
	of, seen, token := "listing the secrets of "+c.parent, 0, ""
	found := map[string][]byte{}
	for {
		page, err := c.api.List(c.parent).PageSize(pageSize).PageToken(token).Context(ctx).Do()
		if err != nil {
			return nil, failure(of, err)
		}
		if seen += 1 + len(page.Secrets); seen > store.MaxFound {
			return nil, store.TooMany(of)
		}
		for _, one := range page.Secrets {
			name := one.Name[strings.LastIndex(one.Name, "/")+1:]
			if !strings.Contains(name, find.Path) || !find.Tagged(one.Labels) || !pattern.MatchString(name) {
				continue
			}
			value, err := c.read(ctx, name, "")
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found[name] = value
		}
		if token = page.NextPageToken; token == "" {
			return found, nil
		}
	}
}

// Check lists secrets. Credentials that may read and not list are accepted.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.api.List(c.parent).PageSize(1).Context(ctx).Do()
	var answer *googleapi.Error
	if errors.As(err, &answer) && answer.Code == http.StatusForbidden {
		return nil
	}
	return failure("listing the secrets of "+c.parent, err)
}

// Close ends connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}
