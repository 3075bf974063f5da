package deploy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/idp"
)

// shown is what a repository was made of.
type shown struct {
	digest [sha256.Size]byte
	// revision is the commit of the repository.
	revision string
	// safe is set when no file can have changed without a change of its stamp.
	safe bool
}

// granularity is longer than what the time of a file may differ from that of its last change.
const granularity = 2 * time.Second

// show has the repositories serve what the directories have. Packages of which one cannot be read get a problem.
func (d *Deployer) show(ctx context.Context, result *idp.Result) {
	changed := map[string]bool{}
	for i := range result.Packages {
		p := &result.Packages[i]
		for _, r := range p.Repositories {
			if len(p.Problems) > 0 {
				break
			}
			fresh, err := d.showOne(ctx, r)
			if err != nil {
				problem := idp.Problem{Argument: p.Input.Argument, File: p.File, Object: p.Object.GetKind() + "/" + p.Object.GetName(), Err: err}
				p.Problems = append(p.Problems, problem)
				result.Problems = append(result.Problems, problem)
			}
			if fresh {
				changed[r.Name] = true
			}
		}
	}
	d.index(ctx, result, changed)
	d.mu.Lock()
	for name := range d.shown {
		d.served[name] = true
	}
	d.mu.Unlock()
	if len(changed) > 0 {
		d.cfg.Changed(func(url string) bool {
			name, is := d.nameIn(url)
			return is && changed[name]
		})
	}
}

// index has the repositories listed that packages name. While something cannot be read, nothing is taken off the list.
func (d *Deployer) index(ctx context.Context, result *idp.Result, changed map[string]bool) {
	if d.cfg.Index == nil {
		return
	}
	named := map[string]bool{}
	for _, p := range result.Packages {
		for _, r := range p.Repositories {
			named[r.Name] = true
			if _, there := d.shown[r.Name]; !there || d.listed[r.Name] && !changed[r.Name] {
				continue
			}
			err := d.cfg.Index.Show(r.Name, d.cfg.Git.Dir(serverName(r.Name)))
			if err == nil && d.listed[r.Name] {
				err = d.cfg.Index.Changed(ctx, r.Name)
			}
			if err != nil {
				result.Problems = append(result.Problems, idp.Problem{Argument: p.Input.Argument, File: p.File, Object: p.Object.GetKind() + "/" + p.Object.GetName(), Err: err})
				continue
			}
			d.listed[r.Name] = true
		}
	}
	if len(result.Problems) > 0 {
		return
	}
	for name := range d.listed {
		if named[name] {
			continue
		}
		if err := d.cfg.Index.Hide(name); err != nil {
			d.cfg.Problem("package", fmt.Sprintf("repository %s: %v", name, err))
			continue
		}
		delete(d.listed, name)
	}
}

// showOne has one repository serve what its directory has, and reports whether that is something new.
func (d *Deployer) showOne(ctx context.Context, r idp.Repository) (bool, error) {
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return false, fmt.Errorf("opening the directory: %w", err)
	}
	defer func() { _ = root.Close() }()
	began := time.Now()
	entries, _, err := idp.Walk(root.FS(), r.Dir)
	if err != nil {
		return false, err
	}
	stamps, newest := sha256.New(), time.Time{}
	files := make([]gitserver.File, len(entries))
	for i, e := range entries {
		files[i] = gitserver.File{Path: e.Path, Executable: e.Executable, Content: func() ([]byte, error) { return readAll(root, e) }}
		info, err := root.Stat(filepath.FromSlash(e.Source))
		if err != nil {
			return false, fmt.Errorf("reading %q: %w", e.Path, err)
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		fmt.Fprintf(stamps, "%q %v %d %d\n", e.Path, e.Executable, info.Size(), info.ModTime().UnixNano())
	}
	now := shown{digest: [sha256.Size]byte(stamps.Sum(nil)), revision: d.shown[r.Name].revision, safe: began.Sub(newest) > granularity}
	if d.shown[r.Name] == now && now.safe {
		return false, nil
	}
	revision, changed, err := d.cfg.Git.Exact(ctx, serverName(r.Name), files)
	if err != nil {
		return false, err
	}
	now.revision = revision
	d.shown[r.Name] = now
	return changed, nil
}

// maxFile bounds a file that grows while it is read, in bytes.
const maxFile = 256 << 20

// readAll reads a file of a directory.
func readAll(root *os.Root, e idp.Entry) ([]byte, error) {
	file, err := root.Open(filepath.FromSlash(e.Source))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, err
}
