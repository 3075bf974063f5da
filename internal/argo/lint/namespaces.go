package lint

import (
	"cmp"
	"fmt"

	"github.com/headgate-dev/headgate/internal/engine"
)

// maker is what makes a namespace: an object of an Application, or its sync before anything else.
type maker struct {
	app         *App
	phase, wave int
	// first is set when it comes before all objects.
	first bool
}

// namespaces finds objects whose namespace is made by nothing but what comes after them.
func (c *checker) namespaces() []Finding {
	makers := map[engine.ObjectID][]maker{}
	for _, a := range c.order {
		if a.Namespace.Name != "" {
			makers[a.Namespace] = append(makers[a.Namespace], maker{app: a, first: true})
		}
		for _, o := range a.Objects {
			if o.ID.Kind == "Namespace" && o.ID.Group == "" && o.Phase >= 0 {
				makers[o.ID] = append(makers[o.ID], maker{app: a, phase: o.Phase, wave: o.Wave})
			}
		}
	}
	var all []Finding
	for _, a := range c.order {
		told := map[engine.ObjectID]bool{}
		for _, o := range a.Objects {
			if o.Needs.Name == "" || o.Phase < 0 || told[o.Needs] || len(makers[o.Needs]) == 0 {
				continue
			}
			if text, own := c.tooLate(a, o, makers[o.Needs]); text != "" {
				told[o.Needs] = true
				all = append(all, Finding{Never: own, Perhaps: !own, Text: text, App: a.ID, About: o.ID})
			}
		}
	}
	return all
}

// tooLate reports whether all who make the namespace of an object come after it, in its own sync alone or in others; empty when one does not.
func (c *checker) tooLate(a *App, o Object, makers []maker) (text string, own bool) {
	own = true
	for _, m := range makers {
		if m.app == a {
			if m.first || cmp.Or(cmp.Compare(m.phase, o.Phase), cmp.Compare(m.wave, o.Wave)) <= 0 {
				return "", false
			}
			text = fmt.Sprintf("%s, in %s, needs %s, which comes later in the same sync; move the namespace to an earlier wave, or create it with the sync option CreateNamespace=true",
				o.ID, a.ID, o.Needs)
			continue
		}
		overA, overM, found := c.fork(a, m.app)
		if !found || overA.Wave >= overM.Wave {
			return "", false
		}
		own = false
		text = fmt.Sprintf("%s, in %s, needs %s of %s, which comes later: %s; the sync continues without waiting for that, which Argo CD may not; move the namespace to an earlier wave, or %s to a later one",
			o.ID, a.ID, o.Needs, m.app.ID, waves(overA, overM), a.ID)
	}
	return text, own
}
