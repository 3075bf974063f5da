package storetest

import (
	"net/http"
	"strconv"
	"testing"
)

// GitLab is a server of GitLab with variables of projects and groups.
type GitLab struct {
	server
	// Token is what it accepts.
	Token string
	// Groups are those of projects, outermost last, as numbers and paths.
	Groups map[string]map[int]string

	variables map[string][]map[string]string
}

// NewGitLab starts a server. Owners are as in its API: projects/1, groups/2.
func NewGitLab(t testing.TB, owners ...string) *GitLab {
	g := &GitLab{Token: "glpat", Groups: map[string]map[int]string{}, variables: map[string][]map[string]string{}}
	for _, owner := range owners {
		g.variables[owner] = []map[string]string{}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/{kind}/{id}/variables", g.list)
	mux.HandleFunc("GET /api/v4/{kind}/{id}/variables/{key}", g.get)
	mux.HandleFunc("GET /api/v4/projects/{id}/groups", func(w http.ResponseWriter, r *http.Request) {
		found := []map[string]any{}
		for id, path := range g.Groups[r.PathValue("id")] {
			found = append(found, map[string]any{"id": id, "full_path": path})
		}
		reply(w, 200, found)
	})
	g.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Private-Token") != g.Token {
			reply(w, 401, map[string]string{"message": "401 Unauthorized"})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return g
}

// Set adds a variable with the scope of an environment.
func (g *GitLab) Set(owner, key, value, scope string) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.variables[owner] = append(g.variables[owner], map[string]string{"key": key, "value": value, "environment_scope": scope})
}

func (g *GitLab) owner(w http.ResponseWriter, r *http.Request) ([]map[string]string, bool) {
	found, has := g.variables[r.PathValue("kind")+"/"+r.PathValue("id")]
	if !has {
		reply(w, 404, map[string]string{"message": "404 Not Found"})
	}
	return found, has
}

func (g *GitLab) list(w http.ResponseWriter, r *http.Request) {
	all, has := g.owner(w, r)
	if !has {
		return
	}
	per, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min((page-1)*per, len(all))
	reply(w, 200, all[from:min(from+per, len(all))])
}

func (g *GitLab) get(w http.ResponseWriter, r *http.Request) {
	all, has := g.owner(w, r)
	if !has {
		return
	}
	scope := r.URL.Query().Get("filter[environment_scope]")
	var found []map[string]string
	for _, v := range all {
		if v["key"] == r.PathValue("key") && (scope == "" || v["environment_scope"] == scope) {
			found = append(found, v)
		}
	}
	switch len(found) {
	case 0:
		reply(w, 404, map[string]string{"message": "404 Variable Not Found"})
	case 1:
		reply(w, 200, found[0])
	default:
		reply(w, 409, map[string]string{"message": "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'"})
	}
}
