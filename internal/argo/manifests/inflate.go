package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// defaultNamespace is where helm puts a release without a namespace.
const defaultNamespace = "default"

// inflate makes manifests of a chart that a kustomization names, as the command helm template does.
func (j *job) inflate(ctx context.Context, c *render.Chart) ([]byte, error) {
	loaded, err := j.chartOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if loaded.Annotation(simulate.Label) != "" {
		c.StandIn, j.standIn = true, true
	}
	name, err := releaseName(c)
	if err != nil {
		return nil, err
	}
	defaults, _ := loaded.File("values.yaml")
	layers, err := c.Values(defaults)
	if err != nil {
		return nil, err
	}
	var of []helm.Layer
	for i, data := range layers {
		from := "valuesFile and valuesInline"
		if i > 0 {
			from = fmt.Sprintf("additionalValuesFiles[%d]", i-1)
		}
		// These may have been decrypted.
		of = append(of, helm.Layer{From: from, Data: data, Secret: j.request.Decrypt != nil})
	}
	values, err := helm.Compose(nil, of...)
	if err != nil {
		return nil, err
	}
	j.rendered(loaded, cmp.Or(c.Namespace, defaultNamespace), values)
	options := helm.TemplateOptions{
		Common: helm.Common{
			Name: name, Namespace: cmp.Or(c.Namespace, defaultNamespace), Chart: loaded, Values: values, DisableHooks: c.SkipHooks,
			Sandbox: j.request.Sandbox, Egress: j.request.Egress,
		},
		KubeVersion: c.KubeVersion, APIVersions: c.APIVersions,
	}
	if !c.IncludeCRDs {
		options.CRDs = helm.SkipCRDs
	}
	text, err := helm.Text(ctx, options, c.SkipTests)
	if err != nil {
		return nil, err
	}
	if _, err := parse([]byte(text)); err != nil {
		return nil, fmt.Errorf("reading the rendered chart %s: %w", loaded.Name(), err)
	}
	return []byte(text), nil
}

// chartOf finds the chart: in the tree, or where it is kept.
func (j *job) chartOf(ctx context.Context, c *render.Chart) (*helm.Chart, error) {
	if c.Vendored != "" {
		return j.vendored(ctx, c.Vendored)
	}
	version := c.Version
	if version == "" && c.Devel {
		version = ">0.0.0-0"
	}
	data, err := j.fetch(ctx, c.Repo, c.Name, version)
	if err != nil {
		return nil, err
	}
	return helm.LoadChart(data)
}

// releaseName is the name of the release of a chart in a kustomization.
func releaseName(c *render.Chart) (string, error) {
	switch {
	case c.ReleaseName != "" && c.NameTemplate != "":
		return "", errors.New("nameTemplate: releaseName is also set; keep one of them")
	case c.NameTemplate != "":
		name, err := helm.TemplatedName(c.NameTemplate)
		if err != nil {
			return "", fmt.Errorf("nameTemplate: %w", err)
		}
		return name, nil
	}
	return cmp.Or(c.ReleaseName, helm.DefaultReleaseName), nil
}
