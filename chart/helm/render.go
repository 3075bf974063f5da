package helm

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// render is the objects of a chart.
func render(p Props, name, namespace string) ([]map[string]any, error) {
	if err := validName(name); err != nil {
		return nil, err
	}
	values, err := p.values()
	if err != nil {
		return nil, err
	}
	found, err := p.find()
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: !p.Upgrade, IsUpgrade: p.Upgrade}
	if options.Namespace == "" {
		options.Namespace = "default"
	}
	one := rendering{props: p, source: found, options: options, values: values}
	files, loaded, err := one.files(nil)
	if err != nil {
		return nil, err
	}
	if err := one.again(files); err != nil {
		return nil, err
	}
	return one.objects(files, loaded)
}

// rendering is a chart with what its templates see.
type rendering struct {
	props   Props
	source  archive
	options common.ReleaseOptions
	values  map[string]any
}

// files are what the templates give, by their paths. Templates may change values, and Helm changes charts: each call has its own.
func (r rendering) files(functions map[string]any) (map[string]string, *chartv2.Chart, error) {
	c, err := r.source.load(r.props, 0)
	if err != nil {
		return nil, nil, err
	}
	if c.Metadata.Type == "library" {
		return nil, nil, fmt.Errorf("%s is a library, which has no objects of its own", c.Name())
	}
	capabilities, err := r.props.capabilities()
	if err != nil {
		return nil, nil, err
	}
	if wanted := c.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, capabilities.KubeVersion.String()) {
		return nil, nil, fmt.Errorf("the chart needs Kubernetes %s, and templates see %s; set KubeVersion", wanted, capabilities.KubeVersion.Version)
	}
	values, err := cloned(r.values)
	if err != nil {
		return nil, nil, err
	}
	if err := chartutil.ProcessDependencies(c, values); err != nil {
		return nil, nil, err
	}
	top, err := util.ToRenderValuesWithSchemaValidation(c, values, r.options, capabilities, true)
	if err != nil {
		return nil, nil, err
	}
	if !r.props.SkipSchemaValidation {
		all, _ := top["Values"].(common.Values)
		if err := validate(c, all); err != nil {
			return nil, nil, err
		}
	}
	files, err := engine.Engine{CustomTemplateFuncs: functions}.Render(c, top)
	maps.DeleteFunc(files, func(name, _ string) bool { return path.Base(name) == "NOTES.txt" })
	return files, c, err
}

// again renders a second time, at another time, and refuses what is different then.
func (r rendering) again(first map[string]string) error {
	if r.props.Volatile {
		return nil
	}
	const later = 400 * 24 * time.Hour
	second, _, err := r.files(map[string]any{"now": func() time.Time { return time.Now().Add(later) }})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(first)) {
		if first[name] != second[name] {
			return fmt.Errorf("the template %s gives something else every time, since it draws lots or asks for the time: give it a value that stays (a password, a certificate, an existing Secret), or set Volatile", name)
		}
	}
	return nil
}

// capabilities are what templates see of a cluster.
func (p Props) capabilities() (*common.Capabilities, error) {
	c := common.DefaultCapabilities.Copy()
	version := p.KubeVersion
	if version == "" {
		version = DefaultKubeVersion
	}
	parsed, err := common.ParseKubeVersion(version)
	if err != nil {
		return nil, fmt.Errorf("KubeVersion %q is not a version: write one such as %s", version, DefaultKubeVersion)
	}
	c.KubeVersion = *parsed
	c.APIVersions = append(slices.Clone(c.APIVersions), p.APIVersions...)
	return c, nil
}

// objects are those of files, in the order of Helm: definitions, objects by their kinds, hooks.
func (r rendering) objects(files map[string]string, c *chartv2.Chart) ([]map[string]any, error) {
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	var all []map[string]any
	take := func(name, text string) error {
		some, err := objectsOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
		return nil
	}
	var errs []error
	if r.props.IncludeCRDs {
		for _, crd := range c.CRDObjects() {
			for _, document := range documents(string(crd.File.Data)) {
				errs = append(errs, take(crd.Filename, document))
			}
		}
	}
	for _, m := range manifests {
		errs = append(errs, take(m.Name, m.Content))
	}
	for _, h := range hooks {
		if r.props.Hooks == NoHooks || r.props.Hooks == NoTests && slices.Contains(h.Events, releasev1.HookTest) {
			continue
		}
		errs = append(errs, take(h.Path, h.Manifest))
	}
	return all, errors.Join(errs...)
}

// documents are those of a stream, in their order.
func documents(stream string) []string {
	split := releaseutil.SplitManifests(stream)
	keys := slices.Collect(maps.Keys(split))
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // manifest-9 is before manifest-10
		}
		return strings.Compare(a, b)
	})
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = split[key]
	}
	return texts
}
