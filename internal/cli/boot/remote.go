package boot

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/flux/roots"
)

// sshFiles are the files that a repository is reached with by ssh.
type sshFiles struct {
	identity, hosts string
}

func (f *sshFiles) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.identity, "ssh-key-file", "", "private key of an ssh repository, if PATH is a URL")
	flags.StringVar(&f.hosts, "known-hosts-file", "", "keys of the hosts of an ssh repository, if PATH is a URL")
}

// shortAddress is an address as git clone takes it, USER@HOST:PATH.
var shortAddress = regexp.MustCompile(`^([\w.-]+@[\w.-]+):([^/].*)$`)

// addressOf is what a person names as a URL, where it is one in its short form, and else as it is.
func addressOf(named string) string {
	if strings.Contains(named, "://") {
		return named
	}
	if _, err := os.Stat(named); err == nil {
		return named
	}
	return shortAddress.ReplaceAllString(named, "ssh://$1/$2")
}

// checkRemote reports what a repository that is somewhere else lacks.
func (o upOptions) checkRemote() error {
	if strings.HasPrefix(o.path, "ssh://") && (o.ssh.identity == "" || o.ssh.hosts == "") {
		return console.Hint(errors.New("a repository by ssh needs --ssh-key-file and --known-hosts-file; a clone of it needs neither"), "git clone %s repository && headgate up repository", o.path)
	}
	return nil
}

// remoteRoot is the root of a repository that is somewhere else. Credentials in its URL go into a Secret, and so do the files of ssh.
func (o upOptions) remoteRoot() (roots.Root, error) {
	u, err := url.Parse(o.path)
	if err != nil {
		// The parser's error quotes the URL, which may hold a password.
		return roots.Root{}, errors.New("the URL of the repository cannot be parsed")
	}
	root := roots.Root{Branch: o.branch, Path: path.Join(".", path.Clean("/"+o.root))}
	switch password, given := u.User.Password(); {
	case u.Scheme == "ssh":
		if root.Credentials, err = o.ssh.read(); err != nil {
			return root, err
		}
	case given:
		root.Credentials = map[string][]byte{"username": []byte(u.User.Username()), "password": []byte(password)}
		u.User = nil
	default:
		u.User = nil
	}
	root.URL = u.String()
	root.For = root.URL
	return root, nil
}

// read is the Secret of a source by ssh.
func (f sshFiles) read() (map[string][]byte, error) {
	credentials := map[string][]byte{}
	for key, name := range map[string]string{"identity": f.identity, "known_hosts": f.hosts} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the %s of an ssh repository: %w", key, err)
		}
		credentials[key] = data
	}
	return credentials, nil
}
