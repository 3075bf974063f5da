// Package dialects is the one list of the dialects that Headgate has. Whatever serves, renders or shows objects takes it
// from here, and knows dialects by their port alone.
package dialects

import (
	"os"
	"slices"

	"github.com/headgate-dev/headgate/internal/argo"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/builds"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/jq"
	"github.com/headgate-dev/headgate/internal/promote"
	"github.com/headgate-dev/headgate/internal/provision"
	"github.com/headgate-dev/headgate/internal/sandbox"
	"github.com/headgate-dev/headgate/internal/secrets"
	"github.com/headgate-dev/headgate/internal/virtual"
	"github.com/headgate-dev/headgate/internal/workflow"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/execute/process"
)

// Jobs are what dialects have done in the sandbox.
func Jobs() []sandbox.Job {
	return slices.Concat(flux.Jobs(), helm.Jobs(), manifests.Jobs(), workflow.Jobs(), secrets.Jobs(), promote.Jobs(), jq.Jobs())
}

// Child makes this process what a dialect has started it as, such as the keeper of a step of a workflow or the wrapper in a pod, and returns its exit code at its end.
func Child() (code int, is bool) {
	if code, is := wrapper.Serve(os.Args); is {
		return code, true
	}
	return process.Serve()
}

// Options are what a person says of how dialects are served.
type Options struct {
	Flux      flux.Options
	Argo      argo.Options
	Workflow  workflow.Options
	Provision provision.Options
	Virtual   virtual.Options
	Secrets   secrets.Options
	Promote   promote.Options
}

// With is the catalogue of dialects that are served by what a person said.
func With(o Options) dialect.Catalogue {
	return dialect.Catalogue{flux.New(o.Flux), argo.New(o.Argo), workflow.New(o.Workflow), provision.New(o.Provision), builds.New(), virtual.New(o.Virtual), secrets.New(o.Secrets), promote.New(o.Promote)}
}

// All is the catalogue by which everything is as by default, or as the environment says.
func All() dialect.Catalogue {
	return With(Options{Argo: argo.Options{GPG: os.Getenv("ARGOCD_GPG_ENABLED")}})
}
