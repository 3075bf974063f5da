package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/source"
)

// Prepared is a chart with its values.
type Prepared struct {
	chart     *helm.Chart
	values    helm.Values
	ociDigest string
	digest    string
	renderer  Patcher
}

// GivenChart is a chart as a source gives it: the kind of the source, and the revision that it is of.
type GivenChart struct {
	Chart          *helm.Chart
	Kind, Revision string
}

// Prepare puts the chart and the values of a release together.
func Prepare(ctx context.Context, hr *helmv2.HelmRelease, reader access.Reader, patches func(*helmv2.HelmRelease, GivenChart) Patcher,
	give func(context.Context) (GivenChart, error),
) (*Prepared, error) {
	values, err := ComposeValues(ctx, hr, reader)
	if err != nil {
		return nil, &Failure{"ValuesError", err}
	}
	given, err := give(ctx)
	if err != nil {
		return nil, &Failure{engine.Reason(helmv2.ArtifactFailedReason), err}
	}
	p := &Prepared{chart: given.Chart, values: values, renderer: patches(hr, given)}
	if _, digest, found := strings.Cut(given.Revision, "@"); found && given.Kind != sourcev1.HelmChartKind {
		p.ociDigest = digest
		if p.chart, err = withDigest(given.Chart, digest); err != nil {
			return nil, &Failure{engine.Reason(helmv2.ArtifactFailedReason), err}
		}
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{given.Chart.Digest(), values.Digest(), postRenderDigest(hr), fmt.Sprint(hr.Generation)}, "\x00")))
	p.digest = "sha256:" + hex.EncodeToString(sum[:])
	return p, nil
}

// Failure is a failure with the reason of Flux for it.
type Failure struct {
	ReadyReason engine.Reason
	Err         error
}

func (f *Failure) Error() string { return f.Err.Error() }

func (f *Failure) Unwrap() error { return f.Err }

// Reason is that of the Ready condition.
func (f *Failure) Reason() engine.Reason { return f.ReadyReason }

// ErrNoChart is what a source gives that unpacks what it fetches.
var ErrNoChart = errors.New(`the artifact is not a chart; set spec.layerSelector of the OCIRepository with operation "copy"`)

func loadChart(key source.Key, a *source.Artifact) (*helm.Chart, error) {
	if a.File == nil && key.Kind == sourcev1.ExternalArtifactKind {
		// It was put together here, and is packaged only for clients that download it.
		var packed bytes.Buffer
		if _, _, err := source.Pack(a.Tree, &packed); err != nil {
			return nil, err
		}
		return helm.LoadChart(packed.Bytes())
	}
	if a.File == nil {
		return nil, ErrNoChart
	}
	data, err := a.File.Read()
	if err != nil {
		return nil, err
	}
	return helm.LoadChart(data)
}

// withDigest puts the beginning of the digest of the artifact into the version of its chart, so that
// another artifact of the same version is another chart.
func withDigest(chart *helm.Chart, digest string) (*helm.Chart, error) {
	version, err := semver.NewVersion(chart.Version())
	if err != nil {
		return nil, fmt.Errorf("reading version %q of the chart: %w", chart.Version(), err)
	}
	_, hexadecimal, _ := strings.Cut(digest, ":")
	if len(hexadecimal) < sources.DigestLength {
		return chart, nil
	}
	named, err := version.SetMetadata(hexadecimal[:sources.DigestLength])
	if err != nil {
		return nil, fmt.Errorf("naming version %q of the chart: %w", chart.Version(), err)
	}
	return chart.WithVersion(named.String()), nil
}

// postRenderDigest changes with everything that changes rendered objects.
func postRenderDigest(hr *helmv2.HelmRelease) string {
	if len(hr.Spec.PostRenderers) == 0 && hr.Spec.CommonMetadata == nil {
		return ""
	}
	data, err := json.Marshal([]any{hr.Spec.PostRenderers, hr.Spec.CommonMetadata})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ComposeValues reads the values of a release: those of valuesFrom in their order, those of values last.
func ComposeValues(ctx context.Context, hr *helmv2.HelmRelease, reader access.Reader) (helm.Values, error) {
	var layers []helm.Layer
	for i, from := range hr.Spec.ValuesFrom {
		field := fmt.Sprintf("spec.valuesFrom[%d]: %s %q", i, from.Kind, hr.Namespace+"/"+from.Name)
		data, found, err := ReadValues(ctx, hr.Namespace, from, reader)
		if apierrors.IsNotFound(err) && from.Optional {
			continue
		}
		if err != nil {
			return helm.Values{}, fmt.Errorf("%s: %w", field, err)
		}
		if !found && from.Optional {
			continue
		}
		if !found {
			return helm.Values{}, fmt.Errorf("%s has no key %q", field, from.GetValuesKey())
		}
		layers = append(layers, helm.Layer{
			From: field + ", key " + from.GetValuesKey(), Data: data, TargetPath: from.TargetPath, Literal: from.Literal,
			Secret: from.Kind == "Secret",
		})
	}
	return helm.Compose(hr.GetValues(), layers...)
}

// ReadValues reads the values that a reference names; it is not ok when they are optional and missing.
func ReadValues(ctx context.Context, namespace string, from helmv2.ValuesReference, reader access.Reader) ([]byte, bool, error) {
	key := from.GetValuesKey()
	if from.Kind == "ConfigMap" {
		data, err := reader.ConfigMap(ctx, namespace, from.Name)
		text, found := data[key]
		return []byte(text), found, err
	}
	data, err := reader.Secret(ctx, namespace, from.Name)
	return data[key], data[key] != nil, err
}

// Patcher applies the patches and images of a post-renderer.
type Patcher interface {
	Patch(manifests []byte, patches []types.Patch, images []types.Image) ([]byte, error)
}

// chartPatchers patch what stands in for the chart of a release.
type chartPatchers interface {
	PatcherFor(release engine.UnitID) Patcher
}

// patcherOf is what patches the objects of a release.
func (s *Keeper) patcherOf(hr *helmv2.HelmRelease, given GivenChart) Patcher {
	if s.StandIns == nil || given.Chart.Annotation(simulate.Label) == "" {
		return s.renderer
	}
	return s.StandIns.PatcherFor(toolkit.ReleaseID(hr.Namespace, hr.Name))
}
