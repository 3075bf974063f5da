// Package settings reads the settings of an Argo CD installation: its ConfigMaps, its Secrets of repositories and
// clusters, or the values of the chart that makes them. It takes objects and returns values.
//
// What is known upstream and not supported here is collected by its name, and so is what is unknown, so that
// nothing is ignored in silence.
package settings

import (
	"cmp"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The names of the ConfigMaps that are read, and of the one Secret that is known by its name.
const (
	ConfigName       = "argocd-cm"
	ParamsName       = "argocd-cmd-params-cm"
	RBACName         = "argocd-rbac-cm"
	KnownHostsName   = "argocd-ssh-known-hosts-cm"
	CertificatesName = "argocd-tls-certs-cm"
	KeysName         = "argocd-gpg-keys-cm"
	SecretName       = "argocd-secret"
)

// Objects are what is read, all of one namespace. Others among them are passed over.
type Objects struct {
	ConfigMaps []corev1.ConfigMap
	Secrets    []corev1.Secret
	// Unserved is what the creator of the objects already knows to be unsupported.
	Unserved []Unserved
}

// Settings are those of one installation.
type Settings struct {
	// Tracking says how objects are known to belong to an Application.
	Tracking Tracking
	// Resources are the kinds that are watched.
	Resources Filter
	// Customizations are changes for kinds, by "group/Kind", or "Kind" for those of the core, both with patterns.
	Customizations map[string]Customization
	// Compare says how objects are compared with their source.
	Compare Compare
	// IgnoreUpdates has the rules of the customizations for updates hold.
	IgnoreUpdates bool
	// RespectRBAC is "", "normal" or "strict": kinds that may not be listed are left out.
	RespectRBAC string
	// Reconciliation is when sources are polled.
	Reconciliation Reconciliation
	Kustomize      Kustomize
	Helm           Helm
	// Jsonnet is false where files of Jsonnet are not evaluated.
	Jsonnet bool
	// InCluster permits the cluster of the installation as a destination.
	InCluster bool
	// Impersonation has objects applied as the accounts that the AppProjects name.
	Impersonation Impersonation
	// GlobalProjects are AppProjects that hold for others too.
	GlobalProjects []GlobalProject
	// Webhook says how a webhook wakes Applications.
	Webhook Webhook
	// Namespaces are patterns of further namespaces in which Applications may be.
	Namespaces  []string
	Controller  Controller
	Fetching    Fetching
	AppSets     ApplicationSets
	Credentials Credentials
	// KnownHosts are lines as OpenSSH has them.
	KnownHosts string
	// Certificates are PEM blocks by the names of hosts.
	Certificates map[string]string
	// Keys are armored OpenPGP keys by their identities.
	Keys     map[string]string
	Clusters []Cluster
	// Unserved is what is known upstream and not acted on.
	Unserved []Unserved
	// Unknown is what is unknown; it is misspelled, or of another version.
	Unknown []Unserved
}

// Tracking says how objects are known to belong to an Application.
type Tracking struct {
	Method         TrackingMethod
	LabelKey       string
	InstallationID string
}

// TrackingMethod is by what objects are known.
type TrackingMethod string

// The methods.
const (
	TrackAnnotation         TrackingMethod = "annotation"
	TrackLabel              TrackingMethod = "label"
	TrackAnnotationAndLabel TrackingMethod = "annotation+label"
)

// Compare says how objects are compared with their source.
type Compare struct {
	// ServerSide asks the API server what an apply would do.
	ServerSide bool
	// IgnoreAggregatedRoles leaves out the rules of roles that are made of others.
	IgnoreAggregatedRoles bool
	// IgnoreStatus is of which kinds the status is left out.
	IgnoreStatus IgnoreStatus
	// IgnoreDifferencesOnUpdates lets changes of ignored fields wake nothing.
	IgnoreDifferencesOnUpdates bool
}

// IgnoreStatus is of which kinds the status is left out of comparisons.
type IgnoreStatus string

// The kinds.
const (
	IgnoreStatusOfAll         IgnoreStatus = "all"
	IgnoreStatusOfDefinitions IgnoreStatus = "crd"
	IgnoreStatusOfNone        IgnoreStatus = "none"
)

// Reconciliation is when sources are polled; zero is never.
type Reconciliation struct{ Every, Jitter, Hard time.Duration }

// Kustomize says how kustomizations are built.
type Kustomize struct {
	Enabled      bool
	BuildOptions string
	// Versions are further builds of Kustomize that an Application may name.
	Versions map[string]KustomizeVersion
}

// KustomizeVersion is a build of Kustomize.
type KustomizeVersion struct{ Path, BuildOptions string }

// Helm says how charts are rendered.
type Helm struct {
	Enabled bool
	// ValuesFileSchemes are those of the URLs from which files of values are taken.
	ValuesFileSchemes []string
}

// Impersonation has objects applied as other accounts.
type Impersonation struct {
	Enabled bool
	// Enforced refuses destinations for which no account is named.
	Enforced bool
}

// GlobalProject is an AppProject that holds for others too.
type GlobalProject struct {
	ProjectName   string               `json:"projectName"`
	LabelSelector metav1.LabelSelector `json:"labelSelector"`
}

// Webhook says how a webhook wakes Applications.
type Webhook struct {
	Jitter time.Duration
	// JitterThreshold is for how many Applications there is none.
	JitterThreshold int64
	MaxPayloadMB    int64
	// Secrets are those by which forges are verified, by their keys without "webhook." before them.
	Secrets map[string]Secret
}

// Controller are parameters of the application controller.
type Controller struct {
	// SyncTimeout ends an operation; zero does not.
	SyncTimeout time.Duration
	SelfHeal    SelfHeal
	// PersistHealth has the health of each object in the status of the Application.
	PersistHealth bool
	// SourceErrorGrace is how long a source may fail before that is shown.
	SourceErrorGrace time.Duration
	// RenderTimeout is how long a source may take to be built.
	RenderTimeout time.Duration
}

// SelfHeal is the wait between two corrections of drift.
type SelfHeal struct {
	// Fixed takes the place of the others unless it is zero.
	Fixed        time.Duration
	Initial, Cap time.Duration
	Factor       int64
}

// Fetching are parameters of the repository server.
type Fetching struct {
	GitSubmodules bool
	GitTimeout    time.Duration
	// HiddenDirectories has generators see directories that begin with a dot.
	HiddenDirectories bool
	// OutOfBoundsSymlinks permits links that lead out of a repository.
	OutOfBoundsSymlinks bool
}

// ApplicationSets are parameters of the controller of ApplicationSets.
type ApplicationSets struct {
	// Policy is "" or what takes the place of the one in an ApplicationSet.
	Policy         string
	PolicyOverride bool
	Progressive    bool
	// NewGlobbing has "**" in patterns of files mean directories.
	NewGlobbing bool
	// DryRun writes nothing.
	DryRun  bool
	Requeue time.Duration
	// Namespaces are patterns of further namespaces in which ApplicationSets may be.
	Namespaces []string
	// SCMProviders permits generators that ask forges, AllowedSCMProviders are the forges; none means all.
	SCMProviders        bool
	AllowedSCMProviders []string
	// StrictTokens has only Secrets with the label of their type serve as tokens of generators.
	StrictTokens         bool
	PreservedAnnotations []string
	PreservedLabels      []string
	GitSubmodules        bool
	MaxResources         int64
}

// Concern is whom a setting is for.
type Concern string

// The concerns.
const (
	// ConcernEngine is for what is applied, and how.
	ConcernEngine Concern = "engine"
	// ConcernServer is for the API server, its UI, logins and permissions of people.
	ConcernServer Concern = "server"
	// ConcernProcess is for how the processes of the installation run, of which there are none here.
	ConcernProcess Concern = "process"
)

// Unserved is a setting that is not acted on.
type Unserved struct {
	// Object is its kind and its name.
	Object  string
	Key     string
	Concern Concern
}

// Defaults are the settings of an installation that says nothing.
func Defaults() Settings {
	return Settings{
		Tracking:       Tracking{Method: TrackAnnotation, LabelKey: "app.kubernetes.io/instance"},
		Customizations: map[string]Customization{},
		Compare:        Compare{IgnoreStatus: IgnoreStatusOfAll, IgnoreDifferencesOnUpdates: true},
		IgnoreUpdates:  true,
		Reconciliation: Reconciliation{Every: 2 * time.Minute, Jitter: time.Minute},
		Kustomize:      Kustomize{Enabled: true, Versions: map[string]KustomizeVersion{}},
		Helm:           Helm{Enabled: true, ValuesFileSchemes: []string{"https", "http"}},
		Jsonnet:        true,
		InCluster:      true,
		Impersonation:  Impersonation{Enforced: true},
		Webhook:        Webhook{JitterThreshold: 10, MaxPayloadMB: 50, Secrets: map[string]Secret{}},
		Controller: Controller{
			SelfHeal:         SelfHeal{Initial: 2 * time.Second, Cap: 5 * time.Minute, Factor: 3},
			SourceErrorGrace: 3 * time.Minute, RenderTimeout: time.Minute,
		},
		Fetching:     Fetching{GitSubmodules: true, GitTimeout: 15 * time.Second},
		AppSets:      ApplicationSets{Requeue: 3 * time.Minute, SCMProviders: true, GitSubmodules: true, MaxResources: 5000},
		Certificates: map[string]string{},
		Keys:         map[string]string{},
	}
}

// Read reads objects. The error joins a Problem for each value that is bad; what is said beside them holds, and in
// their place the defaults.
func Read(objects Objects) (Settings, error) {
	s := Defaults()
	s.Unserved = slices.Clone(objects.Unserved)
	problems := &problems{}
	for i := range objects.ConfigMaps {
		m := &objects.ConfigMaps[i]
		r := newReader(&s, "ConfigMap "+m.Name, m.Data, problems)
		switch m.Name {
		case ConfigName:
			r.config()
		case ParamsName:
			r.params()
		case RBACName:
			r.unserved(ConcernServer)
		case KnownHostsName:
			r.knownHosts()
		case CertificatesName:
			r.certificates()
		case KeysName:
			r.keys()
		}
	}
	secrets := slices.Clone(objects.Secrets)
	slices.SortStableFunc(secrets, func(a, b corev1.Secret) int { return cmp.Compare(a.Name, b.Name) })
	for i := range secrets {
		s.secret(&secrets[i], problems)
	}
	s.Credentials.duplicates(problems)
	return s, errors.Join(problems.all...)
}
