package idp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The lengths of names: that of a repository of Gitea, and that of an object.
const (
	maxRepository = 100
	maxObject     = validation.DNS1123SubdomainMaxLength
)

var (
	// reserved end no repository of Gitea.
	reserved = regexp.MustCompile(`\.(git|wiki|rss|atom)$`)
	// outside are characters that are replaced in a name.
	outside = regexp.MustCompile(`[^0-9a-z]+`)
)

// names gives things names that no two have: the plain one to the first, and one with a hash of what it is to the others.
type names struct {
	most  int
	taken map[string]bool
}

func newNames(most int) names { return names{most, map[string]bool{}} }

// take is a name that an API server and a Git server accept: the plain one, unless that is not valid or taken.
func (n names) take(plain, of string) string {
	name := plain
	if len(name) > n.most || reserved.MatchString(name) || len(validation.IsDNS1123Subdomain(name)) > 0 {
		name = n.hashed(plain, of)
	}
	for n.taken[name] {
		name = n.hashed(plain, of)
		of += "\n"
	}
	n.taken[name] = true
	return name
}

// hashed is a name with eight digits of the hash of what it is.
func (n names) hashed(plain, of string) string {
	sum := sha256.Sum256([]byte(of))
	suffix := "-" + hex.EncodeToString(sum[:4])
	name := outside.ReplaceAllString(strings.ToLower(plain), "-")
	name = strings.Trim(name[:min(len(name), n.most-len(suffix))], "-")
	return strings.TrimPrefix(name+suffix, "-")
}
