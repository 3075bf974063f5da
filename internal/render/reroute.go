package render

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// rerouter has a kustomization name what was fetched by where that stands in the file system, so that kustomize never fetches.
// It knows every field whose value kustomize loads from an address: a new one has to be entered here.
type rerouter struct {
	fs     *treeFS
	opener *opener
	// file is the kustomization, by its key, and from the mount in which it is.
	file    string
	from    *mount
	changed bool
}

// entryKind is what an entry may be.
type entryKind int

const (
	aFile entryKind = iota
	aDirectory
	either
	// plugin is either, or the text of a configuration.
	plugin
)

// listFields are the fields of a kustomization that are lists of entries.
var listFields = []struct {
	name string
	kind entryKind
}{
	{"resources", either},
	{"bases", either},
	{"components", aDirectory},
	{"crds", aFile},
	{"configurations", aFile},
	{"generators", plugin},
	{"transformers", plugin},
	{"validators", plugin},
	{"patchesStrategicMerge", aFile},
}

// pathFields are the lists of a kustomization whose items have an entry in path.
var pathFields = []string{"patches", "patchesJson6902", "replacements"}

// reroute rewrites a kustomization. What cannot be read stays as it is, for kustomize to refuse.
func (f *treeFS) reroute(o *opener, key string, data []byte) ([]byte, error) {
	content := map[string]any{}
	if err := yaml.Unmarshal(data, &content); err != nil {
		return data, nil
	}
	r := &rerouter{fs: f, opener: o, file: key, from: f.mountAt(key)}
	if err := r.kustomization(content); err != nil {
		return nil, err
	}
	if !r.changed {
		return data, nil
	}
	out, err := yaml.Marshal(content)
	if err != nil {
		return nil, &Error{File: r.named(), Err: fmt.Errorf("encoding: %w", err)}
	}
	return out, nil
}

func (r *rerouter) named() string { return strings.TrimPrefix(r.file, "/") }

func (r *rerouter) kustomization(content map[string]any) error {
	for _, field := range listFields {
		if err := r.list(content, field.name, field.name, field.kind); err != nil {
			return err
		}
	}
	for _, field := range pathFields {
		if err := r.items(content, field); err != nil {
			return err
		}
	}
	if schema, ok := content["openapi"].(map[string]any); ok {
		if err := r.value(schema, "path", "openapi.path"); err != nil {
			return err
		}
	}
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		generators, _ := content[field].([]any)
		for i, one := range generators {
			if g, ok := one.(map[string]any); ok {
				if err := r.generator(g, fmt.Sprintf("%s[%d].", field, i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// generator rewrites the files of a generator.
func (r *rerouter) generator(g map[string]any, at string) error {
	if err := r.list(g, "envs", at+"envs", aFile); err != nil {
		return err
	}
	if err := r.value(g, "env", at+"env"); err != nil {
		return err
	}
	return r.each(g, "files", at+"files", func(text, at string) (string, error) {
		name, file, named := strings.Cut(text, "=")
		if isURL(text) && !isURL(file) || !named {
			// The name is that of the file.
			return r.entry(text, at, aFile)
		}
		moved, err := r.entry(file, at, aFile)
		if err != nil || moved == "" {
			return moved, err
		}
		return name + "=" + moved, nil
	})
}

// items rewrites the paths of the items of a list.
func (r *rerouter) items(content map[string]any, field string) error {
	list, _ := content[field].([]any)
	for i, one := range list {
		if item, ok := one.(map[string]any); ok {
			if err := r.value(item, "path", fmt.Sprintf("%s[%d].path", field, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// value rewrites one entry.
func (r *rerouter) value(in map[string]any, name, at string) error {
	text, ok := in[name].(string)
	if !ok || text == "" {
		return nil
	}
	moved, err := r.entry(text, at, aFile)
	if err != nil || moved == text {
		return err
	}
	r.changed = true
	if in[name] = moved; moved == "" {
		delete(in, name)
	}
	return nil
}

// list rewrites a list of entries.
func (r *rerouter) list(in map[string]any, name, at string, kind entryKind) error {
	return r.each(in, name, at, func(text, at string) (string, error) { return r.entry(text, at, kind) })
}

// each replaces the entries of a list. One that becomes empty is left out.
func (r *rerouter) each(in map[string]any, name, at string, move func(text, at string) (string, error)) error {
	entries, ok := in[name].([]any)
	if !ok {
		return nil
	}
	kept := make([]any, 0, len(entries))
	for i, entry := range entries {
		text, ok := entry.(string)
		if !ok {
			kept = append(kept, entry)
			continue
		}
		moved, err := move(text, fmt.Sprintf("%s[%d]", at, i))
		if err != nil {
			return err
		}
		r.changed = r.changed || moved != text
		if moved != "" {
			kept = append(kept, moved)
		}
	}
	in[name] = kept
	return nil
}

// entry returns what stands for an entry: itself in the source, where it was fetched to, or nothing when it is left out.
func (r *rerouter) entry(text, at string, kind entryKind) (string, error) {
	if strings.ContainsRune(text, '\n') {
		if kind == plugin {
			return r.configuration(text, at)
		}
		return text, nil
	}
	remote := Remote{URL: text, File: kind == aFile, Directory: kind == aDirectory}
	if isURL(text) || kind != aFile && isRemote(text) {
		return r.fetched(remote, at, kind)
	}
	if err := r.stays(text); err != nil {
		return "", r.refuse(at, err)
	}
	if kind == plugin {
		return r.pluginEntry(text, at)
	}
	return text, nil
}

// stays refuses a path that leaves what was fetched: it would read the files of the source.
func (r *rerouter) stays(text string) error {
	if r.from == nil {
		return nil
	}
	top := r.from.top()
	if at := path.Join(path.Dir(r.file), text); path.IsAbs(text) || at != top && !strings.HasPrefix(at, top+"/") {
		return fmt.Errorf("%q is outside the repository of the remote base", text)
	}
	return nil
}

func (r *rerouter) refuse(at string, err error) error {
	return &Error{File: r.named(), Field: at, Err: err}
}

// fetched returns where a remote entry stands.
func (r *rerouter) fetched(remote Remote, at string, kind entryKind) (string, error) {
	switch {
	case r.opener.leaveOut != nil:
		r.opener.leaveOut(remote.Shown())
		return "", nil
	case r.opener.noRemote:
		return "", r.refuse(at, fmt.Errorf("remote bases are not allowed: %q", remote.Shown()))
	case r.fs.elsewhere == nil:
		return "", r.refuse(at, fmt.Errorf("nothing is fetched here: %q", remote.Shown()))
	}
	got, err := r.fs.elsewhere.take(remote)
	if err != nil {
		return "", r.refuse(at, fmt.Errorf("%q: %w", remote.Shown(), err))
	}
	if got == nil {
		return "", nil
	}
	place, err := r.fs.mount(remote, got, r.from)
	if err != nil {
		return "", r.refuse(at, fmt.Errorf("%q: %w", remote.Shown(), err))
	}
	moved, err := filepath.Rel(path.Join(root, path.Dir(strings.TrimPrefix(r.file, "/"))), place)
	if r.from != nil {
		moved, err = filepath.Rel(path.Dir(r.file), place)
	}
	if err != nil {
		return "", r.refuse(at, err)
	}
	if kind == plugin {
		return r.pluginEntry(moved, at)
	}
	return moved, nil
}

// errPlugins reports that the configurations in a directory have to be built first.
var errPlugins = errors.New("configurations of plugins have to be built first")
