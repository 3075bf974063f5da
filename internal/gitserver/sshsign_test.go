package gitserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/headgate-dev/headgate/internal/source"
)

// sshSigner signs as git does, by the library.
type sshSigner struct {
	ssh.Signer
	namespace string
}

func (s sshSigner) Sign(message io.Reader) ([]byte, error) {
	signature, err := sshsig.Sign(message, s.Signer, sshsig.HashSHA512, s.namespace)
	if err != nil {
		return nil, err
	}
	return sshsig.Armor(signature), nil
}

// signWith commits and tags by a key, on a branch of its own, which has the name of the tag.
func signWith(t *testing.T, s *served, name string, signer sshSigner) {
	t.Helper()
	repo, err := gogit.PlainOpen(s.work)
	if err != nil {
		t.Fatal(err)
	}
	work, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	git(t, s.work, "checkout", "-q", "-B", "by-"+name, "main")
	write(t, s.work, "version.yaml", name+"\n")
	who := &object.Signature{Name: "dev", Email: "dev@example.com", When: time.Now()}
	hash, err := work.Commit("signed by "+name, &gogit.CommitOptions{All: true, Author: who, Signer: signer})
	if err != nil {
		t.Fatal(err)
	}
	signTag(t, repo, &object.Tag{
		Name: name, Tagger: *who, Message: name + "\n", TargetType: plumbing.CommitObject, Target: hash,
	}, signer)
	s.push(t, "by-"+name, "refs/tags/"+name)
}

// signTag stores a signed tag, which the library makes by PGP keys only.
func signTag(t *testing.T, repo *gogit.Repository, tag *object.Tag, signer sshSigner) {
	t.Helper()
	bare, full := &plumbing.MemoryObject{}, &plumbing.MemoryObject{}
	if err := tag.EncodeWithoutSignature(bare); err != nil {
		t.Fatal(err)
	}
	text, err := bare.Reader()
	if err != nil {
		t.Fatal(err)
	}
	signature, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	tag.PGPSignature = string(signature)
	if err := tag.Encode(full); err != nil {
		t.Fatal(err)
	}
	hash, err := repo.Storer.SetEncodedObject(full)
	if err == nil {
		err = repo.Storer.SetReference(plumbing.NewHashReference(plumbing.NewTagReferenceName(tag.Name), hash))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func authorized(keys ...ssh.Signer) []byte {
	text := "# who may sign\n\n"
	for _, k := range keys {
		text += strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.PublicKey()))) + " dev@example.com\n"
	}
	return []byte(text)
}

func otherKinds(t *testing.T) map[string]ssh.Signer {
	t.Helper()
	small, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signers := map[string]ssh.Signer{}
	for name, key := range map[string]any{"ecdsa": small, "rsa": large} {
		if signers[name], err = ssh.NewSignerFromKey(key); err != nil {
			t.Fatal(err)
		}
	}
	return signers
}

func TestFetchVerifiesSSH(t *testing.T) {
	s := serve(t)
	_, signer := sshKey(t, "")
	_, stranger := sshKey(t, "")
	_, ring := signing(t)
	signWith(t, s, "v8.0.0", sshSigner{signer, "git"})
	signWith(t, s, "file", sshSigner{signer, "file"})
	keys := map[string][]byte{"dev.sshpub": authorized(stranger, signer), "other.asc": ring}
	for name, other := range otherKinds(t) {
		signWith(t, s, name, sshSigner{other, "git"})
		keys[name+".sshpub"] = authorized(other)
	}
	print := ssh.FingerprintSHA256(signer.PublicKey())
	line := string(authorized(signer))
	branch, tag := source.GitRef{Branch: "by-v8.0.0"}, source.GitRef{Tag: "v8.0.0"}
	cases := map[string]struct {
		reason    string
		ref       source.GitRef
		head, tag bool
		keys      map[string][]byte
		want      []string
		err       error
	}{
		"commit":         {"a signed commit", branch, true, false, keys, []string{print}, nil},
		"tag":            {"a signed tag", tag, false, true, keys, []string{print}, nil},
		"both":           {"both, by a range", source.GitRef{SemVer: "8.x"}, true, true, keys, []string{print, print}, nil},
		"ecdsa":          {"a key of another kind", source.GitRef{Tag: "ecdsa"}, true, true, keys, []string{"SHA256:", "SHA256:"}, nil},
		"rsa":            {"and one more", source.GitRef{Tag: "rsa"}, true, true, keys, []string{"SHA256:", "SHA256:"}, nil},
		"bad entry":      {"an entry that cannot be read hides no other", branch, true, false, map[string][]byte{"a.sshpub": []byte("x"), "b.sshpub": authorized(signer)}, []string{print}, nil},
		"other key":      {"another key", branch, true, false, map[string][]byte{"dev.sshpub": authorized(stranger)}, nil, source.ErrCommitSignature},
		"other key, tag": {"another key than that of the tag", tag, false, true, map[string][]byte{"dev.sshpub": authorized(stranger)}, nil, source.ErrTagSignature},
		"other suffix":   {"an entry that is not said to be one of SSH", branch, true, false, map[string][]byte{"dev.pub": authorized(signer)}, nil, source.ErrCommitSignature},
		"only PGP":       {"keys of another kind alone", branch, true, false, map[string][]byte{"other.asc": ring}, nil, source.ErrCommitSignature},
		"no key":         {"no key", branch, true, false, nil, nil, source.ErrCommitSignature},
		"other use":      {"a signature that was made for another use than Git", source.GitRef{Branch: "by-file"}, true, false, keys, nil, source.ErrCommitSignature},
		"options":        {"options that are not honoured", branch, true, false, map[string][]byte{"dev.sshpub": []byte("restrict " + strings.TrimPrefix(line, "# who may sign\n\n"))}, nil, source.ErrCommitSignature},
		"unsigned":       {"no signature", source.GitRef{Branch: "side"}, true, false, keys, nil, source.ErrCommitSignature},
		"unsigned tag":   {"a tag without one", source.GitRef{Tag: "v1.2.0"}, false, true, keys, nil, source.ErrUnsigned},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := s.options(c.ref)
			o.Verify = &source.Verification{Commit: c.head, Tag: c.tag, Keys: c.keys}
			got, err := source.FetchGit(t.Context(), o, "", nil)
			if !errors.Is(err, c.err) || (err != nil) != (c.err != nil) {
				t.Fatalf("%s: error %v, want %v", c.reason, err, c.err)
			}
			if err != nil {
				return
			}
			if len(got.Verified) != len(c.want) {
				t.Fatalf("%s: verified %q, want %q", c.reason, got.Verified, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got.Verified[i], "with key '"+want) {
					t.Errorf("%s: verified %q, want the key %s", c.reason, got.Verified[i], want)
				}
			}
		})
	}
}

// TestForgedSSHSignature puts the signature of one commit on another.
func TestForgedSSHSignature(t *testing.T) {
	s := serve(t)
	_, signer := sshKey(t, "")
	signWith(t, s, "v8.0.0", sshSigner{signer, "git"})
	signed := git(t, s.work, "cat-file", "commit", "by-v8.0.0")
	file := filepath.Join(t.TempDir(), "forged")
	if err := os.WriteFile(file, []byte(strings.Replace(signed, "signed by", "forged by", 1)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, s.work, "update-ref", "refs/heads/forged", git(t, s.work, "hash-object", "-t", "commit", "-w", file))
	s.push(t, "forged")
	o := s.options(source.GitRef{Branch: "forged"})
	o.Verify = &source.Verification{Commit: true, Keys: map[string][]byte{"dev.sshpub": authorized(signer)}}
	if _, err := source.FetchGit(t.Context(), o, "", nil); !errors.Is(err, source.ErrCommitSignature) || !strings.Contains(err.Error(), "did not verify") {
		t.Errorf("a commit with the signature of another gives %v", err)
	}
}

// TestFetchVerifiesWhatGitSigned has git and ssh-keygen sign, where this machine has them.
func TestFetchVerifiesWhatGitSigned(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen on this machine; TestFetchVerifiesSSH signs by the library")
	}
	s := serve(t)
	private, signer := sshKey(t, "")
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	signs := []string{"-c", "gpg.format=ssh", "-c", "user.signingKey=" + file}
	write(t, s.work, "version.yaml", "signed\n")
	git(t, s.work, append(signs, "commit", "-q", "-S", "-a", "-m", "signed")...)
	git(t, s.work, append(signs, "tag", "-s", "-m", "eight", "v8.0.0")...)
	s.push(t, "main", "--tags")
	o := s.options(source.GitRef{Tag: "v8.0.0"})
	o.Verify = &source.Verification{Commit: true, Tag: true, Keys: map[string][]byte{"dev.sshpub": authorized(signer)}}
	got, err := source.FetchGit(t.Context(), o, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Verified) != 2 || !strings.Contains(got.Verified[1], ssh.FingerprintSHA256(signer.PublicKey())) {
		t.Errorf("verified %q", got.Verified)
	}
}
