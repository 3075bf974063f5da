package idp

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits of the time to fetch a remote package: what it is by default, as for kustomize, and at most.
const (
	defaultTimeout = 27 * time.Second
	maxTimeout     = time.Hour
)

// ErrNotRemote is that of a text which does not have the form of a remote package.
var ErrNotRemote = errors.New("a remote package is REPOSITORY//DIRECTORY?ref=REVISION, such as https://github.com/cnoe-io/stacks//basic?ref=main")

// Remote is a directory of a remote repository, in the grammar of kustomize's remote targets.
type Remote struct {
	// URL is that of the repository, without credentials: https://github.com/cnoe-io/stacks or git@github.com:cnoe-io/stacks.
	URL string
	// Username and Password are those of the URL; secret, and not for messages.
	Username, Password string
	// Path is the directory, relative to the root of the repository; "." is the root.
	Path string
	// Ref is a branch, a tag or a commit; empty for the default branch.
	Ref string
	// Submodules reports whether these are fetched as well; they are by default.
	Submodules bool
	// Timeout limits the fetch: 27s by default, an hour at most.
	Timeout time.Duration
}

// ParseRemote reads REPOSITORY//DIRECTORY?ref=REVISION&timeout=SECONDS&submodules=BOOL. The repository is a URL with the scheme https, http or
// ssh, or of the form user@host:path; ref comes before its synonym version, and timeout is a number of seconds or a duration. A text
// without // behind the host is ErrNotRemote. No error has a password.
func ParseRemote(text string) (Remote, error) {
	before, query, _ := strings.Cut(text, "?")
	r, within, err := parseRepository(before)
	if err != nil {
		return Remote{}, err
	}
	if r.Path, err = parseDirectory(within); err != nil {
		return Remote{}, fmt.Errorf("reading the URL of a package at %s: %w", r.URL, err)
	}
	if err := r.parseQuery(query); err != nil {
		return Remote{}, fmt.Errorf("reading the URL of a package at %s: %w", r.URL, err)
	}
	return r, nil
}

// parseRepository reads what comes before the query: the repository, and the directory within it.
func parseRepository(text string) (Remote, string, error) {
	if strings.HasPrefix(text, "github.com/") {
		text = "https://" + text
	}
	scheme, rest, has := strings.Cut(text, "://")
	if !has {
		return parseSCP(text)
	}
	if scheme == "file" {
		return Remote{}, "", fmt.Errorf("%w; name a local directory without file://", ErrNotRemote)
	}
	if scheme != "https" && scheme != "http" && scheme != "ssh" {
		return Remote{}, "", fmt.Errorf("%w; its scheme is https, http or ssh", ErrNotRemote)
	}
	authority, location, _ := strings.Cut(rest, "/")
	repository, within, has := strings.Cut(location, "//")
	if !has || authority == "" || !isRepository(repository) {
		return Remote{}, "", ErrNotRemote
	}
	parsed, err := url.Parse(scheme + "://" + authority + "/" + repository)
	if err != nil || parsed.Hostname() == "" || strings.ContainsFunc(parsed.Hostname(), invalidInHost) {
		return Remote{}, "", fmt.Errorf("%w; this is not a valid URL", ErrNotRemote) // the cause would show a password
	}
	r := Remote{Username: parsed.User.Username()}
	r.Password, _ = parsed.User.Password()
	if parsed.User = nil; scheme == "ssh" && r.Username != "" {
		// The account of ssh is part of the address, and no secret.
		parsed.User, r.Username = url.User(r.Username), ""
	}
	r.URL = parsed.String()
	return r, within, nil
}

// parseSCP reads git@github.com:owner/repository//directory.
func parseSCP(text string) (Remote, string, error) {
	host, location, has := strings.Cut(text, ":")
	user, name, named := strings.Cut(host, "@")
	repository, within, divided := strings.Cut(location, "//")
	if !has || !named || !divided || user == "" || name == "" || !isRepository(repository) || strings.ContainsFunc(user+name, invalidInHost) ||
		strings.HasPrefix(user, "-") || strings.HasPrefix(name, "-") || strings.HasPrefix(repository, "-") {
		return Remote{}, "", ErrNotRemote
	}
	return Remote{URL: host + ":" + repository}, within, nil
}

// isRepository reports whether a text may be the path of a repository.
func isRepository(text string) bool {
	return strings.Trim(text, "/") != "" && !strings.ContainsFunc(text, func(r rune) bool { return invalidInPath(r) || strings.ContainsRune(" #\\", r) }) &&
		!slices.Contains(strings.Split(text, "/"), "..")
}

func invalidInHost(r rune) bool {
	return strings.ContainsRune(" \t\r\n/\\()<>\"'@", r) || r < ' ' || r == 0x7f
}

func invalidInPath(r rune) bool { return r < ' ' || r == 0x7f }

// parseDirectory makes the directory a path below the root of the repository.
func parseDirectory(text string) (string, error) {
	at := path.Clean(strings.Trim(text, "/"))
	if at == ".." || strings.HasPrefix(at, "../") || strings.ContainsFunc(at, invalidInPath) {
		return "", fmt.Errorf("the directory %q leaves the repository", text)
	}
	return at, nil
}

func (r *Remote) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the query is not valid; it is such as ?ref=main&timeout=60")
	}
	r.Ref, r.Submodules, r.Timeout = values.Get("version"), true, defaultTimeout
	if ref := values.Get("ref"); ref != "" {
		r.Ref = ref
	}
	if strings.HasPrefix(r.Ref, "-") || strings.ContainsFunc(r.Ref, func(c rune) bool { return invalidInPath(c) || c == ' ' }) {
		return fmt.Errorf("ref=%q is not the name of a revision", r.Ref)
	}
	if text := values.Get("submodules"); text != "" {
		if r.Submodules, err = strconv.ParseBool(text); err != nil {
			return fmt.Errorf("submodules=%q is neither true nor false", text)
		}
	}
	if text := values.Get("timeout"); text != "" {
		if r.Timeout, err = parseTimeout(text); err != nil {
			return err
		}
	}
	return nil
}

func parseTimeout(text string) (time.Duration, error) {
	limit, err := time.ParseDuration(text)
	if seconds, isNumber := strconv.ParseUint(text, 10, 31); isNumber == nil {
		limit, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || limit <= 0 || limit > maxTimeout {
		return 0, fmt.Errorf("timeout=%q is not between 1s and %s", text, maxTimeout)
	}
	return limit, nil
}

// String is the text of the remote, without credentials.
func (r Remote) String() string {
	if r.URL == "" {
		return ""
	}
	text := r.URL + "//"
	if r.Path != "." {
		text += r.Path
	}
	values := url.Values{}
	if r.Ref != "" {
		values.Set("ref", r.Ref)
	}
	if !r.Submodules {
		values.Set("submodules", "false")
	}
	if r.Timeout != defaultTimeout {
		values.Set("timeout", r.Timeout.String())
	}
	if len(values) > 0 {
		text += "?" + values.Encode()
	}
	return text
}
