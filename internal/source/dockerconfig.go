package source

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// dockerConfig is a keychain: what a Secret of type kubernetes.io/dockerconfigjson holds. It runs no
// helpers, whatever it names.
type dockerConfig struct {
	entries []dockerEntry
}

type dockerEntry struct {
	// host may hold "*" for parts of names, as the kubelet has it; path is the beginning of a repository's.
	host, path string
	login      authn.AuthConfig
}

// dockerHub are the names that its registry has in files, for the one that it has in references.
var dockerHub = map[string]string{"docker.io": name.DefaultRegistry, "registry-1.docker.io": name.DefaultRegistry}

// readDockerConfig reads logins. No error quotes what it reads.
func readDockerConfig(data []byte) (*dockerConfig, error) {
	var file struct {
		Auths map[string]struct {
			Auth          string `json:"auth"`
			Username      string `json:"username"`
			Password      string `json:"password"`
			IdentityToken string `json:"identitytoken"`
			RegistryToken string `json:"registrytoken"`
		} `json:"auths"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil, fmt.Errorf("%w: .dockerconfigjson is not in the format of Docker's config.json", ErrAuth)
	}
	c := &dockerConfig{}
	for server, login := range file.Auths {
		e := dockerEntry{login: authn.AuthConfig{
			Username: login.Username, Password: login.Password, IdentityToken: login.IdentityToken, RegistryToken: login.RegistryToken,
		}}
		if login.Auth != "" {
			user, password, err := decodeAuth(login.Auth)
			if err != nil {
				return nil, fmt.Errorf("%w: .dockerconfigjson: auth of %q: %w", ErrAuth, server, err)
			}
			e.login.Username, e.login.Password = user, password
		}
		_, rest, found := strings.Cut(server, "://")
		if !found {
			rest = server
		}
		e.host, e.path, _ = strings.Cut(rest, "/")
		// What begins with these is the API of the server, not a repository.
		if e.path = strings.Trim(e.path, "/"); e.path == "v1" || e.path == "v2" {
			e.path = ""
		}
		if hub, ok := dockerHub[e.host]; ok {
			e.host = hub
		}
		c.entries = append(c.entries, e)
	}
	return c, nil
}

func decodeAuth(text string) (user, password string, err error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(text)
	}
	user, password, found := strings.Cut(strings.TrimRight(string(data), "\x00"), ":")
	if err != nil || !found {
		return "", "", errors.New("it is not the base64 form of USER:PASSWORD")
	}
	return user, password, nil
}

// Resolve returns the login whose server and path are the closest to a repository's.
func (c *dockerConfig) Resolve(target authn.Resource) (authn.Authenticator, error) {
	repository := strings.TrimPrefix(strings.TrimPrefix(target.String(), target.RegistryStr()), "/")
	var best *dockerEntry
	for i := range c.entries {
		e := &c.entries[i]
		if e.matches(target.RegistryStr(), repository) && (best == nil || e.closer(best)) {
			best = e
		}
	}
	if best == nil {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(best.login), nil
}

func (e *dockerEntry) closer(than *dockerEntry) bool {
	if len(e.path) != len(than.path) {
		return len(e.path) > len(than.path)
	}
	if len(e.host) != len(than.host) {
		return len(e.host) > len(than.host)
	}
	return e.host < than.host
}

func (e *dockerEntry) matches(host, repository string) bool {
	if e.path != "" && repository != e.path && !strings.HasPrefix(repository, e.path+"/") {
		return false
	}
	if e.host == host {
		return true
	}
	// A "*" stands for a part of a name, never for several.
	pattern, parts := strings.Split(e.host, "."), strings.Split(host, ".")
	if len(pattern) != len(parts) {
		return false
	}
	for i := range parts {
		if ok, err := path.Match(pattern[i], parts[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

func (c *dockerConfig) secrets() []string {
	var all []string
	for _, e := range c.entries {
		all = append(all, e.login.Password, e.login.IdentityToken, e.login.RegistryToken)
	}
	return all
}
