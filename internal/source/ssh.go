package source

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
)

// ErrHostKey is an SSH server whose key is not the one that is known of it.
var ErrHostKey = errors.New("the key of the host is not in known_hosts")

// sshLogin reads the key and the known hosts of a repository that is reached by SSH. The user is that of
// the URL, or "git". Unknown hosts are not trusted.
func (r *remote) sshLogin(u *url.URL) error {
	o := r.options
	if len(o.Identity) == 0 || len(o.KnownHosts) == 0 {
		return fmt.Errorf("%w: a URL with ssh needs a key (identity) and the keys of the host (known_hosts)", ErrAuth)
	}
	user := u.User.Username()
	if user == "" {
		user = "git"
	}
	r.hide(o.Password)
	keys, err := gitssh.NewPublicKeys(user, o.Identity, o.Password)
	if err != nil {
		// The library's error may quote the key.
		return fmt.Errorf("%w: the private key (identity) cannot be read, or its password is wrong", ErrAuth)
	}
	known, err := knownHosts(o.KnownHosts, o.SpillDir)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = "22"
	}
	keys.HostKeyCallback = known.HostKeyCallback()
	keys.HostKeyAlgorithms = known.HostKeyAlgorithms(net.JoinHostPort(u.Hostname(), port))
	r.auth = keys
	u.User = url.User(user)
	return nil
}

// knownHosts reads known hosts; the library reads them from a file only.
func knownHosts(data []byte, dir string) (*knownhosts.HostKeyDB, error) {
	f, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("reading the known hosts: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading the known hosts: %w", err)
	}
	known, err := knownhosts.NewDB(f.Name())
	if err != nil {
		return nil, fmt.Errorf("%w: known_hosts cannot be read", ErrAuth)
	}
	return known, nil
}
