package alerts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/fluxcd/pkg/apis/acl"

	notifyv1beta3 "github.com/fluxcd/notification-controller/api/v1beta3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/notify"
	"github.com/headgate-dev/headgate/internal/patterns"
	"github.com/headgate-dev/headgate/internal/rounds"
)

func alertID(namespace, name string) engine.UnitID {
	return engine.UnitID{Group: toolkit.Notification.Name, Kind: notifyv1beta3.AlertKind, Namespace: namespace, Name: name}
}

func (n *Keeper) putAlert(u *unstructured.Unstructured) {
	if _, err := n.alerts.Put(u); err != nil {
		n.unreadable(err)
		return
	}
	n.Reindex()
}

func (n *Keeper) dropAlert(u *unstructured.Unstructured) {
	id := alertID(u.GetNamespace(), u.GetName())
	n.alerts.Drop(id)
	n.forget(id)
	n.Reindex()
}

// Reindex computes again which Alerts concern what, and checks everything that may be wrong now.
func (n *Keeper) Reindex() {
	n.mu.RLock()
	listed := n.listed
	n.mu.RUnlock()
	if !listed {
		return
	}
	index := map[objectsOf][]*notify.Alert{}
	for _, a := range n.alerts.All() {
		n.desk.Wake(alertID(a.Namespace, a.Name))
		compiled, err := compileAlert(a)
		if err != nil || a.Spec.Suspend {
			continue
		}
		p, there := n.providers.Get(notifierID(compiled.Provider.Namespace, compiled.Provider.Name))
		if !there || p.Spec.Suspend || !notify.Serves(p.Spec.Type) {
			continue
		}
		compiled.Kind, compiled.Forge = p.Spec.Type, notify.Forge(p.Spec.Type)
		entered := map[objectsOf]bool{}
		for _, s := range compiled.Sources {
			key := objectsOf{s.Kind, s.Namespace}
			if !entered[key] {
				index[key] = append(index[key], compiled)
			}
			entered[key] = true
		}
	}
	n.mu.Lock()
	n.index = index
	n.mu.Unlock()
}

// compileAlert reads an Alert; an error names the field.
func compileAlert(a *notifyv1beta3.Alert) (*notify.Alert, error) {
	spec := a.Spec
	out := &notify.Alert{
		Ref:      notify.Ref{Namespace: a.Namespace, Name: a.Name},
		Provider: notify.Ref{Namespace: a.Namespace, Name: spec.ProviderRef.Name},
		Severity: cmp.Or(spec.EventSeverity, notify.SeverityInfo), Metadata: spec.EventMetadata, Summary: spec.Summary,
	}
	if spec.ProviderRef.Name == "" {
		return nil, errors.New("spec.providerRef.name: empty")
	}
	if len(spec.EventSources) == 0 {
		return nil, errors.New("spec.eventSources: empty, so nothing would be sent")
	}
	for _, s := range spec.EventSources {
		out.Sources = append(out.Sources, notify.Source{
			Kind: s.Kind, Namespace: cmp.Or(s.Namespace, a.Namespace), Name: s.Name, MatchLabels: s.MatchLabels,
		})
	}
	var err error
	if out.Include, err = compiled("spec.inclusionList", spec.InclusionList); err != nil {
		return nil, err
	}
	out.Exclude, err = compiled("spec.exclusionList", spec.ExclusionList)
	return out, err
}

func compiled(field string, texts []string) ([]*regexp.Regexp, error) {
	var list []*regexp.Regexp
	for i, text := range texts {
		r, err := patterns.Regexp(text)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", field, i, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// Pass checks an Alert or a Provider, and reports its problem.
func (n *Keeper) Pass(ctx context.Context, id engine.UnitID) rounds.Next {
	if id.Kind == notifyv1beta3.AlertKind {
		return n.examineAlert(id)
	}
	return rounds.Done(n.examineProvider(ctx, id))
}

// youth is how long an Alert is let be whose Provider is not there.
const youth = 10 * time.Second

func young(a *notifyv1beta3.Alert) bool { return time.Since(a.CreationTimestamp.Time) < youth }

func (n *Keeper) examineAlert(id engine.UnitID) rounds.Next {
	a, there := n.alerts.Get(id)
	if !there {
		return rounds.Rest()
	}
	if a.Spec.Suspend {
		n.say(a, id, "", "")
		return rounds.Rest()
	}
	if _, err := compileAlert(a); err != nil {
		n.say(a, id, reasonInvalidConfig, err.Error())
		return rounds.Rest()
	}
	_, there = n.providers.Get(notifierID(a.Namespace, a.Spec.ProviderRef.Name))
	switch {
	case there:
	case young(a):
		// Objects of one commit come in no order.
		return rounds.After(youth)
	default:
		n.say(a, id, reasonInvalidConfig, fmt.Sprintf(
			"spec.providerRef: Provider %q does not exist", a.Namespace+"/"+a.Spec.ProviderRef.Name))
		return rounds.Rest()
	}
	if n.policies.Now().NoCrossNamespaceRefs {
		for i, s := range a.Spec.EventSources {
			if s.Namespace != "" && s.Namespace != a.Namespace {
				n.say(a, id, acl.AccessDeniedReason, fmt.Sprintf(
					"spec.eventSources[%d].namespace: can't process events of namespace %q, cross-namespace references have been blocked", i, s.Namespace))
				return rounds.Rest()
			}
		}
	}
	n.say(a, id, "", "")
	return rounds.Rest()
}
