package flux

import (
	"cmp"
	"sync"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
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
	// content, when set, has stand-ins made of what a unit cannot read.
	content *standInContent
}

// standInContent has stand-ins made of what units cannot read.
type standInContent struct {
	// leaveOut returns what has a unit do without what is not in its source, nil when nothing does.
	leaveOut func(engine.UnitID) func(what, entry string)
	// marks returns what makes stand-ins of the values that a unit cannot decrypt, nil when nothing does.
	marks func(engine.UnitID) func(key string) string
	// variables stand for those that nobody defines; nil leaves that an error.
	variables variables
}

// variables give what stands for the variables that a unit needs and nobody defines, nil when nothing does.
type variables interface {
	lacking(engine.UnitID) render.Lacking
}
