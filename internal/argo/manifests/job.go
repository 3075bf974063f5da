package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/render"
)

// sealed is what is said of something encrypted for which there are no keys.
const sealed = "encrypted with SOPS; set the annotation headgate.dev/decryption: sops on the Application to decrypt it"

// job is the render of one source.
type job struct {
	*run
	index  int
	source *Source
	// spec is that of the source with the overrides in its directory.
	spec v1alpha1.ApplicationSource
	// dir is the directory in the tree, without slashes around it.
	dir string
	env *buildEnv
	// standIn is set once something stood in for a chart.
	standIn bool
}

func (r *run) job(i int) *job {
	s := &r.request.Sources[i]
	return &job{run: r, index: i, source: s, spec: *s.Spec.DeepCopy(), env: newEnv(r.request.App, s)}
}

// reader is that of the source's own tree.
func (j *job) reader() *render.Reader { return j.readers[j.index] }

// problem records what is requested and not done.
func (j *job) problem(field, format string, args ...any) {
	j.problems = append(j.problems, j.name(j.index)+"."+field+": "+fmt.Sprintf(format, args...))
}

// after are the options for what follows a build.
func (j *job) after() render.Options {
	return render.Options{Decryption: j.request.Decrypt, Sealed: sealed, Nameless: true}
}

func (j *job) render(ctx context.Context) ([]*unstructured.Unstructured, v1alpha1.ApplicationSourceType, error) {
	spec := &j.spec
	if j.source.BuiltIn != nil {
		objects, err := j.builtIn()
		return objects, v1alpha1.ApplicationSourceTypeHelm, err
	}
	if spec.Chart != "" || j.source.Chart != nil {
		objects, err := j.packedChart(ctx)
		return objects, v1alpha1.ApplicationSourceTypeHelm, err
	}
	if spec.Path == "" && spec.Ref != "" {
		return nil, "", nil
	}
	if j.source.Tree == nil {
		return nil, "", errors.New("the source has not been fetched")
	}
	if err := j.enter(); err != nil {
		return nil, "", err
	}
	if err := j.override(); err != nil {
		return nil, "", err
	}
	kind, err := j.kind()
	if err != nil {
		return nil, "", err
	}
	var objects []*unstructured.Unstructured
	switch kind {
	case v1alpha1.ApplicationSourceTypeHelm:
		objects, err = j.treeChart(ctx)
	case v1alpha1.ApplicationSourceTypeKustomize:
		objects, err = j.kustomize(ctx)
	default:
		objects, err = j.directory(ctx)
	}
	return objects, kind, err
}

// enter finds the directory of the source.
func (j *job) enter() error {
	p := j.spec.Path
	if p == "" && !strings.HasPrefix(j.spec.RepoURL, "oci://") {
		return fieldError("path", "empty; set a directory (\".\" for the root), chart or ref")
	}
	if path.IsAbs(p) {
		return fieldError("path", "%q: app path is absolute; remove the leading slash", p)
	}
	clean := path.Clean(p)
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return fieldError("path", "%q: app path is outside the repository", p)
	}
	resolved, err := j.reader().Resolve(clean)
	if err != nil {
		return fieldError("path", "%q: %w", p, err)
	}
	_, there, err := j.reader().Dir(resolved)
	if err != nil {
		return fieldError("path", "%q: %w", p, err)
	}
	if !there {
		if _, isFile, _ := j.reader().Size(resolved); isFile {
			return fieldError("path", "%q: app path is not a directory", p)
		}
		return fieldError("path", "%q: app path does not exist", p)
	}
	j.dir = resolved
	return nil
}

// override merges the files into the source by which others, such as an image updater, change how it is built.
func (j *job) override() error {
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + j.request.App.Name + ".yaml"} {
		file := path.Join(j.dir, name)
		data, there, err := j.reader().File(file)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		merged, err := merge(j.spec, data)
		if err != nil {
			return &render.Error{File: file, Err: err}
		}
		// What the source is cannot be changed by what is in it.
		merged.RepoURL, merged.Path, merged.TargetRevision, merged.Chart = j.spec.RepoURL, j.spec.Path, j.spec.TargetRevision, j.spec.Chart
		merged.Ref, merged.Name = j.spec.Ref, j.spec.Name
		j.spec = merged
	}
	return nil
}

// merge applies a merge patch in YAML to a source.
func merge(spec v1alpha1.ApplicationSource, patch []byte) (merged v1alpha1.ApplicationSource, err error) {
	before, err := json.Marshal(spec)
	if err != nil {
		return merged, err
	}
	change, err := yaml.YAMLToJSON(patch)
	if err != nil {
		return merged, errors.New("not YAML")
	}
	if text := strings.TrimSpace(string(change)); text == "null" {
		return spec, nil
	}
	after, err := jsonpatch.MergePatch(before, change)
	if err == nil {
		err = json.Unmarshal(after, &merged)
	}
	if err != nil {
		return merged, fmt.Errorf("cannot be merged into the source: %w", err)
	}
	return merged, nil
}

// kind finds out what builds the source: what it says, or what is in its directory, by the tools that are switched on.
func (j *job) kind() (v1alpha1.ApplicationSourceType, error) {
	kind, err := j.stated()
	if err != nil {
		return "", err
	}
	if kind == "" {
		if kind, err = j.found(); err != nil {
			return "", err
		}
	}
	// A tool that is switched off leaves a plain directory.
	switch {
	case kind == v1alpha1.ApplicationSourceTypeHelm && !j.request.Options.Helm.Enabled:
		j.problem("helm", "helm.enable of argocd-cm is false; the source is treated as a plain directory")
		kind = v1alpha1.ApplicationSourceTypeDirectory
	case kind == v1alpha1.ApplicationSourceTypeKustomize && !j.request.Options.Kustomize.Enabled:
		j.problem("kustomize", "kustomize.enable of argocd-cm is false; the source is treated as a plain directory")
		kind = v1alpha1.ApplicationSourceTypeDirectory
	}
	return kind, nil
}

// stated is what the source says of itself; empty when it says nothing.
func (j *job) stated() (v1alpha1.ApplicationSourceType, error) {
	spec := &j.spec
	if spec.Plugin != nil {
		return "", fieldError("plugin", "config-management plugins are not supported, and this source requires %s; "+
			"commit its output to a repository, or use helm, kustomize or directory", pluginName(spec.Plugin))
	}
	var kinds []v1alpha1.ApplicationSourceType
	if spec.Kustomize != nil {
		kinds = append(kinds, v1alpha1.ApplicationSourceTypeKustomize)
	}
	if spec.Helm != nil {
		kinds = append(kinds, v1alpha1.ApplicationSourceTypeHelm)
	}
	if spec.Directory != nil {
		kinds = append(kinds, v1alpha1.ApplicationSourceTypeDirectory)
	}
	switch len(kinds) {
	case 0:
		return "", nil
	case 1:
		return kinds[0], nil
	}
	return "", fmt.Errorf("multiple application sources defined: %v; keep one of kustomize, helm, directory", kinds)
}

func pluginName(p *v1alpha1.ApplicationSourcePlugin) string {
	if p.Name == "" {
		return "any matching plugin"
	}
	return fmt.Sprintf("%q", p.Name)
}

// found is what the directory looks like. A kustomization beside a chart counts, as with the upstream; a tool that is
// switched off leaves the directory to the other one.
func (j *job) found() (v1alpha1.ApplicationSourceType, error) {
	kustomization, err := j.hasKustomization()
	if err != nil || kustomization && j.request.Options.Kustomize.Enabled {
		return v1alpha1.ApplicationSourceTypeKustomize, err
	}
	_, chart, err := j.reader().Size(path.Join(j.dir, "Chart.yaml"))
	switch {
	case err != nil || chart:
		return v1alpha1.ApplicationSourceTypeHelm, err
	case kustomization:
		return v1alpha1.ApplicationSourceTypeKustomize, nil
	}
	return v1alpha1.ApplicationSourceTypeDirectory, nil
}

// hasKustomization reports whether there is a kustomization in the directory.
func (j *job) hasKustomization() (bool, error) {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, there, err := j.reader().Size(path.Join(j.dir, name)); err != nil || there {
			return there, err
		}
	}
	return false, nil
}
