package registry

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// The parts of the API, by the word in their paths.
const (
	partRoot      = ""
	partCatalog   = "_catalog"
	partTags      = "tags"
	partBlobs     = "blobs"
	partUploads   = "uploads"
	partManifests = "manifests"
	partReferrers = "referrers"
)

// maxName bounds the name of an image, in bytes.
const maxName = 255

var (
	componentName = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$`)
	tagName       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digestName    = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
)

// target is what a path is about.
type target struct {
	part string
	// owner is in lower case.
	owner, image string
	// reference is a digest, a tag or the identifier of an upload.
	reference string
}

// name is the key of the image.
func (t target) name() string { return t.owner + "/" + t.image }

// at is the target with another reference.
func (t target) at(reference string) target {
	t.reference = reference
	return t
}

// parse reads a path.
func parse(path string) (target, bool) {
	rest, below := strings.CutPrefix(path, "/v2")
	switch {
	case !below:
		return target{}, false
	case rest == "" || rest == "/":
		return target{part: partRoot}, true
	case rest == "/_catalog":
		return target{part: partCatalog}, true
	}
	words := strings.Split(strings.Trim(rest, "/"), "/")
	n := len(words)
	if n >= 4 && words[n-2] == partBlobs && words[n-1] == partUploads {
		return named(target{part: partUploads}, words[:n-2])
	}
	if n >= 5 && words[n-3] == partBlobs && words[n-2] == partUploads {
		return named(target{part: partUploads, reference: words[n-1]}, words[:n-3])
	}
	if n < 4 {
		return target{}, false
	}
	to := target{part: words[n-2], reference: words[n-1]}
	switch to.part {
	case partBlobs, partReferrers:
		if !digestName.MatchString(to.reference) {
			return target{}, false
		}
	case partManifests:
		if !digestName.MatchString(to.reference) && !tagName.MatchString(to.reference) {
			return target{}, false
		}
	case partTags:
		if to.reference != "list" {
			return target{}, false
		}
	default:
		return target{}, false
	}
	return named(to, words[:n-2])
}

// named adds the name to a target.
func named(to target, words []string) (target, bool) {
	if len(words) < 2 || len(strings.Join(words, "/")) > maxName {
		return target{}, false
	}
	to.owner, to.image = strings.ToLower(words[0]), strings.Join(words[1:], "/")
	for _, word := range append([]string{to.owner}, words[1:]...) {
		if !componentName.MatchString(word) {
			return target{}, false
		}
	}
	return to, true
}

// fail answers with an error of the distribution specification.
func fail(w http.ResponseWriter, status int, code, message string) {
	type problem struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	reply(w, status, map[string][]problem{"errors": {{code, message}}})
}

func reply(w http.ResponseWriter, status int, content any) {
	text, err := json.Marshal(content)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// answer is what the registry behind this one says. It is held until it is complete, since that registry is locked while it
// writes, and clients may read slowly.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header               { return a.header }
func (a *answer) WriteHeader(status int)            { a.status = status }
func (a *answer) Write(content []byte) (int, error) { return a.body.Write(content) }

func (a *answer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// ask forwards a request to the registry behind this one, by the key of its image.
func (r *Registry) ask(req *http.Request, to target) *answer {
	forwarded := req.Clone(req.Context())
	forwarded.URL.Path = "/v2/" + to.name() + "/" + to.part + "/" + to.reference
	forwarded.URL.Host, forwarded.URL.RawPath = "", ""
	got := &answer{header: http.Header{}, status: http.StatusOK}
	r.inner.ServeHTTP(got, forwarded)
	return got
}
