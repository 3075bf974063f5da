package helm

import (
	"context"
	"fmt"
	"log/slog"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

// TemplateOptions say for what cluster a chart is rendered.
type TemplateOptions struct {
	Common
	// KubeVersion is the version that the chart sees, such as v1.36.0; Helm's own default when it is
	// empty.
	KubeVersion string
	// APIVersions are further kinds and versions that the chart sees: "group/version" and
	// "group/version/Kind".
	APIVersions []string
	// Upgrade renders as for an upgrade.
	Upgrade bool
	// ClusterWide, when set, reports which kinds have no namespaces; objects then have what Helm sets when it
	// applies them, and the namespace of the release when they name none.
	ClusterWide func(schema.GroupVersionKind) bool
}

// Template renders a chart without a cluster: lookup finds nothing.
func Template(ctx context.Context, o TemplateOptions) (*Rendered, error) {
	setUp()
	out, err := template(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("rendering release %s/%s with chart %s@%s: %w",
			o.Namespace, o.Name, o.Chart.Name(), o.Chart.Version(), o.Values.scrub(err))
	}
	return out, nil
}

func template(ctx context.Context, o TemplateOptions) (*Rendered, error) {
	release, chart, err := dryRun(ctx, o, false)
	if err != nil {
		return nil, err
	}
	out, err := rendered(release)
	if err != nil {
		return nil, err
	}
	for _, object := range out.Objects {
		if err := engine.Strings(object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", engine.IDOf(object), err)
		}
	}
	if o.ClusterWide != nil {
		out.adopt(o.Name, o.Namespace, o.ClusterWide)
	}
	if o.CRDs != SkipCRDs {
		out.CRDs, err = chartCRDs(chart, o.PostRender)
	}
	return out, err
}

// dryRun is an install without a cluster. With crds the definitions of the chart are among what it gives.
func dryRun(ctx context.Context, o TemplateOptions, crds bool) (*releasev1.Release, *chartv2.Chart, error) {
	if !o.DisableSchemaValidation {
		if err := validate(ctx, o.Common, nil); err != nil {
			return nil, nil, err
		}
	}
	chart, err := o.Chart.load()
	if err != nil {
		return nil, nil, err
	}
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	in := action.NewInstall(config)
	in.DryRunStrategy, in.IncludeCRDs = action.DryRunClient, crds
	in.ReleaseName, in.Namespace, in.IsUpgrade = o.Name, o.Namespace, o.Upgrade
	in.SkipSchemaValidation, in.Devel, in.DisableHooks = true, true, o.DisableHooks
	in.EnableDNS, in.APIVersions = o.EnableDNS, o.APIVersions
	in.PostRenderer, in.PostRenderStrategy = o.PostRender.renderer(), o.PostRender.strategy()
	if o.KubeVersion != "" {
		if in.KubeVersion, err = common.ParseKubeVersion(o.KubeVersion); err != nil {
			return nil, nil, fmt.Errorf("parsing the Kubernetes version %q: %w", o.KubeVersion, err)
		}
	}
	undo := o.isolate(ctx, config, chart, nil)
	made, err := in.RunWithContext(ctx, chart, o.Values.Map())
	if err = undo(err); err != nil {
		return nil, nil, err
	}
	release, ok := made.(*releasev1.Release)
	if !ok {
		return nil, nil, fmt.Errorf("unsupported release type %T", made)
	}
	return release, chart, nil
}
