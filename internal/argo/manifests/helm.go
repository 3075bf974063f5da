package manifests

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// packedChart renders a source that is a packed chart.
func (j *job) packedChart(ctx context.Context) ([]*unstructured.Unstructured, error) {
	if !j.request.Options.Helm.Enabled {
		return nil, fieldError("chart", "helm.enable of argocd-cm is false, and the source is a chart")
	}
	if j.source.Chart == nil {
		return nil, fieldError("chart", "%q has not been fetched", j.spec.Chart)
	}
	if kind, err := j.stated(); err != nil {
		return nil, err
	} else if kind != "" && kind != v1alpha1.ApplicationSourceTypeHelm {
		return nil, fieldError("chart", "it is a chart, but the source configures %s; remove that", kind)
	}
	loaded, err := helm.LoadChart(j.source.Chart)
	if err != nil {
		return nil, fieldError("chart", "%q: %w", j.spec.Chart, err)
	}
	return j.release(ctx, loaded, packed{loaded})
}

// treeChart renders a chart in a directory of the tree.
func (j *job) treeChart(ctx context.Context) ([]*unstructured.Unstructured, error) {
	loaded, err := j.vendored(ctx, j.dir)
	if err != nil {
		return nil, err
	}
	return j.release(ctx, loaded, j.reader())
}

// vendored packs the chart in a directory of the tree, with the charts that it needs.
func (j *job) vendored(ctx context.Context, dir string) (*helm.Chart, error) {
	if err := j.record(dir, 0); err != nil {
		return nil, err
	}
	packed, err := chart.Package(ctx, j.source.Tree, dir, chart.Options{Dependency: func(ctx context.Context, d chart.Dependency) ([]byte, error) {
		return j.fetch(ctx, d.Repository, d.Name, d.Version)
	}})
	if err != nil {
		return nil, err
	}
	return helm.LoadChart(packed.Data)
}

// fetch gets a chart that is in no source.
func (j *job) fetch(ctx context.Context, repo, name, version string) ([]byte, error) {
	if j.request.Charts == nil {
		return nil, fmt.Errorf("chart %q of %s is not in the repository, and charts are not fetched here", name, repo)
	}
	data, _, err := j.request.Charts.Chart(ctx, repo, name, version)
	if err != nil {
		return nil, fmt.Errorf("fetching chart %q of %s: %w", name, repo, err)
	}
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v")); err != nil {
		j.volatile = true // a range gives something else once there is a newer version
	}
	j.fetched = append(j.fetched, digest(data))
	return data, nil
}

// maxNested bounds charts that need charts in other directories.
const maxNested = 8

// record notes everything in the directory of a chart as read, and the directories of charts that it needs.
func (j *job) record(dir string, nested int) error {
	if nested > maxNested {
		return nil // the packager of the chart says so
	}
	if err := j.recordDir(dir, 0); err != nil {
		return err
	}
	for _, name := range []string{"Chart.yaml", "Chart.lock"} {
		data, there, err := j.reader().File(path.Join(dir, name))
		if err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		file := struct {
			Dependencies []struct {
				Repository string `json:"repository"`
			} `json:"dependencies"`
		}{}
		if yaml.Unmarshal(data, &file) != nil {
			continue // the packager of the chart says so
		}
		for _, d := range file.Dependencies {
			local, is := strings.CutPrefix(d.Repository, "file://")
			if !is || path.IsAbs(local) {
				continue
			}
			if at := path.Join(dir, local); at != dir && !strings.HasPrefix(at, "..") {
				if err := j.record(at, nested+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (j *job) recordDir(dir string, depth int) error {
	names, _, err := j.reader().Dir(dir)
	if err != nil || depth > maxDepth {
		return err
	}
	for _, name := range names {
		at, err := j.reader().Resolve(path.Join(dir, name))
		if err != nil {
			return err
		}
		if _, isFile, err := j.reader().Size(at); err != nil || isFile {
			if err != nil {
				return err
			}
			continue
		}
		if err := j.recordDir(at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// release renders a chart with what the source says; own are the files among which its paths begin.
func (j *job) release(ctx context.Context, loaded *helm.Chart, own files) ([]*unstructured.Unstructured, error) {
	if j.spec.Helm == nil {
		j.spec.Helm = &v1alpha1.ApplicationSourceHelm{}
	}
	o := j.spec.Helm
	values, err := j.values(own)
	if err != nil {
		return nil, err
	}
	options := helm.TemplateOptions{
		Common: helm.Common{
			Name: cmp.Or(o.ReleaseName, j.request.App.Name), Namespace: cmp.Or(o.Namespace, j.request.App.Namespace, defaultNamespace),
			Chart: loaded, Values: values, DisableSchemaValidation: o.SkipSchemaValidation,
			Sandbox: j.request.Sandbox, Egress: j.request.Egress,
		},
		KubeVersion: cmp.Or(o.KubeVersion, j.request.App.KubeVersion), APIVersions: j.request.App.APIVersions,
	}
	j.rendered(loaded, options.Namespace, values)
	if len(o.APIVersions) > 0 {
		options.APIVersions = o.APIVersions
	}
	if o.SkipCrds {
		options.CRDs = helm.SkipCRDs
	}
	text, err := helm.Text(ctx, options, o.SkipTests)
	if err != nil {
		return nil, err
	}
	documents, err := parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading the rendered chart %s: %w", loaded.Name(), err)
	}
	return j.objects("", documents)
}

// rendered notes a chart and what it was given.
func (r *run) rendered(c *helm.Chart, namespace string, values helm.Values) {
	r.charts = append(r.charts, Chart{Name: c.Name(), Namespace: namespace, Values: values.Map()})
}

// values are those of the source: files, the values in it, and then single parameters.
func (j *job) values(own files) (helm.Values, error) {
	o := j.spec.Helm
	found, err := j.valueFiles(own)
	if err != nil {
		return helm.Values{}, err
	}
	var layers []helm.Layer
	for _, f := range found {
		layers = append(layers, helm.Layer{From: fmt.Sprintf("helm.valueFiles: %q", f.name), Data: f.data, Secret: f.secret})
	}
	if text, field := inline(o); len(text) > 0 {
		layers = append(layers, helm.Layer{From: field, Data: text})
	}
	values, err := helm.Compose(nil, layers...)
	if err != nil {
		return helm.Values{}, err
	}
	parameters, err := j.parameters(own)
	if err != nil {
		return helm.Values{}, err
	}
	if values, err = values.With(parameters...); err != nil {
		return helm.Values{}, fieldError("helm.parameters", "%w", err)
	}
	return values, nil
}

// inline are the values in the source. An object goes before a text, which then counts for nothing.
func inline(o *v1alpha1.ApplicationSourceHelm) (text []byte, field string) {
	if o.ValuesObject != nil && len(o.ValuesObject.Raw) > 0 && !bytes.Equal(o.ValuesObject.Raw, []byte("null")) {
		return o.ValuesObject.Raw, "helm.valuesObject"
	}
	return []byte(o.Values), "helm.values"
}

// parameters are the single values of the source.
func (j *job) parameters(own files) ([]helm.Parameter, error) {
	var out []helm.Parameter
	for _, p := range j.spec.Helm.Parameters {
		kind := helm.Set
		if p.ForceString {
			kind = helm.SetString
		}
		out = append(out, helm.Parameter{Name: p.Name, Value: escapeCommas(j.env.expand(p.Value)), Kind: kind})
	}
	for i, p := range j.spec.Helm.FileParameters {
		field := fmt.Sprintf("helm.fileParameters[%d].path", i)
		at, err := j.place(own, p.Path)
		if err != nil {
			return nil, fieldError(field, "%w", err)
		}
		file, there, err := j.read(at)
		if err == nil && !there {
			err = fmt.Errorf("%s: %w", p.Path, errMissing)
		}
		if err != nil {
			return nil, fieldError(field, "%w", err)
		}
		out = append(out, helm.Parameter{Name: p.Name, Value: string(file.data), Kind: helm.SetFile, Secret: file.secret})
	}
	return out, nil
}

// escapeCommas has the commas of a value mean themselves, unless the value is a list in braces.
func escapeCommas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	for i := range len(value) {
		if value[i] == ',' && (i == 0 || value[i-1] != '\\') {
			out.WriteByte('\\')
		}
		out.WriteByte(value[i])
	}
	return out.String()
}
