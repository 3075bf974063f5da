package helm

import (
	"time"

	"helm.sh/helm/v4/pkg/action"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// ServerSideApply says how an action writes objects.
type ServerSideApply string

// The ways to write. The zero value is Enabled for an install and Auto for anything else.
const (
	// Enabled writes by server-side apply, and takes over fields that others hold.
	Enabled ServerSideApply = "enabled"
	// Disabled writes merge patches made here, as Helm 3 did.
	Disabled ServerSideApply = "disabled"
	// Auto writes as the release was written before.
	Auto ServerSideApply = "auto"
)

// Common is what installs and upgrades have in common.
type Common struct {
	// Name is the name of the release, at most 53 characters; see ReleaseName.
	Name string
	// Namespace is where the objects of the release go that name no namespace.
	Namespace string
	Chart     *Chart
	Values    Values
	// Timeout bounds each hook, and nothing else; 5 minutes when it is zero.
	Timeout time.Duration
	// DisableHooks leaves out the hooks of the action.
	DisableHooks bool
	// DisableOpenAPIValidation has Helm not check objects on this side. The API server checks them
	// all the same.
	DisableOpenAPIValidation bool
	// DisableSchemaValidation leaves values.schema.json unread.
	DisableSchemaValidation bool
	// DisableTakeOwnership fails when an object exists that no release, or another one, holds.
	DisableTakeOwnership bool
	CRDs                 CRDPolicy
	ServerSideApply      ServerSideApply
	PostRender           PostRender
	// EnableDNS lets templates look up names.
	EnableDNS bool
	// Sandbox is where templates and schemas are evaluated; in this process without it.
	Sandbox *sandbox.Client
	// Egress is where schemas may be that the one of the chart refers to: anywhere by default.
	Egress egress.Rules
}

// InstallOptions say how a release is installed.
type InstallOptions struct {
	Common
	// Replace installs over a release that was uninstalled with its history kept, or that failed.
	Replace bool
	// CreateNamespace creates Namespace when it is not there.
	CreateNamespace bool
}

// UpgradeOptions say how a release is upgraded.
type UpgradeOptions struct {
	Common
	// Force deletes and creates objects that cannot be changed; it does nothing with server-side
	// apply.
	Force bool
	// PreserveValues keeps values of the release that are not given.
	PreserveValues bool
	// CleanupOnFail deletes what a failed upgrade created.
	CleanupOnFail bool
	// MaxHistory is how many revisions are kept; zero keeps all.
	MaxHistory int
}

// RollbackOptions say how a release goes back to an earlier revision.
type RollbackOptions struct {
	Name, Namespace string
	// Version is the revision; zero is the one before the last.
	Version         int
	Timeout         time.Duration
	DisableHooks    bool
	Force           bool
	CleanupOnFail   bool
	MaxHistory      int
	ServerSideApply ServerSideApply
}

// UninstallOptions say how a release is uninstalled.
type UninstallOptions struct {
	Name, Namespace string
	// Timeout bounds each hook, and the wait for deletion.
	Timeout      time.Duration
	DisableHooks bool
	// KeepHistory leaves the record in the storage, as uninstalled.
	KeepHistory bool
	// DeletionPropagation is background (the default), foreground or orphan.
	DeletionPropagation string
	// Wait waits until the objects are gone.
	Wait bool
}

// TestOptions say how a release is tested.
type TestOptions struct {
	Name, Namespace string
	// Timeout bounds each test.
	Timeout time.Duration
	// Filters choose tests by name; all run when there are none.
	Filters []TestFilter
}

// TestFilter chooses one test, or all but one.
type TestFilter struct {
	Name    string
	Exclude bool
}

// filters are in the form that Helm reads.
func filters(of []TestFilter) map[string][]string {
	out := map[string][]string{}
	for _, f := range of {
		key := action.IncludeNameFilter
		if f.Exclude {
			key = action.ExcludeNameFilter
		}
		out[key] = append(out[key], f.Name)
	}
	return out
}

// resolve reports whether server-side apply is used on a release that was last written by a method.
func (s ServerSideApply) resolve(method string) bool {
	if s == Auto || s == "" {
		return method == "ssa"
	}
	return s == Enabled
}
