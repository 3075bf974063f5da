package registry

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// maxList bounds the names of one answer.
const maxList = 1000

// catalog lists the images that an account may pull.
func (r *Registry) catalog(w http.ResponseWriter, req *http.Request, who Account) {
	owners := map[string][]string{}
	r.mu.Lock()
	for name, one := range r.images {
		if len(one.Versions) > 0 {
			owners[one.Owner] = append(owners[one.Owner], name)
		}
	}
	r.mu.Unlock()
	names := []string{}
	for lower, images := range owners {
		owner, known := r.cfg.Accounts.Owner(req.Context(), lower)
		if known && r.permits(req.Context(), who, owner, Pull) {
			names = append(names, images...)
		}
	}
	if names, ok := part(w, req, names); ok {
		reply(w, http.StatusOK, map[string]any{"repositories": names})
	}
}

// tags lists the tags of an image.
func (r *Registry) tags(w http.ResponseWriter, req *http.Request, to target) {
	names, there := []string{}, false
	r.mu.Lock()
	if one := r.images[to.name()]; one != nil {
		there = len(one.Versions) > 0
		for name := range one.Versions {
			if !digestName.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	r.mu.Unlock()
	if !there {
		fail(w, http.StatusNotFound, "NAME_UNKNOWN", "there is no such image")
		return
	}
	if names, ok := part(w, req, names); ok {
		reply(w, http.StatusOK, map[string]any{"name": to.name(), "tags": names})
	}
}

// part is the part of a list that a request is for: n names after last. A header links to the next.
func part(w http.ResponseWriter, req *http.Request, names []string) ([]string, bool) {
	query, n := req.URL.Query(), maxList
	if given := query.Get("n"); given != "" {
		var err error
		if n, err = strconv.Atoi(given); err != nil || n < 0 {
			fail(w, http.StatusBadRequest, "PAGINATION_NUMBER_INVALID", "n is not a number of names")
			return nil, false
		}
	}
	n = min(n, maxList)
	slices.Sort(names)
	after, there := slices.BinarySearch(names, query.Get("last"))
	if there {
		after++
	}
	rest := names[after:]
	if len(rest) <= n {
		return rest, true
	}
	rest = rest[:n]
	if n > 0 {
		next := url.Values{"n": {strconv.Itoa(n)}, "last": {rest[n-1]}}
		w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, req.URL.EscapedPath(), next.Encode()))
	}
	return rest, true
}
