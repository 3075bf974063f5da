package gitea

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/internal/gitea/bare"
	"github.com/headgate-dev/headgate/internal/gitea/shapes"
)

func person(p bare.Person) shapes.Person {
	return shapes.Person{Name: p.Name, Email: p.Email, Date: p.When}
}

// contents shows an entry of a commit; ref is how the client named that.
func (s *Server) contents(at place, commit, ref string, e bare.Entry) shapes.Contents {
	suffix, escaped := "?ref="+url.QueryEscape(ref), (&url.URL{Path: e.Path}).EscapedPath()
	one := shapes.Contents{
		Name: path.Base(e.Path), Path: e.Path, Sha: e.ID, LastCommit: commit, Size: e.Size, URL: s.api1(at) + "/contents/" + escaped + suffix,
		HTMLURL: s.web(at) + "/src/commit/" + commit + "/" + escaped, GitURL: s.api1(at) + "/git/blobs/" + e.ID, Type: "file",
	}
	switch e.Type {
	case "tree":
		one.Type, one.GitURL = "dir", s.api1(at)+"/git/trees/"+e.ID
	case "commit":
		one.Type = "submodule"
	default:
		download := s.api1(at) + "/raw/" + escaped + suffix
		one.DownloadURL = &download
		if e.Mode == "120000" {
			one.Type = "symlink"
		}
	}
	one.Links = shapes.Links{Self: one.URL, Git: one.GitURL, HTML: one.HTMLURL}
	return one
}

// revision is the commit that a request reads.
func revision(c *call, at place) (commit, ref string, err error) {
	ref = c.r.URL.Query().Get("ref")
	if ref == "" {
		if ref, err = at.git.Head(c.r.Context()); err != nil {
			return "", "", err
		}
	}
	commit, err = at.git.Resolve(c.r.Context(), ref)
	return commit, ref, err
}

func (s *Server) readContents(c *call, at place) (answer, error) {
	commit, ref, err := revision(c, at)
	if err != nil {
		return answer{}, err
	}
	ctx := c.r.Context()
	name := ""
	if wanted := path.Clean("/" + c.path("path")); wanted != "/" {
		if name, err = bare.CleanPath(c.path("path")); err != nil {
			return answer{}, err
		}
		entry, err := at.git.Entry(ctx, commit, name)
		if err != nil {
			return answer{}, err
		}
		if entry.Type != "tree" {
			one, err := s.whole(ctx, at, commit, ref, entry)
			return answer{200, one}, err
		}
	}
	entries, err := at.git.List(ctx, commit, name)
	if err != nil {
		return answer{}, err
	}
	all := []shapes.Contents{}
	for _, one := range entries {
		all = append(all, s.contents(at, commit, ref, one))
	}
	return answer{200, all}, nil
}

// whole shows a file with its content.
func (s *Server) whole(ctx context.Context, at place, commit, ref string, e bare.Entry) (shapes.Contents, error) {
	one := s.contents(at, commit, ref, e)
	if e.Type != "blob" {
		return one, nil
	}
	content, err := at.git.Blob(ctx, e)
	if err != nil {
		return one, err
	}
	if one.Type == "symlink" {
		target := string(content)
		one.Target = &target
		return one, nil
	}
	encoding, text := "base64", base64.StdEncoding.EncodeToString(content)
	one.Encoding, one.Content = &encoding, &text
	return one, nil
}

func (s *Server) readRaw(c *call, at place) (answer, error) {
	commit, _, err := revision(c, at)
	if err != nil {
		return answer{}, err
	}
	name, err := bare.CleanPath(c.path("path"))
	if err != nil {
		return answer{}, err
	}
	entry, err := at.git.Entry(c.r.Context(), commit, name)
	if err != nil {
		return answer{}, err
	}
	if entry.Type != "blob" {
		return answer{}, fail(http.StatusNotFound, "%q is a folder", name)
	}
	content, err := at.git.Blob(c.r.Context(), entry)
	if err != nil {
		return answer{}, err
	}
	// What users wrote is no page of this server.
	header := c.w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(content)))
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write(content)
	return answer{}, nil
}

// identity is a person as a request names one.
type identity struct{ Name, Email string }

// fileOptions is the body of a write.
type fileOptions struct {
	Message, Branch, Sha, Content string
	NewBranch                     string `json:"new_branch"`
	From                          string `json:"from_path"`
	Author, Committer             identity
	Dates                         struct{ Author, Committer time.Time }
}

func (s *Server) writeContents(operation string) func(c *call, at place) (answer, error) {
	return func(c *call, at place) (answer, error) {
		var wanted fileOptions
		if err := decode(c, &wanted); err != nil {
			return answer{}, err
		}
		if operation == bare.Delete {
			wanted.Sha = cmp.Or(wanted.Sha, c.r.URL.Query().Get("sha"))
			wanted.Branch = cmp.Or(wanted.Branch, c.r.URL.Query().Get("branch"))
		}
		content, err := base64.StdEncoding.DecodeString(wanted.Content)
		if err != nil {
			return answer{}, fail(http.StatusUnprocessableEntity, "content is not base64: %v", err)
		}
		if err := s.writable(c.r.Context(), at); err != nil {
			return answer{}, err
		}
		of := operation
		if of == bare.Update && wanted.Sha == "" && wanted.From == "" {
			// As Gitea has it, this creates a file where there is none.
			of = bare.Add
		}
		return s.write(c, at, wanted, bare.File{Operation: of, Path: c.path("path"), From: wanted.From, ID: wanted.Sha, Content: content})
	}
}

func (s *Server) write(c *call, at place, wanted fileOptions, file bare.File) (answer, error) {
	// A client that hangs up has written all the same.
	ctx := context.WithoutCancel(c.r.Context())
	mine := s.user(c.user.Account)
	author := bare.Person{Name: cmp.Or(wanted.Author.Name, mine.Login), Email: cmp.Or(wanted.Author.Email, mine.Email), When: wanted.Dates.Author}
	committer := bare.Person{Name: cmp.Or(wanted.Committer.Name, mine.Login), Email: cmp.Or(wanted.Committer.Email, mine.Email), When: wanted.Dates.Committer}
	verb := map[string]string{bare.Add: "Add", bare.Update: "Update", bare.Delete: "Delete"}[file.Operation]
	if err := text("message", wanted.Message); err != nil {
		return answer{}, err
	}
	id, err := at.git.Write(ctx, bare.Change{
		Branch: cmp.Or(wanted.Branch, at.DefaultBranch), Onto: wanted.NewBranch, Message: cmp.Or(wanted.Message, verb+" "+file.Path),
		Author: author, Committer: committer, Files: []bare.File{file},
	})
	if err != nil {
		return answer{}, err
	}
	if err := s.note(ctx, at, c.user.Account); err != nil {
		s.cfg.Log.Error(err, "reporting a write", "repository", at.full())
	}
	made, err := at.git.Commit(ctx, id)
	if err != nil {
		return answer{}, err
	}
	result := shapes.FileAnswer{Commit: s.fileCommit(at, made), Verification: &shapes.Verification{Reason: "gpg.error.not_signed_commit"}}
	status := map[string]int{bare.Add: 201}[file.Operation]
	if file.Operation != bare.Delete {
		name, err := bare.CleanPath(file.Path)
		if err != nil {
			return answer{}, err
		}
		entry, err := at.git.Entry(ctx, id, name)
		if err != nil {
			return answer{}, err
		}
		one, err := s.whole(ctx, at, id, cmp.Or(wanted.NewBranch, wanted.Branch, at.DefaultBranch), entry)
		if err != nil {
			return answer{}, err
		}
		result.Content = &one
	}
	return answer{cmp.Or(status, 200), result}, nil
}

func (s *Server) meta(at place, kind, id string) shapes.Meta {
	return shapes.Meta{URL: s.api1(at) + "/git/" + kind + "/" + id, Sha: id}
}

func (s *Server) fileCommit(at place, made bare.Commit) shapes.FileCommit {
	parents := []shapes.Meta{}
	for _, one := range made.Parents {
		parents = append(parents, s.meta(at, "commits", one))
	}
	return shapes.FileCommit{
		URL: s.api1(at) + "/git/commits/" + made.ID, Sha: made.ID, Created: made.Committer.When, HTMLURL: s.web(at) + "/commit/" + made.ID,
		Author: person(made.Author), Committer: person(made.Committer), Parents: parents, Message: made.Message, Tree: s.meta(at, "trees", made.Tree),
	}
}
