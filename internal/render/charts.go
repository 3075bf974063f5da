package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// Inflate makes manifests of a chart that a kustomization names: documents in YAML. ctx is that of the build.
type Inflate func(ctx context.Context, chart *Chart) ([]byte, error)

// Chart is a chart that a kustomization names: an entry of helmCharts, or a generator of its kind.
type Chart struct {
	// File is the kustomization, by its path in the tree, and Field the entry in it.
	File, Field string
	// Name is that of the chart, Repo the address of its repository, with https or oci before it, and Version a
	// version or a range of them.
	Name, Repo, Version string
	// Devel permits versions before a release, where Version is a range.
	Devel bool
	// Vendored is the directory in the tree that holds the chart; without it, the chart has to be fetched.
	Vendored string
	// ReleaseName may be empty, and NameTemplate then makes the name, unless it is empty too.
	ReleaseName, NameTemplate string
	// Namespace is that of the release, with what it inherits from kustomizations. It may be empty.
	Namespace   string
	KubeVersion string
	APIVersions []string
	// IncludeCRDs has the definitions of the chart be among the manifests.
	IncludeCRDs bool
	// SkipHooks and SkipTests leave out hooks and tests.
	SkipHooks, SkipTests bool
	// StandIn is set by the inflater if a stand-in replaces the chart.
	StandIn bool

	valuesFile []byte
	additional [][]byte
	inline     map[string]any
	merge      string
}

// inflater replaces the charts in kustomizations by generated files that are laid over the tree. Kustomize reads
// depth first, one kustomization at a time, which is how it is known through which one another was reached. A nil
// inflater does nothing.
type inflater struct {
	fs      *treeFS
	opener  *opener
	inflate func(*Chart) ([]byte, error)
	// root is the kustomization that is built, and way what leads to the one that is read.
	root frame
	way  []frame
	// made are the manifests of charts that were inflated, by everything that these depend on.
	made map[string][]byte
}

// frame is a kustomization that is being built: what charts below it inherit, and the directories that it is still
// going to enter.
type frame struct {
	namespace string
	pending   map[string]int
}

// begin is called before each run of kustomize, which begins at the root.
func (in *inflater) begin() {
	if in != nil {
		in.way = []frame{in.root.again()}
	}
}

// pause has kustomizations be read as they are, until a run begins.
func (in *inflater) pause() {
	if in != nil {
		in.way = nil
	}
}

// again is the frame before anything was entered.
func (f frame) again() frame {
	pending := make(map[string]int, len(f.pending))
	for dir, n := range f.pending {
		pending[dir] = n
	}
	return frame{namespace: f.namespace, pending: pending}
}

// enter replaces the charts of the kustomization that is built.
func (in *inflater) enter(dir, rel string, k *types.Kustomization) error {
	if in == nil {
		return nil
	}
	if dir == "." {
		dir = ""
	}
	in.root = in.frame(dir, k, "")
	return in.replace(dir, rel, k, in.root.namespace)
}

// rewrite replaces the charts of a kustomization that is read on the way. What cannot be decoded is left to
// kustomize to refuse.
func (in *inflater) rewrite(rel string, data []byte) ([]byte, error) {
	if in == nil || len(in.way) == 0 {
		return data, nil
	}
	k := &types.Kustomization{}
	if err := k.Unmarshal(data); err != nil {
		return data, nil
	}
	k.FixKustomization()
	dir := path.Dir(rel)
	if dir == "." {
		dir = ""
	}
	f := in.frame(dir, k, in.leave(dir))
	in.way = append(in.way, f)
	before := len(k.HelmCharts) + len(k.Generators)
	if err := in.replace(dir, rel, k, f.namespace); err != nil {
		return nil, err
	}
	if len(k.HelmCharts)+len(k.Generators) == before {
		return data, nil
	}
	return yaml.Marshal(k)
}

// leave drops the kustomizations that are done and returns the namespace of the one that dir is entered from.
func (in *inflater) leave(dir string) string {
	for i := len(in.way) - 1; i >= 0; i-- {
		if in.way[i].pending[dir] > 0 {
			in.way[i].pending[dir]--
			in.way = in.way[:i+1]
			return in.way[i].namespace
		}
	}
	return ""
}

// frame is that of a kustomization.
func (in *inflater) frame(dir string, k *types.Kustomization, inherited string) frame {
	f := frame{namespace: k.Namespace, pending: map[string]int{}}
	if f.namespace == "" {
		f.namespace = inherited
	}
	for _, list := range [][]string{k.Resources, k.Components, k.Generators, k.Transformers, k.Validators} {
		for _, entry := range list {
			at := path.Join(dir, entry)
			if strings.ContainsAny(entry, "\n") || at == ".." || strings.HasPrefix(at, "../") {
				continue
			}
			resolved, err := in.fs.tree.Resolve(at)
			if err != nil {
				continue
			}
			if _, isDir := in.fs.tree.Entries(resolved); isDir {
				f.pending[resolved]++
			}
		}
	}
	return f
}

// replace makes files of the charts of a kustomization, and lists these as resources.
func (in *inflater) replace(dir, rel string, k *types.Kustomization, namespace string) error {
	charts, err := in.charts(dir, k, namespace)
	if err != nil {
		return &Error{File: rel, Err: err}
	}
	var failed error
	for i := range charts {
		c := &charts[i]
		data, err := in.manifests(dir, rel, c)
		if err != nil && failed == nil {
			// The others are requested all the same, so that their fetches start at once.
			failed = &Error{File: rel, Field: c.field, Err: err}
		}
		// A chart that makes nothing is listed all the same: a kustomization must not be empty.
		file := fmt.Sprintf(".chart-%d-%s.yaml", i, path.Base(c.Name))
		in.fs.overlay[path.Join(dir, file)] = data
		k.Resources = append(k.Resources, file)
	}
	k.HelmCharts, k.HelmGlobals = nil, nil
	return failed
}

// manifests inflates one chart.
func (in *inflater) manifests(dir, rel string, c *named) ([]byte, error) {
	chart, err := in.chart(dir, rel, c)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{chart, chart.valuesFile, chart.additional, chart.inline, chart.merge})
	if err != nil {
		return nil, fmt.Errorf("valuesInline: %w", err)
	}
	if data, done := in.made[string(key)]; done {
		return data, nil
	}
	text, err := in.inflate(chart)
	if err != nil {
		return nil, err
	}
	if chart.StandIn && in.fs.sieve != nil {
		in.fs.sieve.stands = true
	}
	data, err := marked(text)
	if err != nil {
		if in.opener.shows(err.Error()) {
			err = errors.New("withheld, since it contains decrypted data")
		}
		return nil, fmt.Errorf("reading the rendered chart: %w", err)
	}
	in.made[string(key)] = data
	return data, nil
}

// marked gives manifests the mark by which kustomize knows what charts made: these keep their namespaces.
func marked(text []byte) ([]byte, error) {
	nodes, err := kio.FromBytes(text)
	if err != nil {
		return nil, err
	}
	// As in kustomize, the items of lists come last.
	var all, last []*kyaml.RNode
	for _, node := range nodes {
		switch {
		case kyaml.IsMissingOrNull(node):
		case strings.HasSuffix(node.GetKind(), "List"):
			items, err := itemsOf(node)
			if err != nil {
				return nil, err
			}
			last = append(last, items...)
		default:
			all = append(all, node)
		}
	}
	all = append(all, last...)
	for _, node := range all {
		what := strings.TrimSpace(node.GetKind() + " " + node.GetName())
		if node.GetApiVersion() == "" || node.GetKind() == "" || node.GetName() == "" {
			return nil, fmt.Errorf("an object (%q) lacks apiVersion, kind or metadata.name", what)
		}
		if err := node.PipeE(kyaml.SetAnnotation(konfig.HelmGeneratedAnnotation, "true")); err != nil {
			return nil, fmt.Errorf("%s: metadata.annotations cannot be set", what)
		}
	}
	if len(all) == 0 {
		return []byte("# nothing\n"), nil
	}
	out, err := kio.StringAll(all)
	return []byte(out), err
}

// itemsOf are the items of a list.
func itemsOf(node *kyaml.RNode) ([]*kyaml.RNode, error) {
	items := node.Field("items")
	if items.IsNilOrEmpty() {
		return nil, nil
	}
	return items.Value.Elements()
}
