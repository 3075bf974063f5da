package sopsfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// Finding is something that is wrong with a file.
type Finding struct {
	// File is the path as it was given, or that of the .sops.yaml that cannot be used.
	File string
	// Line counts from 1.
	Line int
	// Text says what is wrong, with the keys of values and the names of recipients.
	Text string
}

// String returns the finding in a line, the file first.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text) }

// mostPerFile is how many values of a file are named one by one.
const mostPerFile = 10

// Check looks through files and returns what is wrong with them, sorted by file and line:
//
//   - values in clear that the creation rule for the file encrypts. Two things are taken to be meant
//     otherwise, since rules often match more than they mean: by a rule that matches any file of the
//     directory, among Kubernetes objects only Secrets; by one that matches any file of the tree, among
//     texts that are no Kubernetes objects nothing.
//   - values in clear in an encrypted file, and values that lost the metadata of theirs
//   - metadata that cannot be read
//   - files that none of the keys can open, or that were changed by hand; not when there is no key
//
// Links, directories and files that are gone are passed over. An error is one of reading files.
func Check(files []string, keys *decrypt.Keys) ([]Finding, error) {
	c := &checker{keys: keys, rules: map[string]*rules{}, above: map[string]string{}}
	for _, file := range files {
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("checking a file: %w", err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a file: %w", err)
		}
		if err := c.file(file, data); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return c.findings, nil
}

type checker struct {
	keys *decrypt.Keys
	// rules are those that were read, by the path of their file; nil when they cannot be used. above is
	// that path, by directory.
	rules    map[string]*rules
	above    map[string]string
	findings []Finding
}

func (c *checker) find(file string, line int, format string, args ...any) {
	c.findings = append(c.findings, Finding{File: file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// text is a file that is checked.
type text struct {
	file, absolute string
	data           []byte
	format         decrypt.Format
	store          sops.Store
	// rules and index are the creation rule that matches; index is -1 when none does.
	rules *rules
	index int
}

var (
	closedValue = []byte("ENC[AES256_GCM,")
	metadataKey = []byte("lastmodified")
)

func (c *checker) file(file string, data []byte) error {
	if name := filepath.Base(file); name == RulesName {
		return nil
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	t := &text{file: file, absolute: absolute, data: data, format: decrypt.FormatOf(file), index: -1}
	t.rules = c.rulesFor(absolute)
	if t.rules != nil {
		t.index = t.rules.index(absolute)
	}
	marked := bytes.Contains(data, closedValue) || bytes.Contains(data, metadataKey)
	if !marked && t.index < 0 || len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	t.store = storeOf(t.format, config.NewStoresConfig())
	if t.format == decrypt.Binary && (!decrypt.IsEncrypted(data, t.format) || !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))) {
		marked = false
	}
	branches, err := parse(t.store, t.format, data)
	switch {
	case marked && (errors.Is(err, ErrEncrypted) || t.format == decrypt.Binary):
		c.encrypted(t)
	case err != nil:
		c.unreadable(t, err)
	default:
		c.plain(t, branches)
	}
	return nil
}

// rulesFor returns the creation rules for a file. Unusable ones are reported once.
func (c *checker) rulesFor(file string) *rules {
	dir := filepath.Dir(file)
	path, known := c.above[dir]
	if !known {
		// No rules are no rules.
		path, _ = findRules(file)
		c.above[dir] = path
	}
	if path == "" {
		return nil
	}
	r, known := c.rules[path]
	if !known {
		var err error
		if r, err = readRules(path); err != nil {
			c.find(path, 1, "%v", err)
		}
		c.rules[path] = r
	}
	return r
}

// encrypted checks a file that was encrypted.
func (c *checker) encrypted(t *text) {
	tree, err := load(t.store, t.data)
	if err != nil {
		c.find(t.file, 1, "%v", err)
		return
	}
	seen := c.values(t, tree.Branches, tree.Metadata, func(v value) (string, bool) {
		return v.path + " is in clear text in an encrypted file", !v.closed
	})
	if seen > 0 || c.keys == nil || c.keys.Empty() {
		return
	}
	// Checking the values changes the tree.
	if _, err := Open(t.file, t.data, c.keys, false); err != nil {
		c.find(t.file, 1, "%v", err)
	}
}

// unreadable checks a file that is not in the format of its name. One that a rule matches
// by accident is ignored, such as a template.
func (c *checker) unreadable(t *text, err error) {
	if t.index < 0 || t.rules.takesDirectory(t) {
		return
	}
	line := 1
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		line = max(line, syntax.Line)
	}
	c.find(t.file, line, "must be encrypted, but is not: %v", err)
}

// plain checks a file without metadata of SOPS.
func (c *checker) plain(t *text, branches sops.TreeBranches) {
	if t.index < 0 {
		c.orphans(t, branches)
		return
	}
	rule, err := t.rules.load(t.index, t.absolute)
	if err != nil {
		if !slices.ContainsFunc(c.findings, func(f Finding) bool { return f.File == t.rules.path && f.Text == err.Error() }) {
			c.find(t.rules.path, 1, "%v", err)
		}
		return
	}
	if !t.meant(branches) {
		c.orphans(t, branches)
		return
	}
	c.values(t, branches, metadata(rule, t.format), func(v value) (string, bool) {
		if v.closed {
			return v.path + " is encrypted, but the file has no sops metadata", true
		}
		if t.format == decrypt.Binary {
			return "must be encrypted, but is in clear text", true
		}
		return v.path + " must be encrypted, but is in clear text", v.meant
	})
}

// orphans searches for encrypted values without metadata.
func (c *checker) orphans(t *text, branches sops.TreeBranches) {
	c.values(t, branches, sops.Metadata{}, func(v value) (string, bool) {
		return v.path + " is encrypted, but the file has no sops metadata", v.closed
	})
}
