package decrypt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/hcvault"
	"github.com/getsops/sops/v3/kms"
	vault "github.com/hashicorp/vault/api"

	"github.com/headgate-dev/headgate/internal/egress"
)

// An encrypted file says which service opens it, and a repository may be hostile: an account is shown only to the
// servers that it is for, which the Secret names and not the file.

// servers are those that an account is for, as "scheme://host:port".
type servers []string

// readServers reads the URLs of servers, separated by commas or white space.
func readServers(data []byte) (servers, error) {
	var all servers
	for _, text := range strings.FieldsFunc(string(data), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\n' }) {
		one := serverOf(text)
		if one == "" {
			return nil, errors.New("it is not a list of URLs such as https://vault.example.com:8200")
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, errors.New("it names no URL")
	}
	return all, nil
}

// serverOf is the server of a URL that names nothing else, empty for any other text.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// permitVault is an error unless the token may be sent to the Vault that a file names, for nothing but to decrypt.
func (k *Keys) permitVault(key *hcvault.MasterKey) error {
	switch server := serverOf(key.VaultAddress); {
	case server == "":
		return errors.New("its address is not the URL of a server")
	case k.vaultServers == nil:
		return fmt.Errorf("the Secret does not say that its token is for %s; if it is, add the entry %s: %s", server, vaultServersEntry, server)
	case !slices.Contains(k.vaultServers, server):
		return fmt.Errorf("%s is not among the URLs of the entry %s", server, vaultServersEntry)
	}
	for _, part := range []string{key.EnginePath, key.KeyName} {
		if !vaultPath.MatchString(part) || strings.Contains(part, "..") {
			return errors.New("its engine or its key is not a path")
		}
	}
	return nil
}

// vaultClient is what the library would use, with the environment of the process, and reaches what is permitted.
func vaultClient(rules egress.Rules) (*http.Client, error) {
	config := vault.DefaultConfig()
	transport, is := config.HttpClient.Transport.(*http.Transport)
	if config.Error != nil || !is {
		return nil, fmt.Errorf("preparing a client of Vault: %w", cmp.Or(config.Error, errors.New("it has another transport")))
	}
	rules.OrAnywhere().RestrictBehindProxy(transport)
	return config.HttpClient, nil
}

// vaultPath is what the path of an engine and the name of a key are: nothing that leads elsewhere, where a request with the
// token may write something.
var vaultPath = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?$`)

// azureDomains are those of Key Vaults in the clouds of Microsoft: what is below them belongs to no one else.
var azureDomains = regexp.MustCompile(
	`^https://[a-z0-9-]+\.(vault\.azure\.net|vault\.azure\.cn|vault\.usgovcloudapi\.net|vault\.microsoftazure\.de|` +
		`managedhsm\.azure\.net|managedhsm\.azure\.cn|managedhsm\.usgovcloudapi\.net):443$`)

// permitAzure is an error unless the account may sign in at the Key Vault that a file names: one that the Secret lists, or
// without a list one of Microsoft's clouds.
func (k *Keys) permitAzure(ctx context.Context, key *azkv.MasterKey) error {
	server := serverOf(key.VaultURL)
	switch {
	case server == "":
		return errors.New("its address is not the URL of a server")
	case k.azureServers == nil && !azureDomains.MatchString(server):
		return fmt.Errorf("%s is not a Key Vault of Microsoft; if it is yours, add the entry %s: %s", server, azureServersEntry, server)
	case k.azureServers != nil && !slices.Contains(k.azureServers, server):
		return fmt.Errorf("%s is not among the URLs of the entry %s", server, azureServersEntry)
	}
	at, err := url.Parse(server)
	if err != nil {
		return errors.New("its address is not the URL of a server")
	}
	return k.egress.OrAnywhere().Check(ctx, at.Hostname(), egress.PortOf(at))
}

// awsKey is the ARN of a key. Its region becomes part of the name of the host.
var awsKey = regexp.MustCompile(`^arn:aws[a-z-]*:kms:[a-z]{2,}(-[a-z]+)+-[0-9]+:[0-9]+:(key|alias)/[A-Za-z0-9/_-]+$`)

// permitAWS is an error unless the key is one of AWS.
func permitAWS(key *kms.MasterKey) error {
	if !awsKey.MatchString(key.Arn) {
		return errors.New("its ARN is not that of a key")
	}
	return nil
}
