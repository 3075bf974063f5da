package engine

import (
	"net/url"
	"strings"
	"time"
)

// Repository is a line of revisions: a repository, and what is followed of it.
type Repository struct {
	// Address is that of the repository, in one form for all the ways to write it.
	Address string
	// Ref is a branch, a tag, a range of versions or a commit; it is empty for whatever the repository calls HEAD.
	Ref string
}

// RepositoryOf is the line that a reference of a repository stands for. Credentials, case, the protocol, its default port
// and ".git" make no difference.
func RepositoryOf(address, ref string) Repository {
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
	if ref == "HEAD" {
		ref = ""
	}
	return Repository{Address: canonicalAddress(address), Ref: ref}
}

func canonicalAddress(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if !strings.Contains(address, "://") {
		// user@host:path, as SSH has it.
		address = "ssh://" + strings.Replace(address, ":", "/", 1)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	host := u.Host
	if u.Port() == defaultPort(u.Scheme) {
		host = u.Hostname()
	}
	return host + "/" + strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
}

func defaultPort(protocol string) string {
	switch protocol {
	case "http":
		return "80"
	case "https", "oci":
		return "443"
	case "ssh":
		return "22"
	default:
		return ""
	}
}

// Reading is what a source has of a repository. A source that is made from others reads what these read.
type Reading struct {
	Repository
	// Revision is what it has, empty while it has nothing.
	Revision string
	// Known is when it had that first; Fetched is when the last fetch began that went well.
	Known, Fetched time.Time
	// Fixed is set when nothing will fetch it again, such as that of a suspended source.
	Fixed bool
	// Failure is why the last fetch failed, empty when it went well.
	Failure string
}

// commit is what a revision names, however its source words it: branch@sha1:COMMIT, tag@sha256:DIGEST or COMMIT alone.
func commit(revision string) string {
	revision = revision[strings.LastIndexByte(revision, '@')+1:]
	return revision[strings.LastIndexByte(revision, ':')+1:]
}

func (x Reading) has(other Reading) bool { return commit(x.Revision) == commit(other.Revision) }

// lags reports whether a source may not have read yet what another one has. Which of two revisions is older no one knows
// who has no history; but a fetch that began after a revision was known gives that one, or a later one.
func (x Reading) lags(other Reading) bool {
	return !x.Fixed && !x.has(other) && x.Fetched.Before(other.Known)
}

// follows reports whether two sources follow the same line. That HEAD is the branch of another source shows in what it
// has, once it has been fetched.
func (x Reading) follows(other Reading) bool {
	switch {
	case x.Address != other.Address:
		return false
	case x.Ref == other.Ref:
		return true
	case x.Ref != "" && other.Ref != "":
		return false
	}
	return x.has(other) || x.lags(other)
}
