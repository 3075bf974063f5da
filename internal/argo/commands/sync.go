package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// Syncs reports whether a kind is that of Applications.
func (Verbs) Syncs(gk schema.GroupKind) bool { return gk == applicationKind }

// Sync syncs an Application: it has it fetched and compared, requests the sync, and follows that to its end.
func (Verbs) Sync(ctx context.Context, s dialect.Session, u *unstructured.Unstructured, o dialect.SyncOptions) (reached bool, err error) {
	if u, err = overtake(ctx, s, u); err != nil {
		return false, err
	}
	if err := mayOperate(u); err != nil {
		return false, err
	}
	if o.Compare || o.Only || o.Hard {
		if u, err = refresh(ctx, s, idOf(u), o.Hard); err != nil {
			return false, err
		}
	}
	if o.Only {
		status, _, message := readiness(u)
		return status == "True", s.Say(status == "True", fmt.Sprintf("%s is %s and %s: %s", idOf(u),
			cmp.Or(dialect.Text(u, "status", "sync", "status"), "Unknown"), cmp.Or(dialect.Text(u, "status", "health", "status"), "Unknown"), oneLine(message)))
	}
	app, err := applicationOf(u)
	if err != nil {
		return false, err
	}
	op, err := operationOf(o, app, newToken())
	if err != nil {
		return false, err
	}
	return operate(ctx, s, idOf(u), op, nil, o.Wait)
}

// operation is the requested sync. The token distinguishes it from every other one.
func operationOf(o dialect.SyncOptions, app *v1alpha1.Application, token string) (*v1alpha1.Operation, error) {
	sync := &v1alpha1.SyncOperation{Revision: o.Revision, Prune: o.Prune, DryRun: o.DryRun}
	for _, text := range o.Resources {
		one, err := parseResource(text)
		if err != nil {
			return nil, err
		}
		sync.Resources = append(sync.Resources, one)
	}
	if o.Force {
		sync.SyncStrategy = &v1alpha1.SyncStrategy{Hook: &v1alpha1.SyncStrategyHook{Force: true}}
	}
	var more []string
	if o.Replace {
		more = append(more, "Replace=true")
	}
	if o.Selected {
		more = append(more, "ApplyOutOfSyncOnly=true")
	}
	if len(more) > 0 {
		// Options of an operation replace those of the Application.
		if app.Spec.SyncPolicy != nil {
			more = slices.Concat(app.Spec.SyncPolicy.SyncOptions, more)
		}
		sync.SyncOptions = more
	}
	if n := len(app.Spec.Sources); n > 0 && o.Revision != "" {
		return nil, hint(fmt.Errorf("--revision: %s has %d sources", app.Name, n), "headgate rollback app %s -n %s", app.Name, app.Namespace)
	}
	return requested(sync, token), nil
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
