package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/headgate-dev/headgate/internal/promote/worktree"
)

type update struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

type updateConfig struct {
	Path    string   `json:"path"`
	Updates []update `json:"updates"`
}

// readUpdates reads the configuration of a step that changes values of a file, and the file.
func (s *step) readUpdates(data []byte) (config updateConfig, at string, content []byte, err error) {
	if config, err = decode[updateConfig](data); err != nil {
		return config, "", nil, err
	}
	if at, err = clean("path", config.Path); err != nil {
		return config, "", nil, err
	}
	for i, u := range config.Updates {
		switch u.Value.(type) {
		case string, float64, bool:
		default:
			return config, "", nil, fail("updates[%d].value: a %T is not a string, a number, true or false", i, u.Value)
		}
		if u.Key == "" {
			return config, "", nil, fail("updates[%d].key: it is empty", i)
		}
	}
	content, err = s.read(at)
	return config, at, content, err
}

// jsonUpdate sets values in a file of JSON, and leaves the rest of it as it is.
func (s *step) jsonUpdate(ctx context.Context, data []byte) (map[string]any, error) {
	config, at, content, err := s.readUpdates(data)
	if err != nil {
		return nil, err
	}
	for i, u := range config.Updates {
		if content, err = s.set(ctx, content, u.Key, u.Value); err != nil {
			return nil, fail("updates[%d].key %q of %q: %w", i, u.Key, at, err)
		}
	}
	return message(config), s.write(at, content)
}

// message is what a commit says of updates.
func message(config updateConfig) map[string]any {
	text := "Updated " + config.Path
	for _, u := range config.Updates {
		text += fmt.Sprintf("\n\n- %s: %v", u.Key, u.Value)
	}
	return map[string]any{"commitMessage": text}
}

// straight refuses a path of which a part is a symbolic link: it leads to what the path does not say.
func (s *step) straight(at string) error {
	if err := worktree.Straight(s.root, at); err != nil {
		return fail("%q: %w", at, err)
	}
	return nil
}

// exists reports whether there is something at a path.
func (s *step) exists(at string) (bool, error) {
	if err := s.straight(at); err != nil {
		return false, err
	}
	_, err := s.root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *step) read(at string) ([]byte, error) {
	if err := s.straight(at); err != nil {
		return nil, err
	}
	file, err := s.root.Open(at)
	if err != nil {
		return nil, fail("reading %q: %w", at, err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fail("reading %q: it is not a regular file", at)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %q: %w", at, err)
	case len(data) > maxFile:
		return nil, fail("reading %q: it is larger than %d bytes", at, maxFile)
	}
	return data, nil
}

func (s *step) write(at string, data []byte) error {
	if err := s.straight(at); err != nil {
		return err
	}
	if err := s.root.MkdirAll(path.Dir(at), 0o700); err != nil {
		return fail("creating the directory of %q: %w", at, err)
	}
	if err := s.root.WriteFile(at, data, 0o600); err != nil {
		return fail("writing %q: %w", at, err)
	}
	return nil
}

type copyConfig struct {
	InPath  string `json:"inPath"`
	OutPath string `json:"outPath"`
}

const (
	maxCopied = 20_000
	maxBytes  = 512 << 20
)

// copy copies a file, or all files of a directory. Links are left out: what they name may be elsewhere later.
func (s *step) copy(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[copyConfig](data)
	if err != nil {
		return nil, err
	}
	from, err := clean("inPath", config.InPath)
	if err != nil {
		return nil, err
	}
	to, err := clean("outPath", config.OutPath)
	if err != nil {
		return nil, err
	}
	if err := s.straight(from); err != nil {
		return nil, err
	}
	count, size := 0, 0
	// A copy into a part of what is copied would go on without end: the list is complete before the first file is written.
	var names []string
	err = fs.WalkDir(s.root.FS(), from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fail("inPath: %w", err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		if count++; count > maxCopied {
			return fail("inPath: there are more than %d files in %q", maxCopied, from)
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		content, err := s.read(name)
		if err != nil {
			return nil, err
		}
		if size += len(content); size > maxBytes {
			return nil, fail("inPath: the files in %q are larger than %d bytes together", from, maxBytes)
		}
		out := path.Join(to, name[len(prefixOf(from)):])
		if err := s.write(out, content); err != nil {
			return nil, err
		}
		// What may be executed stays so.
		if info, err := s.root.Lstat(name); err == nil && info.Mode().Perm()&0o100 != 0 {
			if err := s.root.Chmod(out, 0o700); err != nil {
				return nil, fmt.Errorf("setting the permissions of %q: %w", out, err)
			}
		}
	}
	return nil, nil
}

// prefixOf is what the names of all files below a directory begin with.
func prefixOf(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

type deleteConfig struct {
	Path   string `json:"path"`
	Strict bool   `json:"strict"`
}

// delete deletes a file or a directory. One that is not there is an error only if the configuration is strict.
func (s *step) delete(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[deleteConfig](data)
	if err != nil {
		return nil, err
	}
	at, err := clean("path", config.Path)
	if err != nil {
		return nil, err
	}
	if at == "." {
		return nil, fail("path: it is the directory of the Promotion")
	}
	// A link is deleted itself.
	if err := s.straight(path.Dir(at)); err != nil {
		return nil, err
	}
	_, err = s.root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) && !config.Strict {
		return nil, nil
	}
	if err == nil {
		err = s.root.RemoveAll(at)
	}
	if err != nil {
		return nil, fail("deleting %q: %w", at, err)
	}
	return nil, nil
}
