// Package policies holds what applies to every Kustomization of a cluster: what the engine was started with, made stricter by what
// FluxInstances ask for.
//
// It does not enforce anything: each room asks for the policy that holds when it declares something.
package policies

import (
	"cmp"
	"sync"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/render"
)

// Effective is what applies to a cluster: what the engine was started with, made stricter by what is requested
// on the cluster. It is safe for concurrent use.
type Effective struct {
	base Policy
	// Changed is called when the policy has changed.
	Changed func()

	mu    sync.RWMutex
	asked map[engine.UnitID]Policy
}

// New returns what holds when nothing was requested yet.
func New(base Policy) *Effective {
	return &Effective{base: base, Changed: func() {}, asked: map[engine.UnitID]Policy{}}
}

// Now is what holds.
func (p *Effective) Now() Policy {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.base
	for _, more := range p.asked {
		all = all.With(more)
	}
	return all
}

// With is a policy made stricter; what it names itself stays.
func (t Policy) With(more Policy) Policy {
	t.NoCrossNamespaceRefs = t.NoCrossNamespaceRefs || more.NoCrossNamespaceRefs
	t.NoRemoteBases = t.NoRemoteBases || more.NoRemoteBases
	t.DefaultServiceAccount = cmp.Or(t.DefaultServiceAccount, more.DefaultServiceAccount)
	t.LaxSubstitution = t.LaxSubstitution || more.LaxSubstitution
	t.AgeSecret = cmp.Or(t.AgeSecret, more.AgeSecret)
	return t
}

// Ask enters what an object asks for; nothing when it is gone. Objects of the namespace of the root alone
// are the operator's.
func (p *Effective) Ask(id engine.UnitID, asked Policy) {
	if id.Namespace != toolkit.Namespace {
		return
	}
	before := p.Now()
	p.mu.Lock()
	delete(p.asked, id)
	if asked != (Policy{}) {
		p.asked[id] = asked
	}
	p.mu.Unlock()
	if p.Now() != before {
		p.Changed()
	}
}

// Policy is what holds for every Kustomization of a cluster.
type Policy struct {
	// DefaultServiceAccount is the account of Kustomizations that name none, in their namespace. The
	// root is the operator's own and has none by default.
	DefaultServiceAccount string
	// NoCrossNamespaceRefs refuses sources of other namespaces.
	NoCrossNamespaceRefs bool
	// NoRemoteBases refuses kustomizations that refer to something outside their source.
	NoRemoteBases bool
	// AgeSecret, when not empty, is a Secret in the namespace of the root whose keys serve every
	// Kustomization that decrypts, beside those of its own Secret.
	AgeSecret string
	// LaxSubstitution makes a variable empty that is not defined and has no default.
	LaxSubstitution bool
	// Content, when set, has stand-ins made of what a unit cannot read.
	Content *StandInContent
}

// StandInContent has stand-ins made of what units cannot read.
type StandInContent struct {
	// LeaveOut returns what has a unit do without what is not in its source, nil when nothing does.
	LeaveOut func(engine.UnitID) func(what, entry string)
	// Marks returns what makes stand-ins of the values that a unit cannot decrypt, nil when nothing does.
	Marks func(engine.UnitID) func(key string) string
	// Variables stand for those that no one defines; nil leaves that an error.
	Variables variables
}

// variables give what stands for the variables that a unit needs and no one defines, nil when nothing does.
type variables interface {
	Lacking(engine.UnitID) render.Lacking
}
