package manifests

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/render"
	"github.com/headgate-dev/headgate/internal/simulate"
)

// kustomize builds a kustomization.
func (j *job) kustomize(ctx context.Context) ([]*unstructured.Unstructured, error) {
	there, err := j.hasKustomization()
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, fieldError("kustomize", "%q has no kustomization.yaml, kustomization.yml or Kustomization", j.spec.Path)
	}
	spec := j.spec.Kustomize
	if spec == nil {
		spec = &v1alpha1.ApplicationSourceKustomize{}
	}
	flags, err := j.buildFlags(spec)
	if err != nil {
		return nil, err
	}
	o := j.after()
	o.Path = j.dir
	o.NoRemoteBases, o.LeaveOut = j.request.Options.NoRemoteBases, j.request.Options.LeaveOut
	o.Inflate, o.Elsewhere = j.inflater(spec, flags), j.request.Elsewhere
	var failed error
	o.Edit = func(k *types.Kustomization, exists func(string) bool) error {
		failed = j.edit(k, spec, exists)
		return failed
	}
	result, err := j.renderer.kustomize.Build(ctx, j.source.Tree, o)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	j.reader().Add(result.Reads)
	j.volatile = j.volatile || result.Volatile
	if j.elsewhere == nil {
		j.elsewhere = map[render.Remote]*render.Fetched{}
	}
	maps.Copy(j.elsewhere, result.Elsewhere)
	return j.mended(result.Objects), complete(result.Objects)
}

// fixed completes what patches have left of the stand-ins of charts, if there are any.
func (j *job) mended(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	if !j.standIn || !j.request.Options.StandIns {
		return objects
	}
	mended := make([]*unstructured.Unstructured, len(objects))
	for i, o := range objects {
		mended[i] = simulate.Mend(o)
	}
	return mended
}

// buildFlags are the options of the build that the settings give, for the version that the source names.
func (j *job) buildFlags(spec *v1alpha1.ApplicationSourceKustomize) (buildFlags, error) {
	text, key := j.request.Options.Kustomize.BuildOptions, "kustomize.buildOptions"
	if spec.Version != "" {
		version, known := j.request.Options.Kustomize.Versions[spec.Version]
		if !known {
			return buildFlags{}, fieldError("kustomize.version", "%q is not a version in argocd-cm (kustomize.path.%s)", spec.Version, spec.Version)
		}
		j.problem("kustomize.version", "%q is an external program, which is not run; the built-in kustomize is used", spec.Version)
		if version.BuildOptions != "" {
			text, key = version.BuildOptions, key+"."+spec.Version
		}
	}
	flags, err := parseFlags(text)
	if err != nil {
		return flags, fmt.Errorf("%s of argocd-cm: %w", key, err)
	}
	for _, note := range flags.notes {
		j.problem("kustomize", "%s of argocd-cm: %s", key, note)
	}
	return flags, nil
}

// errNoHelm is what a chart in a kustomization gets unless charts are switched on.
var errNoHelm = errors.New("charts in kustomizations are off; set kustomize.buildOptions: --enable-helm in argocd-cm")

// inflater makes manifests of the charts that kustomizations name.
func (j *job) inflater(spec *v1alpha1.ApplicationSourceKustomize, flags buildFlags) render.Inflate {
	if !flags.helm {
		return func(context.Context, *render.Chart) ([]byte, error) { return nil, errNoHelm }
	}
	kubeVersion, apiVersions := j.request.App.KubeVersion, j.request.App.APIVersions
	if flags.kubeVersion != "" {
		kubeVersion = flags.kubeVersion
	}
	if spec.KubeVersion != "" {
		kubeVersion = spec.KubeVersion
	}
	if len(flags.apiVersions) > 0 {
		apiVersions = flags.apiVersions
	}
	if len(spec.APIVersions) > 0 {
		apiVersions = spec.APIVersions
	}
	return func(ctx context.Context, c *render.Chart) ([]byte, error) {
		if c.KubeVersion == "" {
			c.KubeVersion = kubeVersion
		}
		if len(c.APIVersions) == 0 {
			c.APIVersions = apiVersions
		}
		return j.inflate(ctx, c)
	}
}
