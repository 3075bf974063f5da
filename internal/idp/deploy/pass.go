package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/idp"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Begin applies what comes first to a cluster: the packages that it has already, and those of the first wave. An engine that is started after
// that knows of them from its first moment.
func (d *Deployer) Begin(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	d.client, d.applied = client, map[string]string{}
	if d.declared, err = d.existing(ctx); err != nil {
		return err
	}
	if err := d.login(ctx); err != nil {
		return err
	}
	d.pass(ctx)
	d.mu.Lock()
	d.begun = true
	d.mu.Unlock()
	return nil
}

// times of Run: how often it polls while waves are held back or something is wrong, and how long changes are gathered.
const (
	poll     = 250 * time.Millisecond
	recheck  = time.Second
	debounce = 80 * time.Millisecond
	patience = time.Second
)

// Run deploys what changes until ctx ends. The states of units say when the next wave comes.
func (d *Deployer) Run(ctx context.Context, states func(context.Context) []runner.State) {
	w := newWatch()
	defer w.close()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	due := time.NewTimer(0)
	defer due.Stop()
	var first, last time.Time
	pass := func() {
		first, last = time.Time{}, time.Now()
		if err := d.cfg.Guard.Call("the packages", func() error {
			result := d.pass(ctx)
			if w.follow(result, d.inputs) {
				// What was saved before a directory was watched is found by one more pass.
				due.Reset(debounce)
			}
			return nil
		}); err != nil {
			d.cfg.Problem("package", err.Error())
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.changes():
			if first.IsZero() {
				first = time.Now()
			}
			due.Reset(max(0, min(debounce, patience-time.Since(first))))
		case <-due.C:
			pass()
		case <-ticker.C:
			if time.Since(last) > recheck && (w.lost() || len(d.Problems()) > 0) {
				pass()
			}
			if d.held() {
				d.advance(ctx, states(ctx))
			}
			if time.Since(d.painted) > repaint {
				if err := d.cfg.Guard.Call("the objects of idpbuilder", func() error { d.paint(ctx); return nil }); err != nil {
					d.cfg.Problem("package", err.Error())
				}
			}
		}
	}
}

// held reports whether waves are held back.
func (d *Deployer) held() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waits
}

// advance applies the next wave, once it may come.
func (d *Deployer) advance(ctx context.Context, states []runner.State) {
	d.mu.Lock()
	known := true
	for at := range d.since {
		known = known && slices.ContainsFunc(states, func(s runner.State) bool { return keyOf(s.Unit) == at })
	}
	d.mu.Unlock()
	result := d.read(ctx)
	next, more := d.next(result)
	if more && d.gate.advance(next, states, known, time.Now()) {
		d.pass(ctx)
	}
}

// next is the lowest wave that is held back.
func (d *Deployer) next(result idp.Result) (int, bool) {
	for _, p := range result.Packages {
		if _, exists := d.declared[p.Key()]; len(p.Problems) == 0 && !exists && !d.gate.permits(p.Wave) {
			return p.Wave, true
		}
	}
	return 0, false
}

// pass brings repositories and cluster to what the files say.
func (d *Deployer) pass(ctx context.Context) idp.Result {
	result := d.read(ctx)
	d.show(ctx, &result)
	for _, p := range result.Packages {
		if len(p.Problems) == 0 {
			d.gate.begin(p.Wave, time.Now())
			break
		}
	}
	for _, p := range result.Packages {
		if len(p.Problems) > 0 {
			continue
		}
		if err := d.apply(ctx, p); err != nil {
			result.Problems = append(result.Problems, idp.Problem{Argument: p.Input.Argument, File: p.File, Err: err})
		}
	}
	d.remove(ctx, &result)
	if ctx.Err() != nil {
		return result
	}
	d.name(&result)
	d.report(result)
	_, more := d.next(result)
	d.mu.Lock()
	d.waits = more
	d.mu.Unlock()
	d.last = result
	d.paint(ctx)
	return result
}

// apply applies a package, unless that is done, or its wave is held back.
func (d *Deployer) apply(ctx context.Context, p idp.Package) error {
	key := p.Key()
	_, exists := d.declared[key]
	if !exists && !d.gate.permits(p.Wave) {
		return nil
	}
	o := rendered(p)
	dropped := d.schemas.drop(o)
	text, err := o.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encoding the object: %w", err)
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	if d.applied[key] == digest {
		return nil
	}
	if err := d.put(ctx, o); err != nil {
		return err
	}
	if !exists {
		d.mu.Lock()
		d.since[key] = time.Now()
		d.mu.Unlock()
	}
	if len(dropped) > 0 {
		d.cfg.Note("package", fmt.Sprintf("%s: %s/%s: unknown fields are left out, as idpbuilder does: %s", origin(p), o.GetKind(), o.GetName(), strings.Join(dropped, ", ")))
	}
	said := "applied"
	if exists && d.applied[key] != "" {
		said = "changed"
	}
	d.applied[key] = digest
	p.File = origin(p)
	d.declared[key] = p
	d.cfg.Note("package", fmt.Sprintf("%s/%s %s, from %s", o.GetKind(), o.GetName(), said, p.File))
	return nil
}

// unread reports whether a file of a remote package, which has no place that stays, cannot be read: it may be that of an earlier package.
func unread(result idp.Result, earlier idp.Package) bool {
	if earlier.File != earlier.Input.Argument {
		return false
	}
	return slices.ContainsFunc(result.Problems, func(p idp.Problem) bool { return p.Object == "" && p.Argument == earlier.Input.Argument }) ||
		slices.ContainsFunc(result.Strays, func(s idp.Stray) bool { return s.Err != nil && s.Argument == earlier.Input.Argument })
}

// remove withdraws packages whose files, or objects in them, are gone. Those of arguments that are not given any more stay.
func (d *Deployer) remove(ctx context.Context, result *idp.Result) {
	for _, key := range slices.Sorted(maps.Keys(d.declared)) {
		p := d.declared[key]
		given := slices.ContainsFunc(d.inputs, func(i idp.Input) bool { return i.Argument == p.Input.Argument })
		if !given || result.Holds(p) || unread(*result, p) {
			continue
		}
		if err := d.withdraw(ctx, p); err != nil {
			result.Problems = append(result.Problems, idp.Problem{Argument: p.Input.Argument, File: p.File, Err: err})
			continue
		}
		delete(d.declared, key)
		delete(d.applied, key)
		d.mu.Lock()
		delete(d.since, key)
		d.mu.Unlock()
		d.cfg.Note("package", fmt.Sprintf("%s/%s withdrawn: %s does not declare it any more", p.Object.GetKind(), p.Object.GetName(), p.File))
	}
}
