package sopsfile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/getsops/sops/v3"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// value is a value that metadata asks to encrypt.
type value struct {
	path string
	// closed reports whether it is encrypted.
	closed bool
	// meant reports whether the rule of its file means its document.
	meant bool
}

// recorder is a cipher that notes what it is given and changes nothing: the library decides by it
// what is to be encrypted.
type recorder struct {
	note func(path string, closed bool)
}

// Encrypt notes a value. Empty texts and comments are nothing that could be lost.
func (r recorder) Encrypt(plain any, _ []byte, path string) (string, error) {
	text, isText := plain.(string)
	if _, comment := plain.(sops.Comment); !comment && (!isText || text != "") {
		r.note(path, isText && strings.HasPrefix(text, string(closedValue)))
	}
	return text, nil
}

// Decrypt is not offered.
func (recorder) Decrypt(text string, _ []byte, _ string) (any, error) { return text, nil }

// values has say decide about each value that metadata asks to encrypt, notes a finding where it says
// so, and returns how many there were.
func (c *checker) values(t *text, branches sops.TreeBranches, m sops.Metadata, say func(value) (string, bool)) int {
	found := 0
	documents := locate(t.data, t.format)
	for i, branch := range branches {
		at := lines{}
		if i < len(documents) {
			at = documents[i]
		}
		meant := t.index < 0 || t.means(branch)
		look := recorder{note: func(path string, closed bool) {
			line := at.take(path)
			text, wrong := say(value{path: keyPath(path), closed: closed, meant: meant})
			if !wrong {
				return
			}
			if found++; found <= mostPerFile {
				c.find(t.file, line, "%s", text)
			}
		}}
		tree := sops.Tree{Branches: sops.TreeBranches{branch}, Metadata: m}
		if _, err := tree.Encrypt(nil, look); err != nil && meant && t.index >= 0 {
			found++
			c.find(t.file, 1, "document %d cannot be checked or encrypted: a key in it is not a string", i+1)
		}
	}
	if found > mostPerFile {
		c.find(t.file, c.findings[len(c.findings)-1].Line, "and %d more values", found-mostPerFile)
	}
	return found
}

// meant reports whether the rule means anything in the file.
func (t *text) meant(branches sops.TreeBranches) bool {
	return slices.ContainsFunc(branches, t.means)
}

// means reports whether the rule of the file means a document, as Check describes.
func (t *text) means(branch sops.TreeBranch) bool {
	kind := kindOf(branch)
	if slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, filepath.Base(t.file)) {
		kind = "Kustomization"
	}
	switch kind {
	case "Secret":
		return true
	case "":
		return !t.rules.takesTree(t)
	default:
		return !t.rules.takesDirectory(t)
	}
}

// kindOf returns the kind of a Kubernetes object; none when it is no such object.
func kindOf(branch sops.TreeBranch) string {
	fields := map[string]string{}
	for _, item := range branch {
		key, _ := item.Key.(string)
		fields[key], _ = item.Value.(string)
	}
	if fields["apiVersion"] == "" {
		return ""
	}
	return fields["kind"]
}

// someName is the name of no file.
const someName = "some-file-of-headgate"

// takesDirectory reports whether the rule of a file takes any other file beside it that ends alike.
func (r *rules) takesDirectory(t *text) bool {
	return r.index(filepath.Join(filepath.Dir(t.absolute), someName+filepath.Ext(t.file))) == t.index
}

// takesTree reports whether the rule of a file takes any file of the tree, at least any YAML or JSON.
func (r *rules) takesTree(t *text) bool {
	name := someName
	if t.format == decrypt.YAML || t.format == decrypt.JSON {
		name += filepath.Ext(t.file)
	}
	return r.index(filepath.Join(filepath.Dir(r.path), name)) == t.index
}
