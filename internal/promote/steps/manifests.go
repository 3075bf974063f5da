package steps

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// tree is all files of the Promotion as they are now. Links stay links, and lead nowhere outside it.
func (s *step) tree() (*source.Tree, error) {
	var all []*source.File
	size := 0
	err := fs.WalkDir(s.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if len(all) == maxCopied {
			return fail("there are more than %d files", maxCopied)
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := s.root.Readlink(name)
			if err != nil {
				return err
			}
			all = append(all, source.NewLink(name, s.confined(name, target)))
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := s.read(name)
		if err != nil {
			return err
		}
		if size += len(data); size > maxBytes {
			return fail("the files are larger than %d bytes together", maxBytes)
		}
		const mode = 0o644
		all = append(all, source.NewFile(name, mode, data))
		return nil
	})
	if err != nil {
		return nil, err
	}
	tree, err := source.NewTree(all)
	if err != nil {
		return nil, fail("reading the files: %w", err)
	}
	return tree, nil
}

// confined is the target of a link, such that one which leaves its checkout leads nowhere: a repository does not choose files of another one to be
// rendered.
func (s *step) confined(name, target string) string {
	for at := range s.work.State.Checkouts {
		within := func(name string) bool { return at == "." || name == at || strings.HasPrefix(name, at+"/") }
		if to := path.Join(path.Dir(name), target); within(name) && !path.IsAbs(target) && !within(to) {
			return path.Join("/", to)
		}
	}
	return target
}

// fromTo is what is rendered, and where that is written.
func fromTo(from, to string) (at, out string, err error) {
	if at, err = clean("path", from); err != nil {
		return "", "", err
	}
	out, err = clean("outPath", to)
	return at, out, err
}

// isFile reports whether manifests are written to one file, and not to several in a directory.
func isFile(at string) bool { return path.Ext(at) == ".yaml" || path.Ext(at) == ".yml" }

type buildConfig struct {
	Path         string         `json:"path"`
	OutPath      string         `json:"outPath"`
	OutputFormat string         `json:"outputFormat"`
	Plugin       map[string]any `json:"plugin"`
}

// kustomizeBuild renders a kustomization. Nothing is fetched for it.
func (s *step) kustomizeBuild(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[buildConfig](data)
	if err != nil {
		return nil, err
	}
	at, out, err := fromTo(config.Path, config.OutPath)
	if err != nil {
		return nil, err
	}
	switch {
	case len(config.Plugin) > 0:
		return nil, fail("plugin: charts in kustomizations are not rendered: use helm-template")
	case !slices.Contains([]string{"", "kargo", "kustomize"}, config.OutputFormat):
		return nil, fail("outputFormat: %q is neither kargo nor kustomize", config.OutputFormat)
	}
	if err := s.straight(at); err != nil {
		return nil, err
	}
	tree, err := s.tree()
	if err != nil {
		return nil, err
	}
	built, err := render.New().Build(ctx, tree, render.Options{Path: at, NoRemoteBases: true})
	if err != nil {
		return nil, fail("path: building %q: %w", at, err)
	}
	if isFile(out) {
		documents := make([][]byte, len(built.Objects))
		for i, o := range built.Objects {
			if documents[i], err = yaml.Marshal(o.Object); err != nil {
				return nil, fail("writing %s %q: %w", o.GetKind(), o.GetName(), err)
			}
		}
		return nil, s.write(out, bytes.Join(documents, []byte("---\n")))
	}
	written := map[string]bool{}
	for _, o := range built.Objects {
		name := fileName(o, config.OutputFormat == "kustomize")
		if written[name] {
			return nil, fail("outPath: two objects would be written to %q: write them to one file", name)
		}
		written[name] = true
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			return nil, fail("writing %s %q: %w", o.GetKind(), o.GetName(), err)
		}
		if err := s.write(path.Join(out, name), document); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// fileName is that of an object: [NAMESPACE-]KIND-NAME.yaml, or with underscores and its group and version as kustomize has it.
func fileName(o *unstructured.Unstructured, kustomize bool) string {
	parts, by := []string{o.GetNamespace(), o.GetKind(), o.GetName()}, "-"
	if kustomize {
		gvk := o.GroupVersionKind()
		parts, by = []string{o.GetNamespace(), gvk.Group, gvk.Version, gvk.Kind, o.GetName()}, "_"
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	// Names of some kinds have colons or slashes in them.
	return strings.NewReplacer("/", by, ":", by).Replace(strings.ToLower(strings.Join(parts, by))) + ".yaml"
}

type templateConfig struct {
	Path              string     `json:"path"`
	OutPath           string     `json:"outPath"`
	OutLayout         string     `json:"outLayout"`
	ReleaseName       string     `json:"releaseName"`
	UseReleaseName    bool       `json:"useReleaseName"`
	Namespace         string     `json:"namespace"`
	ValuesFiles       []string   `json:"valuesFiles"`
	BuildDependencies bool       `json:"buildDependencies"`
	IncludeCRDs       bool       `json:"includeCRDs"`
	DisableHooks      bool       `json:"disableHooks"`
	SkipTests         bool       `json:"skipTests"`
	KubeVersion       string     `json:"kubeVersion"`
	APIVersions       []string   `json:"apiVersions"`
	SetValues         []setValue `json:"setValues"`
}

type setValue struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// helmTemplate renders a chart. The charts that it needs are those that are in its directory, or at paths beside it: none is fetched.
func (s *step) helmTemplate(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[templateConfig](data)
	if err != nil {
		return nil, err
	}
	at, out, err := fromTo(config.Path, config.OutPath)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"", "helm", "flat"}, config.OutLayout) {
		return nil, fail("outLayout: %q is neither helm nor flat", config.OutLayout)
	}
	options, err := s.templated(ctx, at, config)
	if err != nil {
		return nil, err
	}
	text, err := helm.Text(ctx, options, config.SkipTests)
	if err != nil {
		return nil, fail("path: %w", err)
	}
	if isFile(out) {
		return nil, s.write(out, []byte(text))
	}
	for name, content := range parts(text) {
		// Each begins with the name of the chart.
		_, within, _ := strings.Cut(name, "/")
		switch {
		case config.OutLayout == "flat":
			name = path.Base(name)
		case config.UseReleaseName:
			name = path.Join(options.Name, within)
		}
		to, err := clean("outPath", path.Join(out, name))
		if err != nil {
			return nil, err
		}
		if err := s.write(to, []byte(content)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// templated are the options by which a chart is rendered.
func (s *step) templated(ctx context.Context, at string, config templateConfig) (helm.TemplateOptions, error) {
	var layers []helm.Layer
	for i, name := range config.ValuesFiles {
		file, err := clean(fmt.Sprintf("valuesFiles[%d]", i), name)
		if err != nil {
			return helm.TemplateOptions{}, err
		}
		content, err := s.read(file)
		if err != nil {
			return helm.TemplateOptions{}, err
		}
		layers = append(layers, helm.Layer{From: fmt.Sprintf("valuesFiles[%d]: %q", i, name), Data: content})
	}
	for i, set := range config.SetValues {
		layers = append(layers, helm.Layer{From: fmt.Sprintf("setValues[%d]", i), Data: fmt.Append(nil, set.Value), TargetPath: set.Key})
	}
	values, err := helm.Compose(nil, layers...)
	if err != nil {
		return helm.TemplateOptions{}, fail("%w", err)
	}
	if err := s.straight(at); err != nil {
		return helm.TemplateOptions{}, err
	}
	tree, err := s.tree()
	if err != nil {
		return helm.TemplateOptions{}, err
	}
	packed, err := chart.Package(ctx, tree, at, chart.Options{Dependency: func(_ context.Context, d chart.Dependency) ([]byte, error) {
		return nil, fmt.Errorf("chart %q of %s is not in the directory charts, and charts are not fetched by this step: commit it there", d.Name, d.Repository)
	}})
	if err != nil {
		return helm.TemplateOptions{}, fail("path: %w", err)
	}
	loaded, err := helm.LoadChart(packed.Data)
	if err != nil {
		return helm.TemplateOptions{}, fail("path: %w", err)
	}
	crds := helm.SkipCRDs
	if config.IncludeCRDs {
		crds = ""
	}
	return helm.TemplateOptions{
		Common: helm.Common{
			Name: cmp.Or(config.ReleaseName, helm.DefaultReleaseName), Namespace: cmp.Or(config.Namespace, "default"), Chart: loaded, Values: values,
			DisableHooks: config.DisableHooks, CRDs: crds, Sandbox: s.runner.Sandbox.For(s.project(), "Promotion "+s.work.Promotion),
			Egress: s.runner.Egress,
		},
		KubeVersion: config.KubeVersion, APIVersions: config.APIVersions,
	}, nil
}

// parts are the documents of rendered manifests by the templates that they came from.
func parts(text string) map[string]string {
	all := map[string]string{}
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		document = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(document), "---"))
		first, _, _ := strings.Cut(document, "\n")
		name, is := strings.CutPrefix(first, "# Source: ")
		if !is || document == "" {
			continue
		}
		all[strings.TrimSpace(name)] += "---\n" + document + "\n"
	}
	return all
}

type clearConfig struct {
	Path string `json:"path"`
}

// clear deletes all files of a checkout; the next commit has what is written there afterwards.
func (s *step) clear(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[clearConfig](data)
	if err != nil {
		return nil, err
	}
	at, _, _, err := s.checkedOut(config.Path)
	if err != nil {
		return nil, err
	}
	if err := s.empty(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail("deleting the files of %q: %w", at, err)
	}
	return nil, nil
}
