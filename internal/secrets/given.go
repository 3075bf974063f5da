package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	generators "github.com/headgate-dev/headgate/api/externalsecrets/generators/v1alpha1"
	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/api/externalsecrets/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/rounds"
	"github.com/headgate-dev/headgate/internal/secrets/store"
	"github.com/headgate-dev/headgate/internal/secrets/store/file"
)

// watched is a store whose changes are followed.
type watched struct {
	// of is the state of the object by which it was opened, empty once that has ended; seen counts its changes.
	of   string
	seen int
	stop context.CancelFunc
	// began is when it was opened, ended how often in a row that ended soon.
	began time.Time
	ended int
}

// localSection begins the names of stores in a local file.
const localSection = "stores/"

// local is the store that the local file has instead of a store, which is there under NAMESPACE/NAME or under NAME. It is nil where the file
// has neither.
func (p *part) local(ctx context.Context, id engine.UnitID) (store.Client, error) {
	if p.options.Local == nil {
		return nil, nil
	}
	names := []string{id.Name}
	if id.Namespace != "" {
		names = []string{id.Namespace + "/" + id.Name, id.Name}
	}
	for _, name := range names {
		p.mu.Lock()
		client := p.locals[name]
		p.mu.Unlock()
		if client == nil {
			var err error
			client, err = file.New(file.Config{Path: p.options.Local.Path, Section: localSection + name, Keys: p.options.Local.Keys, Clear: true})
			if err != nil {
				return nil, err
			}
			p.mu.Lock()
			p.locals[name] = client
			p.mu.Unlock()
		}
		err := client.Check(ctx)
		switch {
		case err == nil:
			return client, nil
		case !errors.Is(err, file.ErrNoSection):
			return nil, err
		}
	}
	return nil, nil
}

// give notes that a store has answered: where a simulation makes stand-ins, what reads it is served from now on.
func (p *part) give(id engine.UnitID) {
	p.mu.Lock()
	before := p.given[id]
	p.given[id] = true
	p.mu.Unlock()
	if !before {
		p.wakeUsers(id)
	}
}

// isGiven reports whether a store has answered.
func (p *part) isGiven(id engine.UnitID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given[id]
}

// alone are the kinds of generators that ask no one, or may be of such a kind: a simulation does not stand in for these.
var alone = []string{generators.PasswordKind, generators.UUIDKind, generators.ClusterGeneratorKind}

// left reports whether an ExternalSecret is left to a simulation: a store of it has not answered, or a generator is not
// one of those that ask no one.
func (p *part) left(es *esv1.ExternalSecret) bool {
	if p.Substitutes == nil {
		return false
	}
	for _, from := range es.Spec.DataFrom {
		if from.SourceRef != nil && from.SourceRef.GeneratorRef != nil && !slices.Contains(alone, from.SourceRef.GeneratorRef.Kind) {
			return true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ref := range storesOf(es) {
		if ref.Name != "" && !p.given[storeID(es.Namespace, ref)] {
			return true
		}
	}
	return false
}

// Yields reports whether an object is left to a simulation: kinds that are not served, stores that have not answered, and what reads these.
func (p *part) Yields(id engine.ObjectID) bool {
	if p.Substitutes == nil || !p.options.Told || id.Group != esv1.GroupVersion.Group && id.Group != generators.GroupVersion.Group {
		return false
	}
	unit := engine.UnitID{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	switch id.Kind {
	case esv1.ExternalSecretKind:
		es, there := p.externals.Get(unit)
		return there && p.left(es)
	case esv1.SecretStoreKind, esv1.ClusterSecretStoreKind:
		return !p.isGiven(unit)
	case esv1.ClusterExternalSecretKind:
		return false
	case v1alpha1.PushSecretKind:
		ps, there := p.pushes.Get(unit)
		if !there {
			return false
		}
		stores, err := p.targets(unit, ps)
		return err == nil && slices.ContainsFunc(stores, func(s standing) bool { return !p.isGiven(s.id) })
	}
	return true
}

// watch follows the changes of a store that can report them, until the object of the store changes or goes. It closes the client at its end, or
// returns false.
func (p *part) watch(s standing, client store.Client) bool {
	watcher, can := client.(store.Watcher)
	if !can {
		return false
	}
	of := fmt.Sprint(s.uid, s.generation)
	p.mu.Lock()
	defer p.mu.Unlock()
	before, there := p.watched[s.id]
	if there && before.of == of || p.ctx == nil {
		return false
	}
	if there {
		before.stop()
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.watched[s.id] = watched{of: of, seen: before.seen, stop: stop, began: time.Now(), ended: before.ended}
	p.Guard.Go("watch of "+s.id.String(), func() {
		err := watcher.Watch(ctx, func() { p.moved(s.id) })
		if ctx.Err() == nil {
			p.Log.Info("the changes of a store are no longer seen", "store", s.id.String(), "error", fmt.Sprint(err))
			p.loop.WakeAt(s.id, time.Now().Add(p.over(s.id, of)))
		}
		_ = client.Close()
	})
	return true
}

// over notes that a store is not followed any more, and returns how long to wait before it is again.
func (p *part) over(id engine.UnitID, of string) time.Duration {
	again := rounds.Backoff{Min: time.Second, Max: 5 * time.Minute}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.watched[id]
	if now.of != of {
		return 0
	}
	now.of = ""
	if now.ended++; time.Since(now.began) >= again.Max {
		now.ended = 1
	}
	p.watched[id] = now
	return again.After(now.ended)
}

// moved notes that a store has changed, and wakes what reads it.
func (p *part) moved(id engine.UnitID) {
	p.mu.Lock()
	if now, there := p.watched[id]; there {
		now.seen++
		p.watched[id] = now
	}
	p.mu.Unlock()
	p.wakeUsers(id)
}

// unwatch ends following a store that is gone.
func (p *part) unwatch(id engine.UnitID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now, there := p.watched[id]; there {
		now.stop()
		delete(p.watched, id)
	}
}

// seen is how often a store has changed.
func (p *part) seen(id engine.UnitID) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watched[id].seen
}
