// Package plan decides what happens in a pipeline of Kargo: what Freight is called, where it may go, which Promotion runs, what follows from a
// step, and what a Stage says of itself. It takes objects, observations and the time, and gives names, decisions and statuses.
//
// It refuses clients, clocks, files and goroutines, and evaluates no expressions: its caller does that.
package plan

import (
	"crypto/sha1" //nolint:gosec // the names of Freight are SHA-1 digests upstream, and no secret or signature depends on them
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// OriginKey is how statuses name an origin: KIND/NAME.
func OriginKey(origin v1alpha1.FreightOrigin) string {
	return string(origin.Kind) + "/" + origin.Name
}

// FreightName is the name that follows from the origin of a Freight and from what is in it, as Kargo 1.1 to 1.11 compute it: a SHA-1 digest in
// hexadecimal digits. The order of the artifacts does not matter.
func FreightName(f *v1alpha1.Freight) string {
	var parts []string
	for _, c := range f.Commits {
		part := NormalizeGit(c.RepoURL)
		if c.Tag != "" {
			part += ":" + c.Tag
		}
		parts = append(parts, named(part+":"+c.ID, c.SubscriptionName))
	}
	for _, i := range f.Images {
		parts = append(parts, named(fmt.Sprintf("%s:%s@%s", i.RepoURL, i.Tag, i.Digest), i.SubscriptionName))
	}
	for _, c := range f.Charts {
		part := path.Join(NormalizeChart(c.RepoURL), c.Name) + ":" + c.Version
		parts = append(parts, named(part, c.SubscriptionName))
	}
	for _, a := range f.Artifacts {
		parts = append(parts, a.ArtifactType+":"+a.SubscriptionName+":"+a.Version)
	}
	slices.Sort(parts)
	return digest(OriginKey(f.Origin) + ":" + strings.Join(parts, "|"))
}

func named(part, subscription string) string {
	if subscription == "" {
		return part
	}
	return part + ":" + subscription
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// Reference is a Freight as Stages and Promotions remember it.
func Reference(f *v1alpha1.Freight) v1alpha1.FreightReference {
	c := f.DeepCopy()
	return v1alpha1.FreightReference{
		Name: c.Name, Origin: c.Origin, Commits: c.Commits, Images: c.Images, Charts: c.Charts, Artifacts: c.Artifacts,
	}
}

// scp is [user@]host[:path], the short form of addresses over SSH.
var scp = regexp.MustCompile(`^((?:[\w-]+@)?[\w-]+(?:\.[\w-]+)*)(?::(.*))?$`)

// NormalizeGit is the address of a Git repository as Kargo compares it: in lower case, without a login over HTTP, without ".git" and a slash at
// the end; the short form of SSH is written out. What is not an address comes back as it is.
func NormalizeGit(repo string) string {
	text := strings.TrimFunc(repo, invisible)
	decoded := text
	if unescaped, err := url.PathUnescape(text); err == nil {
		decoded = strings.TrimFunc(unescaped, invisible)
	}
	if text == "" || strings.ContainsFunc(decoded, invisible) {
		return repo
	}
	for _, scheme := range []string{"http://", "https://", "ssh://"} {
		if !strings.HasPrefix(text, scheme) {
			continue
		}
		address, err := url.Parse(text)
		if err != nil || len(address.Query()) > 0 {
			return repo
		}
		if scheme != "ssh://" {
			address.User = nil
		}
		trim(address)
		return strings.ToLower(address.String())
	}
	match := scp.FindStringSubmatch(text)
	if match == nil {
		return repo
	}
	address, err := url.Parse(match[2])
	if err != nil {
		return repo
	}
	trim(address)
	if address.Path == "" {
		return strings.ToLower("ssh://" + match[1])
	}
	return strings.ToLower("ssh://" + match[1] + "/" + address.String())
}

func trim(address *url.URL) {
	address.Path = strings.TrimSuffix(strings.TrimSuffix(address.Path, "/"), ".git")
}

func invisible(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// NormalizeChart is the address of a chart repository as Kargo compares it: in lower case, without "oci://", and in the short form of Docker Hub.
func NormalizeChart(repo string) string {
	return NormalizeImage(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(repo)), "oci://"))
}

// RegistryScheme is http for a repository of a registry that speaks without encryption by convention, such as one of this machine, and https for others.
func RegistryScheme(repo string) string {
	if of, err := name.NewRepository(repo); err == nil {
		return of.Scheme()
	}
	return "https"
}

// NormalizeImage is the address of an image repository as Kargo compares it: in the short form of Docker Hub. What is not an address comes back
// as it is.
func NormalizeImage(repo string) string {
	parsed, err := name.ParseReference(repo, name.WeakValidation)
	if err != nil {
		return repo
	}
	registry, repository := parsed.Context().RegistryStr(), parsed.Context().RepositoryStr()
	if registry == "index.docker.io" || registry == "registry-1.docker.io" {
		return strings.TrimPrefix(repository, "library/")
	}
	return registry + "/" + repository
}
