package gitea

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
	"github.com/headgate-dev/headgate/internal/gitea/store"
	"github.com/headgate-dev/headgate/internal/gitserver"
)

// call is one request of the API.
type call struct {
	r    *http.Request
	w    http.ResponseWriter
	user caller
}

func (c *call) path(name string) string { return c.r.PathValue(name) }

// answer is what a call gets: a status of HTTP and what JSON is made of, or nil. The zero value has been sent by the handler.
type answer struct {
	status int
	body   any
}

type handler func(c *call) (answer, error)

// failure is an error with a status of HTTP.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func fail(status int, format string, args ...any) error {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// route is an endpoint.
type route struct {
	pattern string
	// category is what the scopes of a token name.
	category string
	// access is what a caller needs.
	access access
	do     handler
}

type access int

const (
	anyone access = iota
	signedIn
	admin
)

// maxBody bounds the body of a request, in bytes: a file in base64 and what is around it.
const maxBody = bare.MaxFile/3*4 + 64<<10

// endpoints are those of the API, without those of images and the version.
func (s *Server) endpoints() []route {
	return slices.Concat(s.accountRoutes(), s.memberRoutes(), s.repositoryRoutes(), s.pullRoutes(), s.hookRoutes())
}

// routes serves the endpoints of the API.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]string{"version": Version})
	})
	for _, one := range s.endpoints() {
		method, path, _ := strings.Cut(one.pattern, " ")
		mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, one) })
	}
	mux.HandleFunc("/", s.missing)
	return mux
}

// missing answers a request for an endpoint that there is not, and logs each once.
func (s *Server) missing(w http.ResponseWriter, r *http.Request) {
	endpoint := r.Method + " " + shapeOf(r.URL.Path)
	s.mu.Lock()
	known := s.unknown[endpoint]
	if len(s.unknown) < maxUnknown {
		s.unknown[endpoint] = true
	} else {
		known = true
	}
	s.mu.Unlock()
	if !known {
		s.cfg.Log.Info("an endpoint of Gitea's API is not supported", "endpoint", endpoint)
	}
	s.problem(w, http.StatusNotFound, "")
}

// maxUnknown bounds the unknown endpoints that are logged.
const maxUnknown = 100

// shapeOf is a path with its names left out, so that an endpoint is logged once and not once for each repository.
func shapeOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) > 3 && parts[2] == "repos" {
		for i := 3; i < min(5, len(parts)); i++ {
			parts[i] = "*"
		}
	} else if len(parts) > 3 {
		parts[3] = "*"
	}
	return "/" + strings.Join(parts[:min(6, len(parts))], "/")
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, to route) {
	err := s.cfg.Guard.Call("the API of Gitea", func() error {
		user, err := s.who(r)
		if err != nil {
			return fail(http.StatusUnauthorized, "%v", err)
		}
		write := r.Method != http.MethodGet && r.Method != http.MethodHead
		switch {
		case r.Header.Get("Sudo") != "" || r.URL.Query().Has("sudo"):
			return fail(http.StatusForbidden, "sudo is not supported; use the credentials of the user")
		case to.access != anyone && !user.known():
			return fail(http.StatusUnauthorized, "token is required")
		case !user.covers(to.category, write):
			return fail(http.StatusForbidden, "token does not have at least one of required scope(s), required=[%s:%s]", level(write), to.category)
		case to.access == admin && !user.Admin:
			return fail(http.StatusForbidden, "user should be the site admin")
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		got, err := to.do(&call{r: r, w: w, user: user})
		if err != nil {
			return err
		}
		switch {
		case got.body != nil:
			reply(w, got.status, got.body)
		case got.status != 0:
			w.WriteHeader(got.status)
		}
		return nil
	})
	if err != nil {
		s.failed(w, r, err)
	}
}

// statuses are those of errors.
var statuses = []struct {
	of     error
	status int
}{
	{store.ErrNotFound, http.StatusNotFound},
	{bare.ErrNotFound, http.StatusNotFound},
	{store.ErrExists, http.StatusConflict},
	{bare.ErrMoved, http.StatusConflict},
	{bare.ErrConflict, http.StatusConflict},
	{bare.ErrExists, http.StatusUnprocessableEntity},
	{bare.ErrMismatch, http.StatusUnprocessableEntity},
	{bare.ErrInvalid, http.StatusUnprocessableEntity},
	{store.ErrInvalid, http.StatusUnprocessableEntity},
	{store.ErrLimit, http.StatusRequestEntityTooLarge},
}

func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	var known *failure
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &known):
		if known.status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Basic realm="Gitea"`)
		}
		s.problem(w, known.status, known.text)
		return
	case errors.As(err, &long):
		s.problem(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", long.Limit))
		return
	}
	for _, one := range statuses {
		if errors.Is(err, one.of) {
			s.problem(w, one.status, err.Error())
			return
		}
	}
	s.cfg.Log.Error(err, "a request of Gitea's API failed", "method", r.Method, "path", r.URL.Path)
	if gitserver.Full(err) {
		s.problem(w, http.StatusInsufficientStorage, "the disk of the Git server is full; make room where its state is, and repeat the request")
		return
	}
	s.problem(w, http.StatusInternalServerError, "the request failed; the log of the engine has the reason")
}

func (s *Server) problem(w http.ResponseWriter, status int, text string) {
	if text == "" {
		text = "The target couldn't be found."
	}
	reply(w, status, shapes.Problem{Message: text, URL: s.cfg.Root + "/api/swagger"})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// A client that hung up does not read it.
	_ = json.NewEncoder(w).Encode(body)
}

// decode reads the body of a request.
func decode(c *call, into any) error {
	content, err := io.ReadAll(c.r.Body)
	if err != nil {
		return err
	}
	if len(content) == 0 {
		return nil
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fail(http.StatusUnprocessableEntity, "the body is not the JSON of this request: %v", err)
	}
	return nil
}

const (
	// defaultPage and maxPage are how many items a page has.
	defaultPage, maxPage = 30, 50
)

// page takes a page of items, and says in the headers of the answer which one it is.
func page[T any](s *Server, c *call, items []T) []T {
	query := c.r.URL.Query()
	number := func(name string, otherwise int) int {
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 1 {
			return otherwise
		}
		return n
	}
	limit := min(number("limit", defaultPage), maxPage)
	last := max(1, (len(items)+limit-1)/limit)
	at := number("page", 1)
	header := c.w.Header()
	header.Set("X-Total-Count", strconv.Itoa(len(items)))
	header.Set("Access-Control-Expose-Headers", "X-Total-Count, Link")
	var links []string
	link := func(n int, relation string) {
		query.Set("page", strconv.Itoa(n))
		query.Set("limit", strconv.Itoa(limit))
		links = append(links, fmt.Sprintf("<%s%s?%s>; rel=%q", s.cfg.Root, (&url.URL{Path: c.r.URL.Path}).EscapedPath(), query.Encode(), relation))
	}
	if at < last {
		link(at+1, "next")
		link(last, "last")
	}
	if at > 1 {
		link(1, "first")
		link(min(at-1, last), "prev")
	}
	if len(links) > 0 {
		header.Set("Link", strings.Join(links, ","))
	}
	if at > last {
		return []T{}
	}
	from := (at - 1) * limit
	return items[from:min(from+limit, len(items))]
}

// text refuses what is too long.
func text(field, value string) error {
	if len(value) > maxText {
		return fail(http.StatusUnprocessableEntity, "%s has %d bytes, and %d are allowed", field, len(value), maxText)
	}
	return nil
}
