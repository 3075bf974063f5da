// Package bare reads and writes bare Git repositories without a working copy, through the git program: files, branches,
// merges.
//
// Every write is a commit that moves a branch only from where it was when the commit was made, so that of two writers one
// loses and nothing is overwritten. The room refuses to know users and permissions, to run hooks, and to read or write
// above the bounds that it states.
package bare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gitserver"
)

const (
	// MaxFile bounds a file that is read or written, in bytes.
	MaxFile = 16 << 20
	// maxPath and maxBranch bound names, in bytes.
	maxPath, maxBranch = 1024, 200
	// Zero is the object that a ref has which does not exist.
	Zero = "0000000000000000000000000000000000000000"
	// heads is the folder of branches.
	heads = "refs/heads/"
)

// Errors of this package, which errors.Is finds.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	ErrInvalid  = errors.New("invalid")
	// ErrMismatch is a file that is another one than its writer knows.
	ErrMismatch = errors.New("does not match")
	// ErrMoved is a branch that another writer has moved meanwhile.
	ErrMoved = errors.New("was changed meanwhile; read it and try again")
	// ErrConflict is a merge that needs a human.
	ErrConflict = errors.New("conflicts")
)

// Repository is the directory of a bare repository.
type Repository string

// git runs git in the repository.
func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	return gitserver.Run(ctx, string(r), nil, "", args...)
}

// New makes an empty repository.
func New(ctx context.Context, dir, branch string) (Repository, error) {
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	return Repository(dir), gitserver.Init(ctx, dir, branch)
}

// CheckBranch says what is wrong with the name of a branch, as git-check-ref-format does.
func CheckBranch(name string) error {
	bad := name == "" || len(name) > maxBranch || !utf8.ValidString(name) || name == "@" || name == "HEAD" || strings.HasPrefix(name, "-") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f")
	for _, part := range strings.Split(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	bad = bad || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' })
	if bad {
		return fmt.Errorf("name of a branch %q: %w", name, ErrInvalid)
	}
	return nil
}

// CleanPath returns the path of a file in a repository without slashes around it. It refuses what leaves the repository, what
// git would refuse to check out, and what is too long.
func CleanPath(name string) (string, error) {
	clean := strings.Trim(name, "/")
	bad := clean == "" || len(clean) > maxPath || !utf8.ValidString(clean) || path.Clean(clean) != clean || clean == "."
	for _, part := range strings.Split(clean, "/") {
		// What file systems take for .git.
		plain := strings.ToLower(strings.TrimRight(part, ". "))
		bad = bad || part == ".." || plain == ".git" || strings.HasPrefix(plain, "git~") || strings.HasPrefix(plain, ".git:")
	}
	bad = bad || strings.ContainsFunc(clean, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' || isIgnored(c) })
	if bad {
		return "", fmt.Errorf("path %q: %w", name, ErrInvalid)
	}
	return clean, nil
}

// isIgnored are the characters that some file systems leave out of names.
func isIgnored(c rune) bool {
	return c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff
}

// Refs are the branches and tags with what they name.
func (r Repository) Refs(ctx context.Context) (map[string]string, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		if id, name, ok := strings.Cut(line, " "); ok {
			refs[name] = id
		}
	}
	return refs, nil
}

// Branches are the names of all branches, in order.
func (r Repository) Branches(ctx context.Context) ([]string, error) {
	out, err := r.git(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(out, "\n"), nil
}

// Branch is the commit of a branch.
func (r Repository) Branch(ctx context.Context, name string) (string, error) {
	if err := CheckBranch(name); err != nil {
		return "", err
	}
	id, err := r.git(ctx, "rev-parse", "--verify", "-q", heads+name+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("branch %q: %w", name, notFound(ctx, err))
	}
	return id, nil
}

// Resolve is the commit of a branch, a tag or an ID of a commit.
func (r Repository) Resolve(ctx context.Context, ref string) (string, error) {
	if CheckBranch(strings.TrimPrefix(ref, "refs/")) != nil {
		return "", fmt.Errorf("reference %q: %w", ref, ErrNotFound)
	}
	candidates := []string{heads + ref, "refs/tags/" + ref}
	if strings.HasPrefix(ref, "refs/") || isID(ref) {
		candidates = append(candidates, ref)
	}
	for _, one := range candidates {
		if id, err := r.git(ctx, "rev-parse", "--verify", "-q", one+"^{commit}"); err == nil {
			return id, nil
		}
	}
	return "", fmt.Errorf("reference %q: %w", ref, notFound(ctx, ErrNotFound))
}

func isID(text string) bool {
	return len(text) >= 7 && len(text) <= 40 && strings.Trim(text, "0123456789abcdef") == ""
}

// notFound is ErrNotFound unless the context has ended.
func notFound(ctx context.Context, _ error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return ErrNotFound
}

// CreateBranch makes a branch at a commit.
func (r Repository) CreateBranch(ctx context.Context, name, at string) error {
	if err := CheckBranch(name); err != nil {
		return err
	}
	if _, err := r.Branch(ctx, name); err == nil {
		return fmt.Errorf("branch %q: %w", name, ErrExists)
	}
	return r.move(ctx, name, at, Zero)
}

// DeleteBranch deletes a branch.
func (r Repository) DeleteBranch(ctx context.Context, name string) error {
	at, err := r.Branch(ctx, name)
	if err != nil {
		return err
	}
	return r.move(ctx, name, "", at)
}

// move has a branch name a commit, or nothing, if it still names another one.
func (r Repository) move(ctx context.Context, name, to, from string) error {
	// An interruption would leave locks.
	ctx = context.WithoutCancel(ctx)
	line := "update " + heads + name + " " + to + " " + from + "\n"
	if to == "" {
		line = "delete " + heads + name + " " + from + "\n"
	}
	_, err := gitserver.Run(ctx, string(r), nil, line, "update-ref", "--stdin")
	switch {
	case gitserver.Full(err):
		return fmt.Errorf("moving branch %q: %w", name, err)
	case gitserver.Says(err, "but expected"), gitserver.Says(err, "reference already exists"), gitserver.Says(err, "unable to resolve reference"):
		return fmt.Errorf("branch %q %w", name, ErrMoved)
	case gitserver.Says(err, "cannot lock ref") && !gitserver.Says(err, "File exists"):
		return fmt.Errorf("branch %q: %w: another branch has its name as a folder, or a folder as its name", name, ErrExists)
	case err != nil:
		return fmt.Errorf("moving branch %q: %w", name, err)
	}
	return nil
}

// SetHead makes a branch the default one.
func (r Repository) SetHead(ctx context.Context, branch string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	_, err := r.git(ctx, "symbolic-ref", "HEAD", heads+branch)
	return err
}

// Head is the default branch, which may not exist.
func (r Repository) Head(ctx context.Context) (string, error) {
	name, err := r.git(ctx, "symbolic-ref", "HEAD")
	return strings.TrimPrefix(name, heads), err
}

// Person made a commit.
type Person struct {
	Name, Email string
	When        time.Time
}

// Commit is a commit.
type Commit struct {
	ID, Tree, Message string
	Parents           []string
	Author, Committer Person
}

// format is how git prints a commit for parseCommit.
const format = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x00%x01"

// Commits are those that lead to a commit and not to another, which may be empty, the newest first.
func (r Repository) Commits(ctx context.Context, to, without string, limit int) ([]Commit, error) {
	args := []string{"log", "--no-show-signature", "--max-count=" + strconv.Itoa(limit), "--format=tformat:" + format, to}
	if without != "" && without != Zero {
		args = append(args, "^"+without)
	}
	out, err := r.git(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var found []Commit
	for record := range strings.SplitSeq(out, "\x00\x01") {
		if one, ok := parseCommit(strings.TrimPrefix(record, "\n")); ok {
			found = append(found, one)
		}
	}
	return found, nil
}

// Commit reads a commit.
func (r Repository) Commit(ctx context.Context, id string) (Commit, error) {
	found, err := r.Commits(ctx, id, "", 1)
	if err != nil || len(found) != 1 {
		return Commit{}, errors.Join(fmt.Errorf("commit %q: %w", id, ErrNotFound), err)
	}
	return found[0], nil
}

// parseCommit reads what git prints in format.
func parseCommit(record string) (Commit, bool) {
	fields := strings.SplitN(record, "\x00", 10)
	if len(fields) != 10 {
		return Commit{}, false
	}
	at := func(text string) time.Time {
		seconds, _ := strconv.ParseInt(text, 10, 64)
		return time.Unix(seconds, 0).UTC()
	}
	return Commit{
		ID: fields[0], Tree: fields[1], Parents: strings.Fields(fields[2]), Message: fields[9],
		Author: Person{fields[3], fields[4], at(fields[5])}, Committer: Person{fields[6], fields[7], at(fields[8])},
	}, true
}

// Size is how many bytes the repository takes on disk.
func (r Repository) Size() (int64, error) {
	var total int64
	err := filepath.WalkDir(string(r), func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}
