package sopsfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"
	"go.yaml.in/yaml/v3"

	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
)

// RulesName is the name of the files that hold creation rules.
const RulesName = ".sops.yaml"

// ErrNoRules is returned when no directory above a file has a .sops.yaml.
var ErrNoRules = errors.New("no .sops.yaml in its directory or above")

// NoRuleError is returned for a file that no creation rule matches.
type NoRuleError struct {
	// Rules is the path of the .sops.yaml that was asked.
	Rules string
}

// Error names the rules.
func (e *NoRuleError) Error() string { return "no creation rule of " + e.Rules + " matches it" }

// rules are the creation rules of one .sops.yaml.
type rules struct {
	path   string
	match  []*regexp.Regexp
	stores *config.StoresConfig
	// made are the rules that were used, by their index.
	made map[int]*rule
}

// rule is what one creation rule asks for.
type rule struct {
	config *config.Config
	err    error
}

// findRules returns the path of the nearest .sops.yaml, for a file with an absolute path.
func findRules(file string) (string, error) {
	found, err := config.LookupConfigFile(filepath.ToSlash(file))
	if err != nil {
		return "", ErrNoRules
	}
	return filepath.FromSlash(found.Path), nil
}

// readRules reads a .sops.yaml.
func readRules(path string) (*rules, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the creation rules: %w", err)
	}
	var file struct {
		Rules []struct {
			Path string `yaml:"path_regex"`
		} `yaml:"creation_rules"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading the creation rules %s: %w", path, err)
	}
	r := &rules{path: path, made: map[int]*rule{}}
	for i, one := range file.Rules {
		compiled, err := patterns.Regexp(one.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: path_regex of creation rule %d: %w", path, i+1, err)
		}
		r.match = append(r.match, compiled)
	}
	if r.stores, err = config.LoadStoresConfig(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// index is that of the first rule that matches a file, or -1. As the library has it, a rule sees the
// path from the directory of the .sops.yaml on.
func (r *rules) index(file string) int {
	rel := strings.TrimPrefix(file, filepath.Dir(r.path)+string(filepath.Separator))
	for i, match := range r.match {
		if match.MatchString(rel) {
			return i
		}
	}
	return -1
}

// load returns the rule for a file, which is the one with this index.
func (r *rules) load(index int, file string) (*config.Config, error) {
	if made := r.made[index]; made != nil {
		return made.config, made.err
	}
	c, err := config.LoadCreationRuleForFile(r.path, file, nil)
	if err != nil {
		err = fmt.Errorf("creation rule %d of %s: %w", index+1, r.path, err)
	}
	r.made[index] = &rule{c, err}
	return c, err
}

// metadata is what a file in a format is encrypted with by a rule. A binary file is one value, which
// rules about keys do not concern.
func metadata(c *config.Config, format decrypt.Format) sops.Metadata {
	m := sops.Metadata{KeyGroups: c.KeyGroups, ShamirThreshold: c.ShamirThreshold, Version: sopsVersion}
	if format == decrypt.Binary {
		return m
	}
	m.UnencryptedSuffix, m.EncryptedSuffix = c.UnencryptedSuffix, c.EncryptedSuffix
	m.UnencryptedRegex, m.EncryptedRegex = c.UnencryptedRegex, c.EncryptedRegex
	m.UnencryptedCommentRegex, m.EncryptedCommentRegex = c.UnencryptedCommentRegex, c.EncryptedCommentRegex
	m.MACOnlyEncrypted = c.MACOnlyEncrypted
	if c.UnencryptedSuffix+c.EncryptedSuffix+c.UnencryptedRegex+c.EncryptedRegex+c.UnencryptedCommentRegex+c.EncryptedCommentRegex == "" {
		m.UnencryptedSuffix = sops.DefaultUnencryptedSuffix
	}
	return m
}
