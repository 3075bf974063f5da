package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// History is that of the syncs of an Application, and to what it is pinned.
func (Verbs) History(u *unstructured.Unstructured) (entries []dialect.Entry, note string, err error) {
	app, err := applicationOf(u)
	if err != nil {
		return nil, "", err
	}
	for i := range app.Status.History {
		h := &app.Status.History[i]
		by := cmp.Or(h.InitiatedBy.Username, "-")
		if h.InitiatedBy.Automated {
			by = "automated"
		}
		entries = append(entries, dialect.Entry{
			ID: strconv.FormatInt(h.ID, 10), Date: h.DeployedAt.UTC().Format(time.RFC3339), Revision: revisionsOf(h), By: by,
		})
	}
	if pin := app.Annotations[AnnotationPin]; pin != "" {
		note = "pinned to " + pin
	}
	return entries, note, nil
}

func revisionsOf(h *v1alpha1.RevisionHistory) string {
	if len(h.Revisions) > 0 {
		return strings.Join(h.Revisions, ",")
	}
	return h.Revision
}

// Unpin is the change that ends a pin.
func (Verbs) Unpin() map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{AnnotationPin: nil}}}
}

// Rollback pins an Application to an entry of its history, and syncs it to that.
func (Verbs) Rollback(ctx context.Context, s dialect.Session, u *unstructured.Unstructured, o dialect.RollbackOptions) (reached bool, err error) {
	if err := mayOperate(u); err != nil {
		return false, err
	}
	app, err := applicationOf(u)
	if err != nil {
		return false, err
	}
	entry, err := entryOf(app, o.ID)
	if err != nil {
		return false, err
	}
	sync := &v1alpha1.SyncOperation{Prune: o.Prune, Revision: entry.Revision, Revisions: entry.Revisions, Sources: entry.Sources}
	if len(entry.Sources) == 0 {
		sync.Source = entry.Source
		if sync.Source == nil {
			sync.Source = policy.SourceOf(app.Spec)
		}
	}
	var annotations map[string]any
	if o.Hold > 0 {
		until := time.Now().Add(o.Hold).UTC().Format(time.RFC3339)
		if err := s.Say(true, fmt.Sprintf("%s is pinned to %s until %s", idOf(u), revisionsOf(entry), until)); err != nil {
			return false, err
		}
		annotations = map[string]any{AnnotationPin: revisionsOf(entry) + " until " + until}
	}
	op := requested(sync, newToken())
	op.Info = append(op.Info, v1alpha1.Info{Name: v1alpha1.ReasonInfo, Value: fmt.Sprintf("initiated rollback to %d", entry.ID)})
	return operate(ctx, s, idOf(u), op, annotations, false)
}

// entry is the one of the history that is gone back to.
func entryOf(app *v1alpha1.Application, id string) (*v1alpha1.RevisionHistory, error) {
	history, name := app.Status.History, "Application/"+app.Namespace+"/"+app.Name
	if id == "" {
		if len(history) < 2 {
			return nil, hint(fmt.Errorf("%s has no previous sync", name), "headgate history app %s -n %s", app.Name, app.Namespace)
		}
		return &history[len(history)-2], nil
	}
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, hint(fmt.Errorf("%q is not an ID of the history", id), "headgate history app %s -n %s", app.Name, app.Namespace)
	}
	at := slices.IndexFunc(history, func(h v1alpha1.RevisionHistory) bool { return h.ID == number })
	if at < 0 {
		return nil, hint(fmt.Errorf("the history of %s has no entry %d", name, number), "headgate history app %s -n %s", app.Name, app.Namespace)
	}
	return &history[at], nil
}
