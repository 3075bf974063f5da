package gitserver_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/headgate-dev/headgate/internal/source"
)

// edit replaces a word in all files of YAML.
func (s *served) edit(branch, from, to string) source.GitEdit {
	o := s.options(source.GitRef{Branch: "main"})
	o.Username, o.Password = writer, writerToken
	return source.GitEdit{
		GitOptions: o, Branch: branch, AuthorName: "bot", AuthorEmail: "bot@example.com",
		Wants: func(path string, content []byte) bool {
			return strings.HasSuffix(path, ".yaml") && (content == nil || bytes.Contains(content, []byte(from)))
		},
		Edit: func(files map[string][]byte) (map[string][]byte, string, error) {
			changed := map[string][]byte{}
			for path, content := range files {
				changed[path] = bytes.ReplaceAll(content, []byte(from), []byte(to))
			}
			return changed, "from " + from + " to " + to, nil
		},
	}
}

func edited(t *testing.T, e source.GitEdit) *source.GitEdited {
	t.Helper()
	done, err := source.EditGit(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestEdit(t *testing.T) {
	s := serve(t)
	done := edited(t, s.edit("main", "b: 1", "b: 2"))
	if done.Commit == "" || done.Revision != "main@sha1:"+done.Commit {
		t.Fatalf("got %+v", done)
	}
	files := show(t, s.server, "app", "main")
	if files["dir/b.yaml"] != "b: 2\n" || files["a.yaml"] != "a: 1\n" {
		t.Errorf("the files are %v", files)
	}
	git(t, s.work, "fetch", "-q", as(s.server.URL("app"), reader, readerToken), "main")
	if got := git(t, s.work, "log", "-1", "--format=%an <%ae> %cn %P %s", "FETCH_HEAD"); !strings.HasPrefix(got, "bot <bot@example.com> bot ") ||
		!strings.HasSuffix(got, " from b: 1 to b: 2") || !strings.Contains(got, git(t, s.work, "rev-parse", "main")) {
		t.Errorf("the commit is %q", got)
	}
	if out := git(t, s.work, "fsck", "--strict"); strings.Contains(out, "error") {
		t.Errorf("the repository is broken: %s", out)
	}

	again := s.edit("main", "b: 1", "b: 2")
	if none := edited(t, again); none.Commit != "" || none.Unchanged {
		t.Errorf("nothing to change, and got %+v", none)
	}
	again.Previous = done.Seen
	if none := edited(t, again); !none.Unchanged {
		t.Errorf("nothing moved, and got %+v", none)
	}
	dry := s.edit("main", "b: 2", "b: 3")
	dry.Dry = true
	if none := edited(t, dry); none.Commit != "" || none.Message == "" || show(t, s.server, "app", "main")["dir/b.yaml"] != "b: 2\n" {
		t.Errorf("a dry edit came to %+v", none)
	}
	dir := s.edit("main", ": ", ":  ")
	dir.Dir = "./dir/"
	edited(t, dir)
	if files := show(t, s.server, "app", "main"); files["dir/b.yaml"] != "b:  2\n" || files["a.yaml"] != "a: 1\n" {
		t.Errorf("the files are %v", files)
	}
	dir.Dir = "../none"
	if _, err := source.EditGit(t.Context(), dir); err == nil || !strings.Contains(err.Error(), `no such directory "none"`) {
		t.Errorf("got %v", err)
	}
}

func TestEditAnotherBranch(t *testing.T) {
	s := serve(t)
	first := edited(t, s.edit("bot", "a: 1", "a: 2"))
	if first.Commit == "" || !strings.HasPrefix(first.Revision, "main@sha1:"+git(t, s.work, "rev-parse", "main")) {
		t.Fatalf("got %+v", first)
	}
	if a := show(t, s.server, "app", "main")["a.yaml"]; a != "a: 1\n" {
		t.Errorf("main has %q", a)
	}
	e := s.edit("bot", "a: 2", "a: 3")
	e.Refspec = "refs/heads/bot:refs/heads/copy"
	second := edited(t, e)
	git(t, s.work, "fetch", "-q", as(s.server.URL("app"), reader, readerToken), "copy")
	if got := git(t, s.work, "log", "--format=%H", "-2", "FETCH_HEAD"); got != second.Commit+"\n"+first.Commit {
		t.Errorf("the copy has %q, want %q and %q", got, second.Commit, first.Commit)
	}
	// The copy is behind by one commit, and may be moved on.
	edited(t, s.edit("bot", "a: 3", "a: 4"))
	e = s.edit("bot", "a: 4", "a: 5")
	e.Refspec = "HEAD:refs/heads/copy"
	edited(t, e)
	// It has a commit of its own, which is lost by force alone.
	git(t, s.work, "checkout", "-q", "-b", "other")
	commit(t, s.work, "other", map[string]string{"o.yaml": "o\n"})
	s.push(t, "other:copy")
	e = s.edit("bot", "a: 5", "a: 6")
	e.Refspec = "bot:refs/heads/copy"
	if _, err := source.EditGit(t.Context(), e); err == nil || !strings.Contains(err.Error(), "start the refspec with +") {
		t.Errorf("got %v", err)
	}
	e = s.edit("bot", "a: 6", "a: 7")
	e.Refspec = "+bot:refs/heads/copy"
	last := edited(t, e)
	if a := show(t, s.server, "app", "copy")["a.yaml"]; a != "a: 7\n" || last.Commit == "" {
		t.Errorf("the copy has %q", a)
	}
}

func TestEditChecks(t *testing.T) {
	cases := map[string]struct{ reason, branch, refspec, want string }{
		"fine":    {"a branch alone", "main", "", ""},
		"refspec": {"and a reference", "main", "refs/heads/main:refs/for/main", ""},
		"branch":  {"no name", "a..b", "", "spec.git.push.branch"},
		"source":  {"another source", "main", "refs/heads/x:refs/heads/y", "its source must be"},
		"short":   {"a destination that could be anything", "main", "main:y", "want SOURCE:refs/DESTINATION"},
		"delete":  {"a deletion", "main", ":refs/heads/y", "its source must be"},
		"pattern": {"several", "main", "refs/heads/*:refs/heads/*", "want SOURCE:refs/DESTINATION"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&source.GitEdit{Branch: tc.branch, Refspec: tc.refspec}).Check()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// TestEditMeetsAnother pushes another commit between the fetch and the push.
func TestEditMeetsAnother(t *testing.T) {
	s := serve(t)
	e := s.edit("main", "a: 1", "a: 2")
	tries, change := 0, e.Edit
	e.Edit = func(files map[string][]byte) (map[string][]byte, string, error) {
		if tries++; tries < 3 {
			commit(t, s.work, "meanwhile", map[string]string{"other.yaml": strings.Repeat("x", tries)})
			s.push(t, "main")
		}
		return change(files)
	}
	done := edited(t, e)
	files := show(t, s.server, "app", "main")
	if tries != 3 || done.Commit == "" || files["a.yaml"] != "a: 2\n" || files["other.yaml"] != "xx" {
		t.Errorf("after %d tries: %v", tries, files)
	}
}

func TestEditRefused(t *testing.T) {
	s := serve(t)
	e := s.edit("main", "a: 1", "a: 2")
	e.Username, e.Password = reader, readerToken
	_, err := source.EditGit(t.Context(), e)
	if !errors.Is(err, source.ErrAuth) || !strings.Contains(err.Error(), "pushing to") || strings.Contains(err.Error(), readerToken) {
		t.Errorf("got %v", err)
	}
	if _, err := s.server.Mirror(t.Context(), "shown", s.work); err != nil {
		t.Fatal(err)
	}
	before := git(t, s.work, "status", "--porcelain", "--branch")
	e = s.edit("main", "a: 1", "a: 2")
	e.URL = s.server.URL("shown")
	if _, err = source.EditGit(t.Context(), e); err == nil {
		t.Error("a mirror of a working copy took a push")
	}
	if after := git(t, s.work, "status", "--porcelain", "--branch"); after != before {
		t.Errorf("the working copy was %q and is %q", before, after)
	}
	e = s.edit("main", "a: 1", "a: 2")
	e.PushOptions = map[string]string{"ci.skip": ""}
	if _, err = source.EditGit(t.Context(), e); err == nil || !strings.Contains(err.Error(), "spec.git.push.options") {
		t.Errorf("a server that takes no options gave %v", err)
	}
}

func TestEditSigns(t *testing.T) {
	s := serve(t)
	entity, ring := signing(t)
	_, identity, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(identity, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(identity.Public())
	if err != nil {
		t.Fatal(err)
	}
	byPGP, err := source.PGPSigner(private(t, entity), nil)
	if err != nil {
		t.Fatal(err)
	}
	bySSH, err := source.SSHSigner(pem.EncodeToMemory(block), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range []struct {
		sign *source.Signer
		keys map[string][]byte
		from string
		to   string
	}{{byPGP, map[string][]byte{"a.asc": ring}, "1", "2"}, {bySSH, map[string][]byte{"a.sshpub": ssh.MarshalAuthorizedKey(public)}, "2", "3"}} {
		e := s.edit("main", "a: "+signer.from, "a: "+signer.to)
		e.Sign = signer.sign
		done := edited(t, e)
		o := s.options(source.GitRef{Branch: "main"})
		o.Verify = &source.Verification{Commit: true, Keys: signer.keys}
		got, err := source.FetchGit(t.Context(), o, "", nil)
		if err != nil || got.Revision != "main@sha1:"+done.Commit || len(got.Verified) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	cases := map[string]struct {
		reason string
		read   func() (*source.Signer, error)
	}{
		"public":   {"it cannot sign", func() (*source.Signer, error) { return source.PGPSigner(ring, nil) }},
		"garbage":  {"it is no key", func() (*source.Signer, error) { return source.PGPSigner([]byte("x"), nil) }},
		"ssh":      {"it is no key", func() (*source.Signer, error) { return source.SSHSigner([]byte("x"), nil) }},
		"closed":   {"its password is missing", func() (*source.Signer, error) { return source.SSHSigner(pem.EncodeToMemory(block), nil) }},
		"password": {"it has another password", func() (*source.Signer, error) { return source.SSHSigner(pem.EncodeToMemory(block), []byte("x")) }},
	}
	for name, tc := range cases {
		if _, err := tc.read(); !errors.Is(err, source.ErrSigningKey) {
			t.Errorf("%s: %s: got %v", name, tc.reason, err)
		}
	}
}

// private is a key pair in armor.
func private(t *testing.T, entity *openpgp.Entity) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := armor.Encode(&out, openpgp.PrivateKeyType, nil)
	if err == nil {
		err = entity.SerializePrivate(w, nil)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEditNames(t *testing.T) {
	if diff := cmp.Diff("index.docker.io/library/alpine", must(source.CanonicalImage("alpine", false))); diff != "" {
		t.Error(diff)
	}
	for _, image := range []string{"https://ghcr.io/x/y", "ghcr.io/x/y:v1", "ghcr.io/x/y@sha256:0", "UPPER/x"} {
		if _, err := source.CanonicalImage(image, false); !errors.Is(err, source.ErrURL) {
			t.Errorf("%q: got %v", image, err)
		}
	}
}

func must(text string, err error) string {
	if err != nil {
		return err.Error()
	}
	return text
}

// A repository without a commit is initialized on request, with directories; files are added to one that
// has commits.
func TestEditBegins(t *testing.T) {
	s := serve(t)
	if err := s.server.CreateRepo(t.Context(), "empty"); err != nil {
		t.Fatal(err)
	}
	e := s.edit("main", "", "")
	e.URL = s.server.URL("empty")
	e.Edit = func(files map[string][]byte) (map[string][]byte, string, error) {
		if len(files) > 0 {
			return map[string][]byte{"a/b/d.yaml": []byte("d: 1\n"), "a-b.yaml": []byte("e: 1\n")}, "more", nil
		}
		return map[string][]byte{"a/b/c.yaml": []byte("c: 1\n"), "a.yaml": []byte("a: 1\n")}, "begin", nil
	}
	if _, err := source.EditGit(t.Context(), e); err == nil || !strings.Contains(err.Error(), "the repository is empty") {
		t.Errorf("got %v", err)
	}
	e.Init = true
	first := edited(t, e)
	second := edited(t, e)
	if first.Commit == "" || second.Commit == "" {
		t.Errorf("got %+v, then %+v", first, second)
	}
	want := map[string]string{"a.yaml": "a: 1\n", "a/b/c.yaml": "c: 1\n", "a/b/d.yaml": "d: 1\n", "a-b.yaml": "e: 1\n"}
	if diff := cmp.Diff(want, show(t, s.server, "empty", "main")); diff != "" {
		t.Errorf("the files (-want +got):\n%s", diff)
	}
	clone := t.TempDir()
	git(t, clone, "clone", "-q", as(s.server.URL("empty"), reader, readerToken), ".")
	if out := git(t, clone, "fsck", "--strict"); strings.Contains(out, "error") {
		t.Errorf("the repository is broken: %s", out)
	}
	if got := git(t, clone, "log", "--format=%s"); got != "more\nbegin" {
		t.Errorf("the commits are %q", got)
	}
}
