package render

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// Configurations of plugins name files too. What a kustomization makes of them is known only once it is built, which is
// done before: their addresses are then rewritten as those of kustomizations are.

// pluginEntry returns what stands for a file or a directory of configurations: a file over the tree when something in it
// is elsewhere.
func (r *rerouter) pluginEntry(text, at string) (string, error) {
	full := r.fs.entryPath(r.file, text)
	var data []byte
	switch {
	case r.fs.IsDir(full):
		built, err := r.fs.configurations(full)
		if err != nil {
			return "", err
		}
		data = built
	case r.fs.Exists(full):
		read, err := r.fs.ReadFile(full)
		if err != nil {
			return "", err
		}
		data = read
	default:
		return text, nil
	}
	moved, err := r.configuration(string(data), at)
	if err != nil || moved == string(data) && !r.fs.IsDir(full) {
		return text, err
	}
	return moved, nil
}

// entryPath is where an entry of a kustomization is.
func (f *treeFS) entryPath(key, text string) string {
	if path.IsAbs(text) {
		return path.Clean(text)
	}
	if f.mountAt(key) != nil {
		return path.Join(path.Dir(key), text)
	}
	return path.Join(root, path.Dir(key), text)
}

// configuration rewrites the text of configurations. What cannot be read is left to kustomize.
func (r *rerouter) configuration(text, at string) (string, error) {
	nodes, err := kio.FromBytes([]byte(text))
	if err != nil {
		return text, nil
	}
	before := r.changed
	r.changed = false
	for _, node := range nodes {
		if node.GetApiVersion() != konfig.BuiltinPluginApiVersion {
			continue
		}
		if err := r.builtin(node, at); err != nil {
			return "", err
		}
	}
	changed := r.changed
	r.changed = r.changed || before
	if !changed {
		return text, nil
	}
	out, err := kio.StringAll(nodes)
	if err != nil {
		return "", r.refuse(at, fmt.Errorf("encoding: %w", err))
	}
	return out, nil
}

// builtin rewrites the configuration of one plugin.
func (r *rerouter) builtin(node *kyaml.RNode, at string) error {
	content, err := node.Map()
	if err != nil {
		return nil
	}
	at += " " + strings.TrimSpace(node.GetKind()+" "+node.GetName()) + "."
	before := r.changed
	r.changed = false
	for _, name := range []string{"path", "targetFilePath", "valuesFile"} {
		if err := r.value(content, name, at+name); err != nil {
			return err
		}
	}
	for _, name := range []string{"paths", "additionalValuesFiles"} {
		if err := r.list(content, name, at+name, aFile); err != nil {
			return err
		}
	}
	for _, name := range []string{"patches", "replacements"} {
		if err := r.items(content, name); err != nil {
			return err
		}
	}
	if err := r.generator(content, at); err != nil {
		return err
	}
	if r.changed {
		rewritten, err := kyaml.FromMap(content)
		if err != nil {
			return r.refuse(at, err)
		}
		node.SetYNode(rewritten.YNode())
	}
	r.changed = r.changed || before
	return nil
}

// configurations is what the kustomization in a directory makes of the configurations in it.
func (f *treeFS) configurations(dir string) ([]byte, error) {
	resolved, _, err := f.CleanedAbs(dir)
	if err != nil {
		return nil, err
	}
	if built, done := f.plugins[string(resolved)]; done {
		return built, nil
	}
	f.unbuilt = append(f.unbuilt, string(resolved))
	return nil, errPlugins
}

// assemble runs the library over a directory, after what it takes the configurations of plugins from was built.
func (f *treeFS) assemble(dir string, o *opener, way []string) (resmap.ResMap, error) {
	for {
		f.unbuilt, f.failure = nil, nil
		built, err := f.run(dir, o)
		if !errors.Is(err, errPlugins) {
			return built, err
		}
		if err := f.prebuild(o, append(way, dir)); err != nil {
			return nil, err
		}
	}
}

// prebuild builds the configurations that a run lacked. way is what leads to them.
func (f *treeFS) prebuild(o *opener, way []string) error {
	unbuilt := f.unbuilt
	for _, dir := range unbuilt {
		for _, over := range way {
			if over == dir {
				return &Error{File: f.named(dir), Err: errors.New("cycle detected: it takes the configurations of its plugins from itself")}
			}
		}
		if len(way) > mostNested {
			return &Error{File: f.named(dir), Err: fmt.Errorf("configurations of plugins are nested deeper than %d", mostNested)}
		}
		built, err := f.assemble(dir, o, way)
		if err != nil {
			return err
		}
		if f.plugins[dir], err = built.AsYaml(); err != nil {
			return &Error{File: f.named(dir), Err: fmt.Errorf("encoding the configurations of plugins: %w", err)}
		}
	}
	f.unbuilt, f.failure = nil, nil
	return nil
}
