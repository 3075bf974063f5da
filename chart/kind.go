package chart

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Kinded is implemented by Go types that know their kind, such as those that "headgate import" writes. A type of k8s.io/api or of
// Headgate's API needs no such method.
type Kinded interface {
	// KubernetesKind is the apiVersion ("kargo.akuity.io/v1alpha1"), the kind ("Stage"), and whether its objects are in a namespace.
	KubernetesKind() (apiVersion, kind string, namespaced bool)
}

// groups are the API groups of the packages of types, by their import path without the version.
var groups = map[string]string{
	"k8s.io/api/admissionregistration":                                      "admissionregistration.k8s.io",
	"k8s.io/api/apps":                                                       "apps",
	"k8s.io/api/authentication":                                             "authentication.k8s.io",
	"k8s.io/api/authorization":                                              "authorization.k8s.io",
	"k8s.io/api/autoscaling":                                                "autoscaling",
	"k8s.io/api/batch":                                                      "batch",
	"k8s.io/api/certificates":                                               "certificates.k8s.io",
	"k8s.io/api/coordination":                                               "coordination.k8s.io",
	"k8s.io/api/core":                                                       "",
	"k8s.io/api/discovery":                                                  "discovery.k8s.io",
	"k8s.io/api/events":                                                     "events.k8s.io",
	"k8s.io/api/extensions":                                                 "extensions",
	"k8s.io/api/flowcontrol":                                                "flowcontrol.apiserver.k8s.io",
	"k8s.io/api/imagepolicy":                                                "imagepolicy.k8s.io",
	"k8s.io/api/networking":                                                 "networking.k8s.io",
	"k8s.io/api/node":                                                       "node.k8s.io",
	"k8s.io/api/policy":                                                     "policy",
	"k8s.io/api/rbac":                                                       "rbac.authorization.k8s.io",
	"k8s.io/api/resource":                                                   "resource.k8s.io",
	"k8s.io/api/scheduling":                                                 "scheduling.k8s.io",
	"k8s.io/api/storage":                                                    "storage.k8s.io",
	"k8s.io/api/storagemigration":                                           "storagemigration.k8s.io",
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions":                 "apiextensions.k8s.io",
	"k8s.io/kube-aggregator/pkg/apis/apiregistration":                       "apiregistration.k8s.io",
	"github.com/headgate-dev/headgate/api/argoproj":                         "argoproj.io",
	"github.com/headgate-dev/headgate/api/argoproj/workflow":                "argoproj.io",
	"github.com/headgate-dev/headgate/api/build":                            "build.headgate.dev",
	"github.com/headgate-dev/headgate/api/externalsecrets":                  "external-secrets.io",
	"github.com/headgate-dev/headgate/api/externalsecrets/generators":       "generators.external-secrets.io",
	"github.com/headgate-dev/headgate/api/kargo":                            "kargo.akuity.io",
	"github.com/headgate-dev/headgate/api/fluxcd":                           "fluxcd.controlplane.io",
	"github.com/headgate-dev/headgate/api/crossplane/kubernetes":            "kubernetes.crossplane.io",
	"github.com/headgate-dev/headgate/api/crossplane/kubernetes/namespaced": "kubernetes.m.crossplane.io",
}

// clusterKinds are the well-known kinds without a namespace, by their group.
var clusterKinds = map[string][]string{
	"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"authentication.k8s.io":        {"SelfSubjectReview", "TokenReview"},
	"authorization.k8s.io":         {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {"PodSecurityPolicy"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},

	"argoproj.io":                    {"ClusterAnalysisTemplate", "ClusterWorkflowTemplate"},
	"cert-manager.io":                {"ClusterIssuer"},
	"external-secrets.io":            {"ClusterExternalSecret", "ClusterPushSecret", "ClusterSecretStore"},
	"gateway.networking.k8s.io":      {"GatewayClass"},
	"generators.external-secrets.io": {"ClusterGenerator"},
	"kargo.akuity.io":                {"ClusterPromotionTask", "ClusterConfig", "Project"},
	"karpenter.sh":                   {"NodeClaim", "NodePool"},
	"kubernetes.crossplane.io":       {"Object", "ProviderConfig"},
	"kyverno.io":                     {"ClusterPolicy"},
}

// kindOf is the apiVersion, the kind and the scope that a Go type has on its own; ok says that it has them.
func kindOf(value any) (apiVersion, kind string, namespaced, ok bool) {
	if kinded, is := value.(Kinded); is {
		apiVersion, kind, namespaced = kinded.KubernetesKind()
		return apiVersion, kind, namespaced, true
	}
	t := reflect.TypeOf(value)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return "", "", false, false
	}
	dir, version := path.Split(t.PkgPath())
	if _, vendored, is := strings.Cut(dir, "/vendor/"); is {
		dir = vendored
	}
	group, known := groups[strings.TrimSuffix(dir, "/")]
	if !known {
		return "", "", false, false
	}
	apiVersion = strings.TrimPrefix(group+"/"+version, "/")
	return apiVersion, t.Name(), !clusterScoped(group, t.Name()), true
}

// clusterScoped reports whether a well-known kind has no namespace.
func clusterScoped(group, kind string) bool { return slices.Contains(clusterKinds[group], kind) }

// groupOf is the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, versioned := strings.Cut(apiVersion, "/")
	if !versioned {
		return ""
	}
	return group
}

// errKind says what to do about an object without a kind.
func errKind(value any) error {
	return fmt.Errorf("the apiVersion and the kind of a %T are unknown; set both in its TypeMeta (or in the map), or give the type a method KubernetesKind() (apiVersion, kind string, namespaced bool)", value)
}
