package promote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/receive"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/tokens"
	"github.com/headgate-dev/headgate/internal/webhook"
)

// receiverKey is a receiver of a Project.
type receiverKey struct{ project, name string }

// receivers are the hooks that Projects have open, by their paths. They are safe for concurrent use.
type receivers struct {
	mu    sync.RWMutex
	hooks map[string]openHook
}

type openHook struct {
	webhook.Hook

	key receiverKey
}

func (r *receivers) find(path string) (webhook.Hook, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, open := r.hooks[path]
	return h.Hook, open
}

// set has a Project have these hooks and no others, and returns those receivers that it has no more.
func (r *receivers) set(project string, hooks map[string]openHook, keep map[receiverKey]bool) []receiverKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	var gone []receiverKey
	for path, h := range r.hooks {
		if h.key.project != project {
			continue
		}
		delete(r.hooks, path)
		if !keep[h.key] {
			gone = append(gone, h.key)
		}
	}
	for path, h := range hooks {
		r.hooks[path] = h
	}
	return gone
}

// HookPath implements dialect.Hooked.
func (*part) HookPath() string { return receive.Root }

// Hooks implements dialect.Hooked.
func (p *part) Hooks() http.Handler { return p.hooks }

// config has the receivers of a Project listen, and says where.
func (p *part) config(ctx context.Context, id engine.UnitID) rounds.Next {
	c, there := p.configs.Get(id)
	if !there || c.DeletionTimestamp != nil {
		p.forget(p.receivers.set(id.Namespace, nil, nil))
		return rounds.Rest()
	}
	after := c.Status.DeepCopy()
	after.ObservedGeneration, after.LastHandledRefresh = c.Generation, c.Annotations[v1alpha1.RefreshAnnotation]
	after.WebhookReceivers = nil
	hooks, keep := map[string]openHook{}, map[receiverKey]bool{}
	var paths []string
	var problems error
	for i, declared := range c.Spec.WebhookReceivers {
		field := fmt.Sprintf("spec.webhookReceivers[%d]", i)
		r, err := receive.Of(declared)
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("%s (%s): %w", field, declared.Name, err))
			continue
		}
		key := receiverKey{c.Namespace, declared.Name}
		keep[key] = true
		token, missing := p.tokens.Value(key, tokens.Ref{Namespace: c.Namespace, Name: r.Secret, Key: r.Key, Field: field + ".secretRef"})
		if token == "" {
			// Without a reason it is unknown yet, and this pass is made again when it is.
			if missing != "" {
				problems = errors.Join(problems, errors.New(missing))
			}
			continue
		}
		path := r.Path(c.Namespace, token)
		paths = append(paths, path)
		after.WebhookReceivers = append(after.WebhookReceivers, v1alpha1.WebhookReceiverDetails{Name: declared.Name, Path: path})
		hooks[path] = openHook{key: key, Hook: webhook.Hook{
			Name: c.Namespace + "/" + declared.Name, Type: r.Sender, Token: token,
			Deliver: func(_ context.Context, d webhook.Delivery) error { return p.deliver(c.Namespace, r, d, paths) },
		}}
	}
	p.forget(p.receivers.set(c.Namespace, hooks, keep))
	condition := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Synced", Message: "ProjectConfig is synced and ready for use", ObservedGeneration: c.Generation,
	}
	if problems != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "SyncWebhookReceiversFailed", redaction.Text(problems.Error())
	}
	meta.SetStatusCondition(&after.Conditions, condition)
	if err := p.configs.State(ctx, p.writer(configKind()), c, c.Status, *after); err != nil {
		return rounds.Retry(err)
	}
	return rounds.Rest()
}

func (p *part) forget(gone []receiverKey) {
	for _, key := range gone {
		p.tokens.Forget(key)
	}
}

// deliver has the Warehouses of a Project searched that a verified request is about.
func (p *part) deliver(project string, r receive.Receiver, d webhook.Delivery, paths []string) error {
	pushed, err := r.Read(d)
	if err != nil {
		return err
	}
	var own []*v1alpha1.Warehouse
	for _, w := range p.warehouses.All() {
		if w.Namespace == project {
			own = append(own, w)
		}
	}
	selected, err := r.Selects(d, own, paths, time.Now())
	if err != nil {
		p.Problem("ProjectConfig "+project, redaction.Text(err.Error()))
		return err
	}
	for _, w := range own {
		if slices.Contains(selected, w) || slices.ContainsFunc(w.Spec.Subscriptions, pushed.Matches) {
			p.loop.Wake(idOf(v1alpha1.WarehouseKind, w.Namespace, w.Name))
		}
	}
	return nil
}
