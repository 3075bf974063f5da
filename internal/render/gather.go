package render

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// The library compares each object that it adds with every other. A kustomization that only gathers resources, and is led to
// by nothing else, does not relate its objects to each other, but for that none may be there twice: such a build is made of
// builds of few objects each, and takes time in proportion to their number. Whatever is not as usual is left to one build of
// everything, so that its result or its error is the one that is reported.

// gathered is how many objects one build of few is made of, and how many there are at least before a build is divided.
const (
	gathered     = 64
	leastObjects = 3 * gathered
)

// errUnusual reports that a build has to be one.
var errUnusual = errors.New("not a kustomization that only gathers resources")

// separator is where the library divides a file into documents.
var separator = regexp.MustCompile(`\n---.*\n`)

// gathering is a build that is divided.
type gathering struct {
	fs   *treeFS
	size int
	// way are the directories that lead to the one that is read.
	way   []string
	files [][]byte
	seen  map[objectID]bool
}

// objectID is what two objects of a build must not share.
type objectID struct{ group, version, kind, namespace, name string }

// gather makes a build that only gathers resources of builds of so many objects each. It returns errUnusual if it is
// another one, if it has fewer objects than least, or if anything about it fails.
func (f *treeFS) gather(dir string, opener *opener, size, least int) (built []*resource.Resource, err error) {
	g := &gathering{fs: f, size: size, seen: map[objectID]bool{}}
	defer func() {
		// The build of everything says what it stumbles over.
		if recover() != nil {
			built, err = nil, errUnusual
		}
		f.failure = nil
	}()
	f.inflater.pause()
	left := false
	if told := opener.leaveOut; told != nil {
		opener.leaveOut = func(string) { left = true }
		defer func() { opener.leaveOut = told }()
	}
	if err := g.directory(dir); err != nil || f.failure != nil || left {
		return nil, errUnusual
	}
	documents := 0
	for _, data := range g.files {
		documents += 1 + bytes.Count(data, []byte("\n---"))
	}
	if documents < least {
		return nil, errUnusual
	}
	return g.build()
}

// directory reads the kustomization of a directory and what it lists.
func (g *gathering) directory(dir string) error {
	resolved, file, err := g.fs.CleanedAbs(dir)
	if err != nil || file != "" {
		return errUnusual
	}
	dir = string(resolved)
	for _, over := range g.way {
		// A directory that leads to itself, or to one that holds it.
		if strings.HasPrefix(over+"/", dir+"/") {
			return errUnusual
		}
	}
	if dir != root && !strings.HasPrefix(dir, root+"/") || len(g.way) > mostNested {
		return errUnusual
	}
	name, err := g.fs.kustomizationFile(dir)
	if err != nil || name == "" {
		return errUnusual
	}
	data, err := g.fs.ReadFile(name)
	if err != nil {
		return err
	}
	entries, err := onlyResources(data)
	if err != nil {
		return err
	}
	g.way = append(g.way, dir)
	defer func() { g.way = g.way[:len(g.way)-1] }()
	for _, entry := range entries {
		if err := g.entry(dir, entry); err != nil {
			return err
		}
	}
	return nil
}

// entry reads a file or a directory that a kustomization lists.
func (g *gathering) entry(dir, entry string) error {
	if entry == "" || path.IsAbs(entry) || isRemote(entry) {
		return errUnusual
	}
	at := path.Join(dir, entry)
	if g.fs.IsDir(at) {
		return g.directory(at)
	}
	data, err := g.fs.ReadFile(at)
	if err != nil {
		return err
	}
	g.files = append(g.files, data)
	return nil
}

// onlyResources are the entries of a kustomization that does nothing but to list them.
func onlyResources(data []byte) ([]string, error) {
	k := &types.Kustomization{}
	if err := k.Unmarshal(data); err != nil {
		return nil, errUnusual
	}
	k.FixKustomization()
	if len(k.EnforceFields()) > 0 || k.Kind != types.KustomizationKind || len(k.Resources) == 0 {
		return nil, errUnusual
	}
	rest := *k
	rest.TypeMeta, rest.MetaData, rest.Resources = types.TypeMeta{}, nil, nil
	if said, err := yaml.Marshal(rest); err != nil || string(said) != "{}\n" {
		return nil, errUnusual
	}
	return k.Resources, nil
}

// build builds few objects at a time, in the order in which they are listed.
func (g *gathering) build() ([]*resource.Resource, error) {
	var all []*resource.Resource
	var few [][]byte
	count := 0
	flush := func() error {
		if len(few) == 0 {
			return nil
		}
		built, err := buildFew(few)
		all, few, count = append(all, built...), nil, 0
		return err
	}
	for _, data := range g.files {
		parts, err := g.parts(data)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if count > 0 && count+p.objects > g.size {
				if err := flush(); err != nil {
					return nil, errUnusual
				}
			}
			few = append(few, p.data)
			count += p.objects
		}
	}
	if err := flush(); err != nil {
		return nil, errUnusual
	}
	return all, nil
}

// part is a file, or a part of one.
type part struct {
	data    []byte
	objects int
}

// parts divides a file that has many objects by its documents, and notes what is in it.
func (g *gathering) parts(data []byte) ([]part, error) {
	resources := provider.NewDefaultDepProvider().GetResourceFactory()
	in, err := resources.SliceFromBytes(data)
	if err != nil {
		return nil, errUnusual
	}
	ids := make([]resid.ResId, len(in))
	for i, r := range in {
		ids[i] = r.CurId()
		id := objectID{ids[i].Group, ids[i].Version, ids[i].Kind, ids[i].EffectiveNamespace(), ids[i].Name}
		if g.seen[id] {
			return nil, errUnusual
		}
		g.seen[id] = true
	}
	whole := []part{{data, len(in)}}
	if len(in) <= g.size || bytes.Contains(data, []byte("List")) {
		// The items of lists come after everything else in their file.
		return whole, nil
	}
	var divided []part
	rest := ids
	for _, text := range documents(data) {
		below, err := resources.SliceFromBytes(text)
		if err != nil || len(below) > len(rest) {
			return whole, nil
		}
		for i, r := range below {
			if r.CurId() != rest[i] {
				return whole, nil
			}
		}
		rest = rest[len(below):]
		divided = append(divided, part{text, len(below)})
	}
	if len(rest) > 0 {
		return whole, nil
	}
	return divided, nil
}

// documents divides a file as the library does, each with the newline before its separator.
func documents(data []byte) [][]byte {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	var all [][]byte
	from := 0
	for _, at := range separator.FindAllIndex(data, -1) {
		all = append(all, data[from:at[0]+1])
		from = at[1]
	}
	return append(all, data[from:])
}

// buildFew has the library build a kustomization that lists some files.
func buildFew(files [][]byte) ([]*resource.Resource, error) {
	k := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	in := filesys.MakeFsInMemory()
	for i, data := range files {
		name := strconv.Itoa(i) + ".yaml"
		k.Resources = append(k.Resources, name)
		if err := in.WriteFile(path.Join(root, name), data); err != nil {
			return nil, err
		}
	}
	data, err := yaml.Marshal(k)
	if err != nil {
		return nil, err
	}
	if err := in.WriteFile(path.Join(root, "kustomization.yaml"), data); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(libraryOptions()).Run(in, root)
	if err != nil {
		return nil, err
	}
	return built.Resources(), nil
}

// libraryOptions are those of every run over a tree.
func libraryOptions() *krusty.Options {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone
	options.PluginConfig = types.DisabledPluginConfig()
	return options
}
