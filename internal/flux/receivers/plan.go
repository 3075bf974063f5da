package receivers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	imagev1 "github.com/fluxcd/image-reflector-controller/api/v1"
	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/health"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// anyName stands for all objects of a kind that have some labels.
const anyName = "*"

// receivableGroups are the groups of the kinds that a Receiver may name without one.
var receivableGroups = map[string]string{
	sourcev1.BucketKind: sourcev1.GroupVersion.Group, sourcev1.GitRepositoryKind: sourcev1.GroupVersion.Group,
	sourcev1.OCIRepositoryKind: sourcev1.GroupVersion.Group, sourcev1.HelmRepositoryKind: sourcev1.GroupVersion.Group,
	sourcev1.HelmChartKind: sourcev1.GroupVersion.Group, sourcev1.ExternalArtifactKind: sourcev1.GroupVersion.Group,
	toolkit.KustomizationKind.Kind: toolkit.KustomizationKind.Group, helmv2.HelmReleaseKind: helmv2.GroupVersion.Group,
	swapi.ArtifactGeneratorKind: swapi.GroupVersion.Group,
	imagev1.ImageRepositoryKind: imagev1.GroupVersion.Group, imagev1.ImagePolicyKind: imagev1.GroupVersion.Group,
	autov1.ImageUpdateAutomationKind: autov1.GroupVersion.Group,
	fluxcdv1.FluxInstanceKind:        fluxcdv1.GroupVersion.Group, fluxcdv1.ResourceSetKind: fluxcdv1.GroupVersion.Group,
	fluxcdv1.ResourceSetInputProviderKind: fluxcdv1.GroupVersion.Group,
}

// receiverPlan is what a generation of a Receiver declares.
type receiverPlan struct {
	uid        types.UID
	generation int64
	invalid    engine.Invalid
	targets    []receiverTarget
	// filtered is set when what is sent matters beyond who sends it.
	filtered bool
	// foreign are the targets of other namespaces, for tenants that may have none.
	foreign string
}

// receiverTarget names one object, or all of a kind with some labels.
type receiverTarget struct {
	kind            schema.GroupVersionKind
	namespace, name string
	labels          string
	// filters have all to hold of an object and of what was sent.
	filters []*health.Expr
}

func (t receiverTarget) String() string { return t.kind.Kind + "/" + t.namespace + "/" + t.name }

// planReceiver reads the declaration of a Receiver.
func planReceiver(o *notifyv1.Receiver) receiverPlan {
	p := receiverPlan{uid: o.UID, generation: o.Generation}
	p.invalid = toolkit.FirstInvalid(
		engine.Invalid{Reason: engine.ReasonUnsupported, Message: unsupportedReceiver(o)},
		engine.Invalid{Reason: engine.Reason(notifyv1.ValidationFailedReason), Message: malformedReceiver(o)},
	)
	if p.invalid.Message != "" {
		return p
	}
	whole, err := filterOf("spec.resourceFilter", o.Spec.ResourceFilter)
	if err != nil {
		p.invalid = engine.Invalid{Reason: engine.Reason(meta.InvalidCELExpressionReason), Message: err.Error()}
		return p
	}
	var foreign []string
	for i, ref := range o.Spec.Resources {
		t := receiverTarget{
			kind:      schema.FromAPIVersionAndKind(cmp.Or(ref.APIVersion, receivableGroups[ref.Kind]+"/"), ref.Kind),
			namespace: cmp.Or(ref.Namespace, o.Namespace), name: ref.Name,
			labels: labels.SelectorFromSet(ref.MatchLabels).String(),
		}
		own, err := filterOf(fmt.Sprintf("spec.resources[%d].filter", i), ref.Filter)
		if err != nil {
			p.invalid = engine.Invalid{Reason: engine.Reason(meta.InvalidCELExpressionReason), Message: err.Error()}
			return p
		}
		t.filters = slices.DeleteFunc([]*health.Expr{whole, own}, func(e *health.Expr) bool { return e == nil })
		p.filtered = p.filtered || len(t.filters) > 0
		if t.namespace != o.Namespace {
			foreign = append(foreign, fmt.Sprintf("spec.resources[%d]: %s is in another namespace", i, t))
		}
		p.targets = append(p.targets, t)
	}
	p.foreign = strings.Join(foreign, "; ")
	return p
}

// denied is what a policy has against a Receiver.
func deniedReceiver(t policies.Policy, p receiverPlan) engine.Invalid {
	if !t.NoCrossNamespaceRefs || p.foreign == "" {
		return engine.Invalid{}
	}
	return engine.Invalid{Reason: engine.ReasonAccessDenied, Message: p.foreign + "; references across namespaces are blocked on this cluster"}
}

// unsupportedReceiver names what a Receiver asks for that is not served.
func unsupportedReceiver(o *notifyv1.Receiver) string {
	if served := webhook.Types(); !slices.Contains(served, o.Spec.Type) {
		return fmt.Sprintf("spec.type: receivers of type %q are not supported; use one of %s", o.Spec.Type, strings.Join(served, ", "))
	}
	return ""
}

// malformedReceiver names what does not go together in a Receiver.
func malformedReceiver(o *notifyv1.Receiver) string {
	if o.Spec.SecretRef == nil {
		return "spec.secretRef: required for the token"
	}
	for i, ref := range o.Spec.Resources {
		field := fmt.Sprintf("spec.resources[%d]", i)
		switch {
		case ref.Name == anyName && len(ref.MatchLabels) == 0:
			return field + `.matchLabels: required with name "*"`
		case ref.Name != anyName && len(ref.MatchLabels) > 0:
			return field + `.matchLabels: requires name "*"`
		case ref.APIVersion == "" && receivableGroups[ref.Kind] == "":
			return fmt.Sprintf("%s.apiVersion: required for kind %s", field, ref.Kind)
		}
		if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil {
			return field + ".apiVersion: " + err.Error()
		}
	}
	return ""
}

// filterOf compiles an expression over res, an object, and req, what was sent; nil when there is none.
func filterOf(field, text string) (*health.Expr, error) {
	if text == "" {
		return nil, nil
	}
	compiled, err := health.Compile(text, "res", "req")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return compiled, nil
}
