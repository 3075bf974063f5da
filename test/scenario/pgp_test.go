package scenario

import (
	"bytes"
	"os"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	gogit "github.com/go-git/go-git/v5"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/rogpeppe/go-internal/testscript"
)

// pgpkey makes a PGP key: "pgpkey NAME". Its identity is $NAME from then on, $NAME_asc its public part for a text in quotes,
// and its private part is in NAME.key.
func (w *world) pgpkey(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 1, "pgpkey NAME")
	entity, err := openpgp.NewEntity(args[0], "", args[0]+"@example.dev", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	ts.Check(err)
	var public, private bytes.Buffer
	armored, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	ts.Check(err)
	ts.Check(entity.Serialize(armored))
	ts.Check(armored.Close())
	ts.Check(entity.SerializePrivate(&private, nil))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), private.Bytes(), 0o600))
	ts.Setenv(args[0], entity.PrimaryKey.KeyIdString())
	ts.Setenv(args[0]+"_asc", strings.ReplaceAll(public.String(), "\n", `\n`))
}

// signed pushes the directory repo as a commit that a key signed, or as a signed tag of the last commit, which may have another
// name on the server as well: "signed KEY [TAG [NAME]]".
func (w *world) signed(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 1 && len(args) <= 3, "signed KEY [TAG [NAME]]")
	private, err := os.Open(ts.MkAbs(args[0] + ".key"))
	ts.Check(err)
	defer private.Close()
	ring, err := openpgp.ReadKeyRing(private)
	ts.Check(err)
	repo, err := gogit.PlainOpen(ts.MkAbs("repo"))
	ts.Check(err)
	who := &gitobject.Signature{Name: "dev", Email: "dev@example.dev", When: time.Now()}
	if len(args) > 1 {
		head, err := repo.Head()
		ts.Check(err)
		_, err = repo.CreateTag(args[1], head.Hash(), &gogit.CreateTagOptions{Tagger: who, Message: "a tag", SignKey: ring[0]})
		ts.Check(err)
		for _, name := range args[1:] {
			w.pushes(ts, "refs/tags/"+args[1]+":refs/tags/"+name)
		}
		return
	}
	tree, err := repo.Worktree()
	ts.Check(err)
	ts.Check(tree.AddGlob("."))
	hash, err := tree.Commit("change", &gogit.CommitOptions{Author: who, SignKey: ring[0], AllowEmptyCommits: true})
	ts.Check(err)
	ts.Setenv("HEAD", hash.String())
	w.pushes(ts, "HEAD:main")
}
