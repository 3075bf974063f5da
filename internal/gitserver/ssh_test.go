package gitserver_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"

	"github.com/headgate-dev/headgate/internal/source"
)

// sshKey is a private key in PEM form, and what a server knows of it.
func sshKey(t *testing.T, password string) ([]byte, ssh.Signer) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if password != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(password))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block), signer
}

// sshServer serves one repository on disk to clients with a key, and returns its address.
func sshServer(t *testing.T, repo string, host ssh.Signer, allowed ssh.PublicKey) string {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "git" || string(key.Marshal()) != string(allowed.Marshal()) {
			return nil, errors.New("who is that")
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(conn, config, repo)
		}
	}()
	return listener.Addr().String()
}

// TestSubmodulesBySSH fetches submodules from the host of a repository and from another one, that would take the same key.
func TestSubmodulesBySSH(t *testing.T) {
	work := workingCopy(t)
	commit(t, work, "lib", map[string]string{"lib.yaml": "lib: 1\n"})
	branch, pinned := git(t, work, "rev-parse", "--abbrev-ref", "HEAD"), git(t, work, "rev-parse", "HEAD")
	git(t, work, "branch", "lib")
	_, host := sshKey(t, "")
	identity, signer := sshKey(t, "")
	address := sshServer(t, work, host, signer.PublicKey())
	var seen atomic.Int32
	stranger := sshServer(t, work, host, countedKey{signer.PublicKey(), &seen})
	for name, c := range map[string]struct{ reason, url, want string }{
		"same host":  {"the key is for the host of the repository", "ssh://git@" + address + "/app.git", ""},
		"other host": {"another host does not see the key, though it is known and would take it", "ssh://git@" + stranger + "/app.git", "the credentials of a repository are for ssh://" + address + " alone"},
		"other way":  {"nor does another protocol of that host", "https://" + address + "/app.git", "fetching"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, work, ".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = "+c.url+"\n")
			git(t, work, "add", ".gitmodules")
			git(t, work, "update-index", "--add", "--cacheinfo", "160000,"+pinned+",lib")
			git(t, work, "commit", "-q", "-m", name)
			got, err := source.FetchGit(t.Context(), source.GitOptions{
				URL: "ssh://git@" + address + "/app.git", Identity: identity, Ref: source.GitRef{Branch: branch}, RecurseSubmodules: true,
				KnownHosts: []byte(knownhosts.Line([]string{address}, host.PublicKey()) + "\n" + knownhosts.Line([]string{stranger}, host.PublicKey()) + "\n"),
			}, "", nil)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: error %v, want one with %q", c.reason, err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			if _, there := got.Tree.File("lib/lib.yaml"); !there {
				t.Errorf("%s: the submodule is missing in %q", c.reason, got.Tree.Paths())
			}
		})
	}
	if seen.Load() > 0 {
		t.Error("the other host was shown the key")
	}
}

// countedKey counts how often a server compares it with what a client shows.
type countedKey struct {
	ssh.PublicKey
	seen *atomic.Int32
}

// Marshal is what a server compares.
func (k countedKey) Marshal() []byte {
	k.seen.Add(1)
	return k.PublicKey.Marshal()
}

func serveSSH(conn net.Conn, config *ssh.ServerConfig, repo string) {
	defer func() { _ = conn.Close() }()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for opened := range channels {
		channel, asked, err := opened.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = channel.Close() }()
			for request := range asked {
				_ = request.Reply(request.Type == "exec", nil)
				if request.Type != "exec" || !strings.Contains(string(request.Payload), "git-upload-pack '/app.git'") {
					continue
				}
				cmd := exec.Command("git", "upload-pack", repo)
				cmd.Stdin, cmd.Stdout, cmd.Stderr = channel, channel, io.Discard
				status := struct{ Code uint32 }{}
				if cmd.Run() != nil {
					status.Code = 1
				}
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
				return
			}
		}()
	}
}

func TestFetchBySSH(t *testing.T) {
	const password = "open sesame"
	work := workingCopy(t)
	hash := commit(t, work, "one", map[string]string{"a.yaml": "a: 1\n"})
	_, host := sshKey(t, "")
	identity, signer := sshKey(t, "")
	stranger, strange := sshKey(t, "")
	address := sshServer(t, work, host, signer.PublicKey())
	known := []byte(knownhosts.Line([]string{address}, host.PublicKey()) + "\n")
	branch := git(t, work, "rev-parse", "--abbrev-ref", "HEAD")
	closed, sealed := sshKey(t, password)
	sealedAddress := sshServer(t, work, host, sealed.PublicKey())
	cases := map[string]struct {
		reason string
		change func(o *source.GitOptions)
		err    error
	}{
		"key": {"a key that the host takes", func(*source.GitOptions) {}, nil},
		"no user": {"git is the user when the URL names none", func(o *source.GitOptions) {
			o.URL = "ssh://" + address + "/app.git"
		}, nil},
		"password": {"a key that is closed by a password", func(o *source.GitOptions) {
			o.URL, o.Identity, o.Password = "ssh://git@"+sealedAddress+"/app.git", closed, password
			o.KnownHosts = []byte(knownhosts.Line([]string{sealedAddress}, host.PublicKey()))
		}, nil},
		"wrong password": {"a password that does not fit", func(o *source.GitOptions) { o.Identity, o.Password = closed, "x" }, source.ErrAuth},
		"stranger":       {"a key that the host does not take", func(o *source.GitOptions) { o.Identity = stranger }, source.ErrAuth},
		"no key":         {"no key at all", func(o *source.GitOptions) { o.Identity = nil }, source.ErrAuth},
		"no hosts":       {"no known hosts", func(o *source.GitOptions) { o.KnownHosts = nil }, source.ErrAuth},
		"unknown host": {"a host that is not known", func(o *source.GitOptions) {
			o.KnownHosts = []byte(knownhosts.Line([]string{"example.com"}, host.PublicKey()))
		}, source.ErrHostKey},
		"changed host": {"a host with another key", func(o *source.GitOptions) {
			o.KnownHosts = []byte(knownhosts.Line([]string{address}, strange.PublicKey()))
		}, source.ErrHostKey},
		"bad hosts": {"known hosts that are none", func(o *source.GitOptions) { o.KnownHosts = []byte("x y z") }, source.ErrAuth},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := source.GitOptions{
				URL: "ssh://git@" + address + "/app.git", Identity: identity, KnownHosts: known, Ref: source.GitRef{Branch: branch},
			}
			c.change(&o)
			got, err := source.FetchGit(t.Context(), o, "", nil)
			if !errors.Is(err, c.err) {
				t.Fatalf("%s: error %v, want %v", c.reason, err, c.err)
			}
			if err != nil {
				if strings.Contains(err.Error(), "PRIVATE KEY") || strings.Contains(err.Error(), password) {
					t.Errorf("%s: the error shows a secret: %v", c.reason, err)
				}
				return
			}
			if want := branch + "@sha1:" + hash; got.Revision != want {
				t.Errorf("%s: revision %q, want %q", c.reason, got.Revision, want)
			}
		})
	}
}
