package render

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Remote is something that a kustomization names outside its source, as it is written there.
type Remote struct {
	URL string
	// File is set where only a file is meant, Directory where only a directory of a repository is.
	File, Directory bool
}

// Repository is a repository of Git that an entry of a kustomization names, and a directory in it.
type Repository struct {
	// URL is that of the repository: https, http, ssh or file.
	URL string
	// Dir is the directory, empty for the root; Ref a branch, a tag or a commit, empty for the default branch.
	Dir, Ref string
	// Submodules are fetched too, unless the entry says otherwise.
	Submodules bool
	// Timeout is what the entry asks for, or that of kustomize.
	Timeout time.Duration
}

// Parts of URLs by which kustomize knows what is a repository, and where a directory in it begins.
const (
	gitSuffix   = ".git"
	azureMark   = "_git/"
	githubHost  = "github.com"
	fileScheme  = "file://"
	sshScheme   = "ssh://"
	httpsScheme = "https://"
	httpScheme  = "http://"
)

// remoteTimeout is the time that kustomize gives to a repository.
const remoteTimeout = 27 * time.Second

// userPrefix is the user of an address of SSH.
var userPrefix = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// Repository is what an entry names by the rules of kustomize, and whether it may be a repository at all.
func (r Remote) Repository() (Repository, bool) {
	if path.IsAbs(r.URL) {
		return Repository{}, false
	}
	text, query, _ := strings.Cut(r.URL, "?")
	out := queryOf(query)
	scheme, rest := schemeOf(text)
	user := userPrefix.FindString(rest)
	rest = rest[len(user):]
	lower := strings.ToLower(rest)
	github := strings.HasPrefix(lower, githubHost+"/") || strings.HasPrefix(lower, githubHost+":")
	switch {
	case scheme == fileScheme:
		out.URL, out.Dir, _ = cutRepository(user+rest, true)
		out.URL = fileScheme + out.URL
		return out, out.URL != fileScheme
	case scheme == "" && user == "" && !github:
		return Repository{}, false
	}
	end := hostEnd(scheme, rest)
	if end <= 0 {
		return Repository{}, false
	}
	host, rest := rest[:end], rest[end+1:]
	repository, dir, found := cutRepository(rest, false)
	dir = strings.TrimPrefix(dir, "/")
	clean := path.Clean(dir)
	if !found || repository == "" || clean == ".." || strings.HasPrefix(clean, "../") {
		return Repository{}, false
	}
	out.Dir = dir
	switch {
	case github && (scheme == sshScheme || user != ""):
		out.URL = sshScheme + user + githubHost + "/" + repository
	case github:
		out.URL = httpsScheme + githubHost + "/" + repository
	case scheme == "":
		out.URL = sshScheme + user + host + "/" + repository
	default:
		out.URL = scheme + user + host + "/" + repository
	}
	return out, true
}

// hostEnd is where the host of an address without its scheme and user ends: at a slash, or at a colon where there is no scheme.
func hostEnd(scheme, rest string) int {
	end := strings.IndexByte(rest, '/')
	if colon := strings.IndexByte(rest, ':'); scheme == "" && colon > 0 && (end < 0 || colon < end) {
		return colon
	}
	return end
}

// schemeOf cuts a scheme that kustomize knows off an address, and the mark of older versions before it.
func schemeOf(text string) (scheme, rest string) {
	const forced = "git::"
	if len(text) >= len(forced) && strings.EqualFold(text[:len(forced)], forced) {
		text = text[len(forced):]
	}
	for _, s := range []string{sshScheme, httpsScheme, httpScheme, fileScheme} {
		if len(text) >= len(s) && strings.EqualFold(text[:len(s)], s) {
			return s, text[len(s):]
		}
	}
	return "", text
}

// cutRepository separates the path of a repository from that of a directory in it: by a mark, or after an owner and a name.
func cutRepository(p string, whole bool) (repository, dir string, found bool) {
	if at := strings.Index(p, azureMark); at >= 0 {
		name, dir, _ := strings.Cut(p[at+len(azureMark):], "/")
		return p[:at+len(azureMark)] + name, dir, true
	}
	if repository, dir, found = strings.Cut(p, "//"); found {
		return repository, dir, true
	}
	if at := strings.Index(p, gitSuffix); at >= 0 {
		return p[:at+len(gitSuffix)], p[at+len(gitSuffix):], true
	}
	if whole {
		return p, "", true
	}
	parts := strings.SplitN(p, "/", 3)
	if len(parts) < 2 {
		return "", "", false
	}
	return parts[0] + "/" + parts[1], strings.Join(parts[2:], ""), true
}

// queryOf reads what the query of an entry asks for. What cannot be read is as if it were not there.
func queryOf(query string) Repository {
	out := Repository{Submodules: true, Timeout: remoteTimeout}
	values, err := url.ParseQuery(query)
	if err != nil {
		return out
	}
	if out.Ref = values.Get("ref"); out.Ref == "" {
		out.Ref = values.Get("version")
	}
	if n, err := strconv.Atoi(values.Get("timeout")); err == nil && n > 0 && n <= int(time.Hour/time.Second) {
		out.Timeout = time.Duration(n) * time.Second
	} else if d, err := time.ParseDuration(values.Get("timeout")); err == nil && d > 0 {
		out.Timeout = d
	}
	if on, err := strconv.ParseBool(values.Get("submodules")); err == nil {
		out.Submodules = on
	}
	return out
}

// Marked reports whether an entry says on its own that it is a repository, so that no file is requested there first.
func (r Remote) Marked() bool {
	text, _, _ := strings.Cut(r.URL, "?")
	_, rest := schemeOf(text)
	if ext := path.Ext(rest); isURL(r.URL) && !r.Directory && (ext == ".yaml" || ext == ".yml" || ext == ".json") {
		return false
	}
	return r.Directory || !isURL(r.URL) || strings.Contains(rest, "//") || strings.Contains(rest, azureMark) ||
		strings.HasSuffix(rest, gitSuffix) || strings.Contains(rest, gitSuffix+"/")
}

// Shown is the entry without what may be a credential.
func (r Remote) Shown() string {
	scheme, rest, ok := strings.Cut(r.URL, "://")
	if !ok {
		return r.URL
	}
	host, tail, more := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 && !strings.HasSuffix(strings.ToLower(scheme), "ssh") {
		host = host[at+1:]
	} else if user, _, password := strings.Cut(host[:max(at, 0)], ":"); password {
		host = user + host[at:]
	}
	if more {
		host += "/" + tail
	}
	before, query, asked := strings.Cut(scheme+"://"+host, "?")
	if !asked {
		return before
	}
	values, err := url.ParseQuery(query)
	shown := url.Values{}
	for _, name := range []string{"ref", "version"} {
		if err == nil && values.Has(name) {
			shown[name] = values[name]
		}
	}
	if len(shown) > 0 {
		before += "?" + shown.Encode()
	}
	return before
}

// isURL reports whether kustomize requests an entry as a file from a web server.
func isURL(entry string) bool {
	u, err := url.Parse(entry)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// isRemote reports whether an entry of a kustomization is read from somewhere else.
func isRemote(entry string) bool {
	if isURL(entry) {
		return true
	}
	_, is := Remote{URL: entry}.Repository()
	return is
}
