// Package bootstrap connects a cluster to a Git repository: what has to be there before a controller can go
// on its own.
//
// It makes the key, the credentials, the source and the root unit, and puts the manifests of the controller
// into the repository on request. It changes nothing that it did not create, and may be run again.
// Private keys are written to the cluster only.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// Repository is a Git repository, how it is reached, and where in it the cluster begins.
type Repository struct {
	// URL is http, https or ssh, without credentials.
	URL, Branch, Path string
	// Username and Password are for http; Password opens Identity too.
	Username, Password string
	// Identity is a private key for ssh, KnownHosts the keys of its hosts, CA certificates to trust.
	Identity, KnownHosts, CA []byte
	// Interval is how often it is fetched; one minute if it is zero.
	Interval time.Duration
}

// Check reports what of a repository cannot be used, naming the flag.
func (r Repository) Check() error {
	u, err := url.Parse(r.URL)
	switch {
	case err != nil:
		// The parser's error quotes the URL, which may hold a password.
		return errors.New("the URL of the repository cannot be parsed")
	case u.Scheme == "http" || u.Scheme == "https":
		if len(r.Identity) > 0 {
			return errors.New("--ssh-key-file requires an ssh:// URL")
		}
	case u.Scheme == "ssh":
		if len(r.Identity) == 0 || len(r.KnownHosts) == 0 {
			return errors.New("an ssh:// URL requires --ssh-key-file and --known-hosts-file")
		}
	default:
		return errors.New("the URL of the repository must be http://, https:// or ssh://, such as ssh://git@example.com/fleet.git")
	}
	if u.User != nil && u.Scheme != "ssh" {
		return errors.New("the URL of the repository contains credentials: use --git-username and --git-password-file, so that they are stored in a Secret")
	}
	if r.Path == "" {
		return errors.New("--path is missing: the directory of the repository that the cluster is synced from, such as clusters/prod")
	}
	return nil
}

// Root is where the controller begins with the repository.
func (r Repository) Root() string { return strings.TrimPrefix(path.Clean("/"+r.Path), "/") }

// credentials are the data of the Secret of the source; nothing for a repository that anybody may read.
func (r Repository) credentials() map[string][]byte {
	data := map[string][]byte{}
	for key, value := range map[string][]byte{
		"username": []byte(r.Username), "password": []byte(r.Password), "identity": r.Identity, "known_hosts": r.KnownHosts, "ca.crt": r.CA,
	} {
		if len(value) > 0 {
			data[key] = value
		}
	}
	return data
}

// ErrAgeKey is returned when the cluster has another age key than the one that is given.
var ErrAgeKey = errors.New("the cluster has another age key")

// Key puts an age key into the cluster. Given, it must be the one that the cluster has already, if it has one.
// Without one, fresh has a new one made unless the cluster has one; it is returned to be shown, once.
func Key(ctx context.Context, config *rest.Config, given []byte, fresh bool) (shown string, err error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return "", fmt.Errorf("creating a client: %w", err)
	}
	secrets := client.CoreV1().Secrets(toolkit.Namespace)
	held, err := secrets.Get(ctx, roots.AgeSecret, metav1.GetOptions{})
	switch {
	case err == nil:
		if len(given) > 0 && !holds(held.Data, given) {
			return "", fmt.Errorf("%w: Secret %s/%s does not contain the key of the file; delete the Secret first to replace it", ErrAgeKey, toolkit.Namespace, roots.AgeSecret)
		}
		return "", nil
	case !apierrors.IsNotFound(err):
		return "", fmt.Errorf("reading Secret %s/%s: %w", toolkit.Namespace, roots.AgeSecret, err)
	}
	if len(given) == 0 {
		if !fresh {
			return "", nil
		}
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			return "", fmt.Errorf("creating an age key: %w", err)
		}
		shown = fmt.Sprintf("# public key: %s\n%s\n", identity.Recipient(), identity)
		given = []byte(shown)
	} else if _, err := age.ParseIdentities(strings.NewReader(string(given))); err != nil {
		return "", errors.New("the file contains no age key; create one with age-keygen")
	}
	_, err = secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: roots.AgeSecret, Namespace: toolkit.Namespace}, Data: map[string][]byte{"age.agekey": given},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("writing Secret %s/%s: %w", toolkit.Namespace, roots.AgeSecret, err)
	}
	return shown, nil
}

// holds reports whether a Secret holds all identities of a file.
func holds(data map[string][]byte, file []byte) bool {
	var all strings.Builder
	for _, value := range data {
		all.Write(value)
		all.WriteByte('\n')
	}
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") && !strings.Contains(all.String(), line) {
			return false
		}
	}
	return true
}

// Refuse reports why the cluster cannot be connected to the repository: it is connected to another one.
func Refuse(ctx context.Context, config *rest.Config, r Repository) error {
	return roots.RefuseRoot(ctx, config, r.root(false))
}

// Connect makes the credentials, the source and the root unit. It refuses a cluster whose root is that of
// another repository or directory.
func Connect(ctx context.Context, config *rest.Config, r Repository) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	_, err = client.CoreV1().Secrets(toolkit.Namespace).Get(ctx, roots.AgeSecret, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading the age key: %w", err)
	}
	return roots.PutRoot(ctx, config, r.root(err == nil))
}

func (r Repository) root(decrypts bool) roots.Root {
	return roots.Root{
		URL: r.URL, Branch: r.Branch, Path: r.Root(), Interval: r.Interval, Credentials: r.credentials(), Decrypts: decrypts,
	}
}
