package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// appSyncOptions are what a sync of Applications has beside that of others.
type appSyncOptions struct {
	revision                     string
	prune, dryRun, replace, wait bool
	outOfSyncOnly                bool
	refresh, hard                bool
	resources                    []string
}

func (o *appSyncOptions) bind(f *pflag.FlagSet) {
	f.StringVar(&o.revision, "revision", "", "Application: sync to this revision, the newest of what it declares by default")
	f.BoolVar(&o.prune, "prune", false, "Application: delete what is no longer declared")
	f.BoolVar(&o.dryRun, "dry-run", false, "Application: print what a sync would do, and change nothing")
	f.BoolVar(&o.replace, "replace", false, "Application: replace objects instead of applying them")
	f.BoolVar(&o.outOfSyncOnly, "apply-out-of-sync-only", false, "Application: apply only what differs")
	f.StringArrayVar(&o.resources, "resource", nil, "Application: sync only this object: GROUP:KIND:[NAMESPACE/]NAME (repeatable)")
	f.BoolVar(&o.wait, "wait", false, "Application: also wait until it is synced and healthy")
	f.BoolVar(&o.refresh, "refresh", false, "Application: fetch and compare, but do not sync")
	f.BoolVar(&o.hard, "hard-refresh", false, "Application: discard the render cache before the comparison")
}

// given names the first option that is set; empty when none is.
func (o *appSyncOptions) given() string {
	for name, set := range map[string]bool{
		"--revision": o.revision != "", "--prune": o.prune, "--dry-run": o.dryRun, "--replace": o.replace, "--wait": o.wait,
		"--apply-out-of-sync-only": o.outOfSyncOnly, "--refresh": o.refresh, "--hard-refresh": o.hard, "--resource": len(o.resources) > 0,
	} {
		if set {
			return name
		}
	}
	return ""
}

// operation is the requested sync. The token distinguishes it from every other one.
func (o syncOptions) operation(app *v1alpha1.Application, token string) (*v1alpha1.Operation, error) {
	sync := &v1alpha1.SyncOperation{Revision: o.app.revision, Prune: o.app.prune, DryRun: o.app.dryRun}
	for _, text := range o.app.resources {
		one, err := parseResource(text)
		if err != nil {
			return nil, err
		}
		sync.Resources = append(sync.Resources, one)
	}
	if o.force {
		sync.SyncStrategy = &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}
	}
	var more []string
	if o.app.replace {
		more = append(more, "Replace=true")
	}
	if o.app.outOfSyncOnly {
		more = append(more, "ApplyOutOfSyncOnly=true")
	}
	if len(more) > 0 {
		// Options of an operation replace those of the Application.
		if app.Spec.SyncPolicy != nil {
			more = slices.Concat(app.Spec.SyncPolicy.SyncOptions, more)
		}
		sync.SyncOptions = more
	}
	if n := len(app.Spec.Sources); n > 0 && o.app.revision != "" {
		return nil, hint(fmt.Errorf("--revision: %s has %d sources", app.Name, n), "headgate rollback app %s -n %s", app.Name, app.Namespace)
	}
	return requested(sync, token), nil
}

// requestName is the line of an operation that tells whose it is.
const requestName = "headgate.dev/request"

func requested(sync *v1alpha1.SyncOperation, token string) *v1alpha1.Operation {
	name := "headgate"
	if who, err := user.Current(); err == nil && who.Username != "" {
		name = who.Username
	}
	return &v1alpha1.Operation{
		Sync: sync, InitiatedBy: v1alpha1.OperationInitiator{Username: name}, Info: []v1alpha1.Info{{Name: requestName, Value: token}},
	}
}

// parseResource reads GROUP:KIND:[NAMESPACE/]NAME.
func parseResource(text string) (v1alpha1.SyncOperationResource, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return v1alpha1.SyncOperationResource{}, hint(fmt.Errorf("--resource %q: want GROUP:KIND:NAME or GROUP:KIND:NAMESPACE/NAME", text),
			"headgate sync app NAME --resource apps:Deployment:web")
	}
	one := v1alpha1.SyncOperationResource{Group: parts[0], Kind: parts[1], Name: parts[2]}
	if namespace, name, both := strings.Cut(parts[2], "/"); both {
		one.Namespace, one.Name = namespace, name
	}
	return one, nil
}

// applications are the requested Applications; none if the command is about something else.
func (o syncOptions) applications() bool {
	first, _, _ := strings.Cut(o.args[0], "/")
	kind, err := o.findKind(first)
	return err == nil && kind.groupKind() == applicationKind && (o.all || len(o.args) > 1 || strings.Contains(o.args[0], "/"))
}

// runAppSync syncs Applications, all at the same time.
func runAppSync(ctx context.Context, o syncOptions, client dynamic.Interface) error {
	if o.reset || o.dependents {
		return hint(errors.New("--reset and --dependents do not apply to Applications"), "headgate sync app NAME")
	}
	refs, err := o.targets(ctx, client)
	if err != nil {
		return err
	}
	f := &appFollower{io: o.io, client: client, reached: make([]bool, len(refs))}
	group, ctx := errgroup.WithContext(ctx)
	for i, ref := range refs {
		group.Go(func() error { return f.sync(ctx, o, ref, &f.reached[i]) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if slices.Contains(f.reached, false) {
		return errNo
	}
	return nil
}

// sync syncs one Application: it has it fetched and compared, asks for the sync, and follows that to its end.
func (f *appFollower) sync(ctx context.Context, o syncOptions, ref reference, reached *bool) error {
	u, err := ref.get(ctx, f.client)
	if err != nil {
		return err
	}
	if err := mayOperate(u, ref); err != nil {
		return err
	}
	if o.source || o.app.refresh || o.app.hard {
		if u, err = f.refresh(ctx, ref, o.app.hard); err != nil {
			return err
		}
	}
	if o.app.refresh {
		status, _, message := appReadiness(u)
		*reached = status == "True"
		return f.say(*reached, "%s is %s and %s: %s", ref, orWord(text(u, "status", "sync", "status"), "Unknown"),
			orWord(text(u, "status", "health", "status"), "Unknown"), oneLine(message))
	}
	app, err := applicationOf(u)
	if err != nil {
		return err
	}
	op, err := o.operation(app, newToken())
	if err != nil {
		return err
	}
	*reached, err = f.operate(ctx, ref, op, nil, o.app.wait)
	return err
}

// newToken is a token that no other request has.
func newToken() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// mayOperate refuses to ask for a sync where none would begin.
func mayOperate(u *unstructured.Unstructured, ref reference) error {
	app, err := applicationOf(u)
	switch {
	case err != nil:
		return err
	case u.GetDeletionTimestamp() != nil:
		return hint(fmt.Errorf("%s is being deleted", ref), "headgate why app/%s -n %s", ref.name, ref.namespace)
	case suspended(u):
		return hint(fmt.Errorf("%s is suspended", ref), "headgate resume app/%s -n %s", ref.name, ref.namespace)
	case app.Operation != nil || !over(app):
		message := "requested"
		if state := app.Status.OperationState; state != nil && !over(app) {
			message = oneLine(state.Message)
		}
		return hint(fmt.Errorf("%s: another sync is running: %s", ref, message), "headgate terminate app %s -n %s", ref.name, ref.namespace)
	}
	return nil
}
