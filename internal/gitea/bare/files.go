package bare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

// maxEntries bounds the entries of a folder that is listed.
const maxEntries = 10000

// Entry is a file or a folder.
type Entry struct {
	// Path is that from the root of the repository.
	Path string
	// Mode is as git prints it; Type is blob, tree or commit (a submodule).
	Mode, Type, ID string
	// Size is that of a blob, in bytes.
	Size int64
}

// Entry finds a path in a commit.
func (r Repository) Entry(ctx context.Context, commit, name string) (Entry, error) {
	found, err := r.list(ctx, commit, "--", name)
	if err != nil {
		return Entry{}, err
	}
	if len(found) != 1 {
		return Entry{}, fmt.Errorf("%q in commit %s: %w", name, commit, ErrNotFound)
	}
	return found[0], nil
}

// List are the entries of a folder of a commit; an empty one is the root.
func (r Repository) List(ctx context.Context, commit, folder string) ([]Entry, error) {
	if folder == "" {
		return r.list(ctx, commit)
	}
	return r.list(ctx, commit, "--", folder+"/")
}

func (r Repository) list(ctx context.Context, commit string, paths ...string) ([]Entry, error) {
	args := append([]string{"--literal-pathspecs", "ls-tree", "-z", "-l", commit}, paths...)
	out, err := r.git(ctx, args...)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for line := range strings.SplitSeq(out, "\x00") {
		about, name, ok := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64)
		found = append(found, Entry{Path: name, Mode: fields[0], Type: fields[1], ID: fields[2], Size: size})
		if len(found) > maxEntries {
			return nil, fmt.Errorf("the folder has more than %d entries: %w", maxEntries, ErrInvalid)
		}
	}
	return found, nil
}

// Blob reads a file.
func (r Repository) Blob(ctx context.Context, of Entry) ([]byte, error) {
	if of.Size > MaxFile {
		return nil, fmt.Errorf("%q has %d bytes, and %d are allowed: %w", of.Path, of.Size, MaxFile, ErrInvalid)
	}
	out, err := gitserver.Run(ctx, string(r), nil, of.ID+"\n", "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	_, content, ok := strings.Cut(out, "\n")
	if !ok || int64(len(content)) != of.Size {
		return nil, fmt.Errorf("object %s of %q: %w", of.ID, of.Path, ErrNotFound)
	}
	return []byte(content), nil
}

// Operations on files.
const (
	Add    = "create"
	Update = "update"
	Delete = "delete"
)

// File is the change of one file.
type File struct {
	// Operation is Add, Update or Delete.
	Operation string
	Path      string
	// From is the path of a file that Update moves.
	From string
	// ID is the blob that Update and Delete change; another one is ErrMismatch.
	ID      string
	Content []byte
}

// Change is a commit to make.
type Change struct {
	// Branch is what it is made on; Onto is the new branch that gets it, or empty for Branch itself.
	Branch, Onto      string
	Message           string
	Author, Committer Person
	Files             []File
}

// Write commits a change and returns the commit. The branch may be missing in an empty repository only.
func (r Repository) Write(ctx context.Context, c Change) (string, error) {
	parent, err := r.Branch(ctx, c.Branch)
	if errors.Is(err, ErrNotFound) {
		branches, listed := r.Branches(ctx)
		if listed == nil && len(branches) == 0 {
			err = nil
		}
	}
	if err != nil {
		return "", err
	}
	onto, from := c.Branch, parent
	if c.Onto != "" && c.Onto != c.Branch {
		onto, from = c.Onto, ""
		if _, err := r.Branch(ctx, onto); err == nil {
			return "", fmt.Errorf("branch %q: %w", onto, ErrExists)
		}
	}
	if err := CheckBranch(onto); err != nil {
		return "", err
	}
	if from == "" {
		from = Zero
	}
	tree, err := r.edit(ctx, parent, c.Files)
	if err != nil {
		return "", err
	}
	var parents []string
	if parent != "" {
		parents = []string{parent}
	}
	id, err := r.commit(ctx, tree, c.Message, c.Author, c.Committer, parents...)
	if err != nil {
		return "", err
	}
	return id, r.move(ctx, onto, id, from)
}

// edit makes the tree of a commit with changed files.
func (r Repository) edit(ctx context.Context, parent string, files []File) (string, error) {
	dir, err := os.MkdirTemp(string(r), "edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if parent != "" {
		if _, err := gitserver.Run(ctx, string(r), env, "", "read-tree", parent); err != nil {
			return "", err
		}
	}
	var lines strings.Builder
	for _, file := range files {
		if err := r.editFile(ctx, &lines, parent, file); err != nil {
			return "", err
		}
	}
	if _, err := gitserver.Run(ctx, string(r), env, lines.String(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return gitserver.Run(ctx, string(r), env, "", "write-tree")
}

// editFile adds the lines by which git changes its index.
func (r Repository) editFile(ctx context.Context, lines *strings.Builder, parent string, file File) error {
	name, err := CleanPath(file.Path)
	if err != nil {
		return err
	}
	source := name
	if file.From != "" {
		if source, err = CleanPath(file.From); err != nil {
			return err
		}
	}
	old, found, err := r.find(ctx, parent, source)
	if err != nil {
		return err
	}
	switch {
	case found && old.Type != "blob":
		return fmt.Errorf("%q is a folder, not a file: %w", source, ErrInvalid)
	case file.Operation == Add && found:
		return fmt.Errorf("file %q: %w", name, ErrExists)
	case file.Operation != Add && !found:
		return fmt.Errorf("file %q: %w", source, ErrNotFound)
	case file.Operation != Add && file.ID != old.ID:
		return fmt.Errorf("sha %q of file %q %w: it is %s", file.ID, source, ErrMismatch, old.ID)
	}
	if file.Operation == Delete {
		fmt.Fprintf(lines, "0 %s\t%s\x00", Zero, name)
		return nil
	}
	if len(file.Content) > MaxFile {
		return fmt.Errorf("%q has %d bytes, and %d are allowed: %w", name, len(file.Content), MaxFile, ErrInvalid)
	}
	if err := r.free(ctx, parent, name, source); err != nil {
		return err
	}
	blob, err := gitserver.Run(ctx, string(r), nil, string(file.Content), "hash-object", "-w", "--stdin")
	if err != nil {
		return err
	}
	mode := "100644"
	if found {
		mode = old.Mode
	}
	if source != name {
		fmt.Fprintf(lines, "0 %s\t%s\x00", Zero, source)
	}
	fmt.Fprintf(lines, "%s %s\t%s\x00", mode, blob, name)
	return nil
}

// free refuses a path that goes through a file, and a file to move to that exists.
func (r Repository) free(ctx context.Context, parent, name, source string) error {
	if source != name {
		if _, found, err := r.find(ctx, parent, name); err != nil || found {
			return errors.Join(err, fmt.Errorf("file %q: %w", name, ErrExists))
		}
	}
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if old, found, err := r.find(ctx, parent, folder); err != nil || found && old.Type != "tree" {
			return errors.Join(err, fmt.Errorf("%q is a file, not a folder: %w", folder, ErrInvalid))
		}
	}
	return nil
}

func (r Repository) find(ctx context.Context, commit, name string) (Entry, bool, error) {
	if commit == "" {
		return Entry{}, false, nil
	}
	found, err := r.Entry(ctx, commit, name)
	if errors.Is(err, ErrNotFound) {
		return Entry{}, false, nil
	}
	return found, err == nil, err
}

// commit makes a commit.
func (r Repository) commit(ctx context.Context, tree, message string, author, committer Person, parents ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	env := append(identity("AUTHOR", author), identity("COMMITTER", committer)...)
	return gitserver.Run(ctx, string(r), env, message+"\n", args...)
}

// identity names a person to git, without the characters that it refuses.
func identity(role string, p Person) []string {
	clean := func(text, otherwise string) string {
		text = strings.TrimSpace(strings.Map(func(c rune) rune {
			if c < ' ' || c == '<' || c == '>' {
				return -1
			}
			return c
		}, text))
		if strings.Trim(text, ".,:;\"'\\ ") == "" {
			return otherwise
		}
		return text
	}
	if p.When.IsZero() {
		p.When = time.Now()
	}
	return []string{
		"GIT_" + role + "_NAME=" + clean(p.Name, "unknown"), "GIT_" + role + "_EMAIL=" + clean(p.Email, "unknown@localhost"),
		"GIT_" + role + "_DATE=" + strconv.FormatInt(p.When.Unix(), 10) + " +0000",
	}
}
