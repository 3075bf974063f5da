package flux

import (
	"cmp"
	"sync"

	"github.com/headgate-dev/headgate/internal/engine"
)

// policies is what applies to a cluster: what the engine was started with, made stricter by what is requested
// on the cluster. It is safe for concurrent use.
type policies struct {
	base Policy
	// changed is called when the policy has changed.
	changed func()

	mu    sync.RWMutex
	asked map[engine.UnitID]Policy
}

func newPolicies(base Policy) *policies {
	return &policies{base: base, changed: func() {}, asked: map[engine.UnitID]Policy{}}
}

// now is what holds.
func (p *policies) now() Policy {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.base
	for _, more := range p.asked {
		all = all.with(more)
	}
	return all
}

// with is a policy made stricter; what it names itself stays.
func (t Policy) with(more Policy) Policy {
	t.NoCrossNamespaceRefs = t.NoCrossNamespaceRefs || more.NoCrossNamespaceRefs
	t.NoRemoteBases = t.NoRemoteBases || more.NoRemoteBases
	t.DefaultServiceAccount = cmp.Or(t.DefaultServiceAccount, more.DefaultServiceAccount)
	t.LaxSubstitution = t.LaxSubstitution || more.LaxSubstitution
	t.AgeSecret = cmp.Or(t.AgeSecret, more.AgeSecret)
	return t
}

// ask enters what an object asks for; nothing when it is gone. Objects of the namespace of the root alone
// are the operator's.
func (p *policies) ask(id engine.UnitID, asked Policy) {
	if id.Namespace != Namespace {
		return
	}
	before := p.now()
	p.mu.Lock()
	delete(p.asked, id)
	if asked != (Policy{}) {
		p.asked[id] = asked
	}
	p.mu.Unlock()
	if p.now() != before {
		p.changed()
	}
}

// redeclare hands everything over again, by the current policy.
func (e *Engine) redeclare() {
	policy := e.policies.now()
	for _, ks := range e.registry.All() {
		e.runner.Upsert(policy.declare(ks))
		e.runner.InputsChanged(unitID(ks.Namespace, ks.Name))
	}
	for _, rs := range e.sets.All() {
		e.runner.Upsert(policy.declareResourceSet(rs))
	}
	var releases []engine.UnitID
	for _, hr := range e.releases.All() {
		releases = append(releases, releaseID(hr.Namespace, hr.Name))
	}
	e.upsertReleases(releases)
	e.receivers.again()
	e.notifications.reindex()
}
