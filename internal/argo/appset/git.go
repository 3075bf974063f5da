package appset

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/source"
)

// git gives directories or files of a repository.
func (g *generation) git(body map[string]any) ([]parameters, error) {
	var said v1alpha1.GitGenerator
	if err := decode(body, &said); err != nil {
		return nil, err
	}
	switch {
	case said.RepoURL == "":
		return nil, within(".repoURL", errors.New("missing"))
	case len(said.Directories) == 0 && len(said.Files) == 0:
		return nil, errors.New("set directories or files")
	}
	tree, err := g.tree(said.RepoURL, said.Revision)
	if err != nil {
		return nil, err
	}
	g.every(said)
	if len(said.Directories) > 0 {
		return g.directories(said, tree)
	}
	return g.files(said, tree)
}

// defaultProject is the one of Applications that name none.
const defaultProject = "default"

// tree reads a repository, once in a pass.
func (g *generation) tree(address, revision string) (*source.Tree, error) {
	key := at{address, revision}
	if tree, known := g.trees[key]; known {
		return tree, nil
	}
	spec, _ := g.set.template["spec"].(map[string]any)
	project, _ := spec["project"].(string)
	if project = cmp.Or(project, defaultProject); strings.Contains(project, "{{") {
		project = ""
	}
	tree, resolved, err := g.facts.Tree(g.ctx, address, revision, project)
	if err != nil {
		return nil, fmt.Errorf("reading %s at %q: %w", public(address), revision, err)
	}
	g.trees[key] = tree
	g.out.Repositories = append(g.out.Repositories, Repository{URL: address, Revision: revision, Resolved: resolved})
	return tree, nil
}

// every remembers the shortest interval that a generator wants for a repository.
func (g *generation) every(said v1alpha1.GitGenerator) {
	if said.RequeueAfterSeconds == nil || *said.RequeueAfterSeconds <= 0 {
		return
	}
	wanted := time.Duration(*said.RequeueAfterSeconds) * time.Second
	for i := range g.out.Repositories {
		if r := &g.out.Repositories[i]; r.URL == said.RepoURL && r.Revision == said.Revision && (r.Every == 0 || wanted < r.Every) {
			r.Every = wanted
		}
	}
}

// public is a URL without a login.
func public(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.User == nil {
		return address
	}
	parsed.User = nil
	return parsed.String()
}

func (g *generation) directories(said v1alpha1.GitGenerator, tree *source.Tree) ([]parameters, error) {
	for i, item := range said.Directories {
		if _, err := path.Match(item.Path, ""); err != nil {
			return nil, within(fmt.Sprintf(".directories[%d].path", i), fmt.Errorf("%q is not a pattern: %w", item.Path, err))
		}
	}
	var sets []parameters
	for _, directory := range g.walk(tree, "", nil) {
		if !wanted(said.Directories, directory) {
			continue
		}
		params := map[string]any{}
		g.addPath(params, said.PathParamPrefix, directory, "")
		if err := addValues(g.engine, said.Values, params); err != nil {
			return nil, fmt.Errorf("with directory %q: %w", directory, err)
		}
		sets = append(sets, parameters{params, fmt.Sprintf("directory %q", directory)})
	}
	return sets, nil
}

// walk lists the directories of a tree, each before those within it.
func (g *generation) walk(tree *source.Tree, from string, found []string) []string {
	names, _ := tree.Entries(from)
	for _, name := range names {
		at := path.Join(from, name)
		_, isDirectory := tree.Entries(at)
		if !isDirectory || name == ".git" || strings.HasPrefix(name, ".") && !g.options.HiddenDirectories {
			continue
		}
		found = g.walk(tree, at, append(found, at))
	}
	return found
}

// wanted says whether a directory matches, and is not excluded by any other pattern.
func wanted(items []v1alpha1.GitDirectoryGeneratorItem, directory string) bool {
	included := false
	for _, item := range items {
		if match, err := path.Match(item.Path, directory); err != nil || !match {
			continue
		}
		if item.Exclude {
			return false
		}
		included = true
	}
	return included
}

// addPath adds the parameters of a directory, and of a file in it unless its name is empty.
func (g *generation) addPath(params map[string]any, prefix, directory, file string) {
	base := path.Base(directory)
	segments := strings.Split(directory, "/")
	if g.set.Spec.GoTemplate {
		of := map[string]any{"path": directory, "basename": base, "basenameNormalized": normalize(base), "segments": segments}
		if file != "" {
			of["filename"], of["filenameNormalized"] = file, normalize(file)
		}
		if prefix != "" {
			params[prefix] = map[string]any{"path": of}
			return
		}
		params["path"] = of
		return
	}
	name := "path"
	if prefix != "" {
		name = prefix + ".path"
	}
	params[name] = directory
	params[name+".basename"], params[name+".basenameNormalized"] = base, normalize(base)
	if file != "" {
		params[name+".filename"], params[name+".filenameNormalized"] = file, normalize(file)
	}
	for i, segment := range segments {
		if segment != "" {
			params[name+"["+strconv.Itoa(i)+"]"] = segment
		}
	}
}
