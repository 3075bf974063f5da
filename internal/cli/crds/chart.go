package crds

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/crdtypes"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/chart"
)

// ofArchive reads the definitions of a packed chart.
func (o *options) ofArchive(ctx context.Context, name string) ([]crdtypes.Definition, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading a chart: %w", err)
	}
	defer file.Close()
	data, err := readAll(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return o.ofChart(ctx, name, data)
}

// ofDirectoryChart reads the definitions of a chart that is not packed.
func (o *options) ofDirectoryChart(ctx context.Context, name string) ([]crdtypes.Definition, error) {
	everything := source.KeepAll
	tree, err := source.Directory{Path: name}.Tree(source.Selection{Ignore: &everything})
	if err != nil {
		return nil, fmt.Errorf("reading the chart %s: %w", name, err)
	}
	packed, err := chart.Package(ctx, tree, ".", chart.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the chart %s: %w", name, err)
	}
	return o.ofChart(ctx, name, packed.Data)
}

// ofRepository fetches a chart: oci://HOST/PATH/CHART[:VERSION], helm:https://HOST/PATH/CHART[@VERSION].
func (o *options) ofRepository(ctx context.Context, from string) ([]crdtypes.Definition, error) {
	address := strings.TrimPrefix(from, "helm:")
	repository, last := path.Split(address)
	name, version, versioned := strings.Cut(last, "@")
	if !versioned {
		name, version, _ = strings.Cut(last, ":")
	}
	if name == "" || !strings.Contains(address, "://") {
		return nil, fmt.Errorf("%s: want oci://HOST/PATH/CHART[:VERSION] or helm:https://HOST/PATH/CHART[@VERSION]", shown(from))
	}
	fetched, err := source.FetchChart(ctx, source.ChartOptions{URL: strings.TrimSuffix(repository, "/"), Chart: name, Version: version}, "")
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", shown(from), err)
	}
	return o.ofChart(ctx, shown(from), fetched.Data)
}

// ofChart renders a chart for its definitions: those of its directory crds, and those among its templates.
func (o *options) ofChart(ctx context.Context, name string, data []byte) ([]crdtypes.Definition, error) {
	loaded, err := helm.LoadChart(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var parameters []helm.Parameter
	for _, text := range o.set {
		at, value, given := strings.Cut(text, "=")
		if !given {
			return nil, fmt.Errorf("--set %q: want NAME=VALUE", text)
		}
		parameters = append(parameters, helm.Parameter{Name: at, Value: value, Kind: helm.Set})
	}
	values, err := helm.Values{}.With(parameters...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pool := o.globals.IO.Sandbox(ctx, sandbox.DefaultLimits(), "", func(text string) { fmt.Fprintln(o.globals.IO.Err, text) })
	rendered, err := helm.Template(ctx, helm.TemplateOptions{Common: helm.Common{
		Name: "import", Namespace: "default", Chart: loaded, Values: values, CRDs: helm.CreateCRDs, DisableHooks: true, Sandbox: pool.For("", name),
	}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []crdtypes.Definition
	for _, objects := range [][]*unstructured.Unstructured{rendered.CRDs, rendered.Objects} {
		for _, object := range objects {
			found, err := crdtypes.FromObject(name+": "+object.GetName(), object.Object)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}
