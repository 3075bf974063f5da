package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/source"
)

// Secrets are those that an artifact may name, read with the rights of the account that the execution has.
type Secrets interface {
	Secret(ctx context.Context, name, key string) ([]byte, error)
}

// Places gets artifacts from where they are.
type Places struct {
	Store *Store
	// Local, when set, answers with the repository served by this process that stands in for a URL.
	Local func(url string) (source.Local, bool)
	// Rewrites send fetches elsewhere.
	Rewrites source.Rewrites
	// KnownHosts are the keys of hosts that are reached by SSH.
	KnownHosts []byte
	Limits     Limits
	// Egress is where artifacts may be: anywhere by default.
	Egress egress.Rules
}

// Put puts an artifact of a workflow into a directory that belongs to the caller: as a file or as a directory of that name. The error is ErrNone, wrapped, for a
// content that the store does not have.
func (p *Places) Put(ctx context.Context, owner types.UID, a v1alpha1.Artifact, secrets Secrets, file string) error {
	dir, name := filepath.Split(file)
	into, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("artifact %q: %w", a.Name, err)
	}
	defer func() { _ = into.Close() }()
	whole := name
	if a.SubPath != "" {
		whole = name + ".whole"
	}
	if err := p.fetch(ctx, owner, a, secrets, target{into, dir, whole}); err != nil {
		return fmt.Errorf("artifact %q: %w", a.Name, err)
	}
	if a.SubPath != "" {
		err = part(into, whole, a.SubPath, name)
	}
	if err == nil && a.Mode != nil {
		err = chmod(into, name, fs.FileMode(*a.Mode).Perm(), a.RecurseMode) //nolint:gosec // lint bounds it
	}
	if err != nil {
		return fmt.Errorf("artifact %q: %w", a.Name, err)
	}
	return nil
}

// target is a name in a directory.
type target struct {
	into      *os.Root
	dir, name string
}

// fetch puts the whole of what is stored.
func (p *Places) fetch(ctx context.Context, owner types.UID, a v1alpha1.Artifact, secrets Secrets, to target) error {
	switch {
	case a.Raw != nil:
		return to.into.WriteFile(to.name, []byte(a.Raw.Data), 0o644)
	case a.Local != nil:
		content, err := p.Store.Get(owner, *a.Local)
		if err != nil {
			return err
		}
		defer content.Close()
		return p.receive(to, content, a.Archive)
	case a.HTTP != nil:
		content, err := p.download(ctx, a.HTTP, secrets)
		if err != nil {
			return err
		}
		defer content.Close()
		return p.receive(to, content, a.Archive)
	case a.Git != nil:
		return p.clone(ctx, a.Git, secrets, to)
	default:
		return errors.New("it is in no place that is supported: raw, http, git, or the output of a step or task")
	}
}

// receive keeps a content in a file and unpacks it.
func (p *Places) receive(to target, content io.Reader, strategy *v1alpha1.ArchiveStrategy) error {
	file, err := os.OpenFile(filepath.Join(to.dir, to.name+".received"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644) //nolint:gosec // the directory is private
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := io.Copy(file, &bounded{from: content, left: p.Limits.Bytes}); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := unpack(to.into, to.name, file, strategy, p.Limits); err != nil {
		return err
	}
	// One that was unpacked is needed no longer, one that was not has its name by now.
	_ = os.Remove(file.Name())
	return nil
}

// part keeps a part of what was stored.
func part(into *os.Root, whole, below, name string) error {
	below = path.Clean(strings.TrimPrefix(below, "/"))
	if !fs.ValidPath(below) {
		return fmt.Errorf("subPath %q leaves the artifact", below)
	}
	info, err := into.Lstat(path.Join(whole, below))
	switch {
	case err != nil:
		return fmt.Errorf("subPath: %w", err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("subPath %q is neither a file nor a directory", below)
	case below == ".":
		return into.Rename(whole, name)
	}
	return errors.Join(into.Rename(path.Join(whole, below), name), into.RemoveAll(whole))
}

// chmod sets the mode of a file, or of everything in a directory.
func chmod(into *os.Root, name string, mode fs.FileMode, all bool) error {
	if !all {
		return into.Chmod(name, mode)
	}
	var found []string
	err := fs.WalkDir(into.FS(), name, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink == 0 {
			found = append(found, file)
		}
		return err
	})
	// From below, since a directory may not be entered afterwards.
	for i := len(found) - 1; i >= 0 && err == nil; i-- {
		err = into.Chmod(found[i], mode)
	}
	return err
}
