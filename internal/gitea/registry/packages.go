package registry

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Package is a version of an image as Gitea's API shows it.
type Package struct {
	ID    int64 `json:"id"`
	Owner any   `json:"owner"`
	// Repository is always nil: no repository is linked.
	Repository any    `json:"repository"`
	Creator    any    `json:"creator"`
	Type       string `json:"type"`
	Name       string `json:"name"`
	// Version is the tag, or the digest of what has none.
	Version   string    `json:"version"`
	HTMLURL   string    `json:"html_url"`
	CreatedAt time.Time `json:"created_at"`
}

// kind is the type of all packages here.
const kind = "container"

const (
	// pageSize and maxPageSize are the packages of a page, unless the request says, and at most.
	pageSize    = 30
	maxPageSize = 50
)

// show makes the Package of a version.
func (r *Registry) show(ctx context.Context, owner, name, tag string, v version) Package {
	written, known := r.cfg.Accounts.Owner(ctx, owner)
	if !known {
		written = owner
	}
	return Package{
		ID: v.ID, Owner: r.cfg.Accounts.Shape(ctx, written), Creator: r.cfg.Accounts.Shape(ctx, v.Creator),
		Type: kind, Name: name, Version: tag, CreatedAt: v.Created,
		HTMLURL: fmt.Sprintf("%s/%s/-/packages/%s/%s/%s", strings.TrimSuffix(r.cfg.URL, "/"), written, kind, url.PathEscape(name), url.PathEscape(tag)),
	}
}

// found is a version with where it is.
type found struct {
	name, tag string
	version
}

// versions are those of an owner that match, the newest first.
func (r *Registry) versions(owner string, matches func(name string) bool) []found {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []found
	for _, one := range r.images {
		if one.Owner != strings.ToLower(owner) || !matches(one.Name) {
			continue
		}
		for tag, v := range one.Versions {
			all = append(all, found{one.Name, tag, v})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.ID, a.ID) })
	return all
}

// Get returns a version of an image.
func (r *Registry) Get(ctx context.Context, owner, name, tag string) (Package, bool) {
	for _, one := range r.versions(owner, func(n string) bool { return n == name }) {
		if one.tag == tag {
			return r.show(ctx, owner, name, tag, one.version), true
		}
	}
	return Package{}, false
}

// API serves the paths below /api/v1/packages/. identify authenticates a request.
func (r *Registry) API(identify func(*http.Request) (who Account, ok bool)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		who, ok := identify(req)
		if !ok {
			refuse(w, http.StatusUnauthorized, "user does not exist or the credentials are wrong")
			return
		}
		words, ok := segments(req.URL)
		if !ok {
			refuse(w, http.StatusNotFound, "not found")
			return
		}
		access := needed(req.Method)
		owner, known := r.cfg.Accounts.Owner(req.Context(), words[0])
		if !known || !r.permits(req.Context(), who, owner, Pull) {
			refuse(w, http.StatusNotFound, "user redirect does not exist")
			return
		}
		if !who.may(access) || !r.permits(req.Context(), who, owner, access) {
			refuse(w, http.StatusForbidden, "user should have specific permission or be a site admin")
			return
		}
		r.serve(w, req, append([]string{owner}, words[1:]...), who.Login)
	})
}

// segments are the words of a path below /api/v1/packages/, in which names may have escaped slashes.
func segments(at *url.URL) ([]string, bool) {
	_, rest, is := strings.Cut(at.EscapedPath(), "/api/v1/packages/")
	if !is {
		return nil, false
	}
	var words []string
	for word := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		plain, err := url.PathUnescape(word)
		if err != nil || plain == "" {
			return nil, false
		}
		words = append(words, plain)
	}
	return words, true
}

// serve answers for the paths OWNER[/TYPE/NAME[/VERSION]] and OWNER/TYPE/NAME/-/latest.
func (r *Registry) serve(w http.ResponseWriter, req *http.Request, words []string, login string) {
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	query := req.URL.Query()
	switch n := len(words); {
	case n > 1 && words[1] != kind:
		refuse(w, http.StatusNotFound, "package does not exist")
	case n == 1 && reads:
		part := strings.ToLower(query.Get("q"))
		all := r.versions(words[0], func(name string) bool { return strings.Contains(name, part) })
		if of := query.Get("type"); of != "" && of != kind {
			all = nil
		}
		r.page(w, req, words[0], all)
	case n == 3 && reads:
		r.page(w, req, words[0], r.versions(words[0], func(name string) bool { return name == words[2] }))
	case n == 4 && reads:
		one, there := r.Get(req.Context(), words[0], words[2], words[3])
		if !there {
			refuse(w, http.StatusNotFound, "package does not exist")
			return
		}
		reply(w, http.StatusOK, one)
	case n == 5 && words[3] == "-" && words[4] == "latest" && reads:
		r.latest(w, req, words[0], words[2])
	case n == 4 && req.Method == http.MethodDelete:
		r.deletePackage(w, req, words, login)
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}

// latest answers with the tag of an image that was pushed last, or with what has none if there is no tag.
func (r *Registry) latest(w http.ResponseWriter, req *http.Request, owner, name string) {
	all := r.versions(owner, func(n string) bool { return n == name })
	if len(all) == 0 {
		refuse(w, http.StatusNotFound, "package does not exist")
		return
	}
	one := all[max(0, slices.IndexFunc(all, func(f found) bool { return !digestName.MatchString(f.tag) }))]
	reply(w, http.StatusOK, r.show(req.Context(), owner, one.name, one.tag, one.version))
}

// deletePackage deletes a version.
func (r *Registry) deletePackage(w http.ResponseWriter, req *http.Request, words []string, login string) {
	to, valid := named(target{reference: words[3]}, []string{words[0], words[2]})
	if strings.Contains(words[2], "/") {
		to, valid = named(target{reference: words[3]}, append([]string{words[0]}, strings.Split(words[2], "/")...))
	}
	deleted := false
	if valid {
		var err error
		if deleted, err = r.drop(req.Context(), to, login); err != nil {
			r.failed(w, err, "storing what the image has")
			return
		}
	}
	if !deleted {
		refuse(w, http.StatusNotFound, "package does not exist")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// page answers with the part of a list that is requested.
func (r *Registry) page(w http.ResponseWriter, req *http.Request, owner string, all []found) {
	query := req.URL.Query()
	size, err := strconv.Atoi(query.Get("limit"))
	if err != nil || size <= 0 {
		size = pageSize
	}
	size = min(size, maxPageSize)
	number, err := strconv.Atoi(query.Get("page"))
	if err != nil || number <= 0 {
		number = 1
	}
	first := len(all)
	if number-1 <= len(all)/size {
		first = min((number-1)*size, len(all))
	}
	shown := []Package{}
	for _, one := range all[first:min(first+size, len(all))] {
		shown = append(shown, r.show(req.Context(), owner, one.name, one.tag, one.version))
	}
	w.Header().Set("X-Total-Count", strconv.Itoa(len(all)))
	reply(w, http.StatusOK, shown)
}

// refuse answers with an error of the API.
func refuse(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]string{"message": message})
}
