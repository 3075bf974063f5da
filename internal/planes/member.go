package planes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// State is what a plane is about.
type State string

// The states of a plane.
const (
	Starting   State = "Starting"
	Ready      State = "Ready"
	Restarting State = "Restarting"
	Stopping   State = "Stopping"
	Stopped    State = "Stopped"
)

// member is a plane of a Pool from its first user until it has stopped. The mutex of the Pool guards its fields.
type member struct {
	name  string
	state State
	users map[string]int
	plane *Plane
	// failures counts the starts that failed, err is the last one or the last death, restarts the starts after a death.
	failures, restarts int
	err                error
	since              time.Time
	// hurried has the plane stop without lingering.
	hurried bool
	// changed is closed and replaced at each change, wake has the goroutine evaluate its users again.
	changed chan struct{}
	wake    chan struct{}
	ended   chan struct{}
}

// join adds a user, to a member that may have to be begun.
func (p *Pool) join(name, user string) (*member, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	m := p.planes[name]
	if m == nil {
		if len(p.planes) >= p.cfg.Most {
			return nil, fmt.Errorf("control plane %q: %w: %d run, and no more may", name, ErrTooMany, len(p.planes))
		}
		m = &member{
			name: name, state: Starting, since: time.Now(), users: map[string]int{},
			changed: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		}
		p.planes[name] = m
		p.running.Add(1)
		p.cfg.Guard.Go("control plane "+name, func() {
			defer p.running.Done()
			defer close(m.ended)
			p.keep(m)
		})
	}
	m.users[user]++
	m.hurried = false
	p.tell(m)
	return m, nil
}

func (p *Pool) leave(m *member, user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.users[user]--; m.users[user] <= 0 {
		delete(m.users, user)
	}
	p.tell(m)
}

// tell has everybody evaluate a member again. The caller holds the mutex.
func (p *Pool) tell(m *member) {
	close(m.changed)
	m.changed = make(chan struct{})
	select {
	case m.wake <- struct{}{}:
	default:
	}
	p.record()
}

// await waits until a member is ready, or a start has failed that ended after the call.
func (p *Pool) await(ctx context.Context, m *member) (*Plane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := m.failures
	for {
		switch {
		case m.plane != nil && m.state == Ready:
			return m.plane, nil
		case p.closed:
			return nil, ErrClosed
		case m.failures > before:
			return nil, m.err
		}
		changed := m.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("waiting until it is ready: %w", errors.Join(context.Cause(ctx), m.err))
		}
	}
}

// keep starts a member, and again when it died, for as long as it has users.
func (p *Pool) keep(m *member) {
	delay := firstDelay
	for {
		began := time.Now()
		if err := p.live(m); err != nil {
			if time.Since(began) > longestDelay {
				delay = firstDelay
			}
			p.pause(m, delay)
			delay = min(2*delay, longestDelay)
		} else {
			delay = firstDelay
		}
		if p.end(m) {
			return
		}
	}
}

// end takes a member out that has no users, and reports whether it did.
func (p *Pool) end(m *member) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(m.users) > 0 && !p.closed {
		m.state, m.since = Starting, time.Now()
		p.tell(m)
		return false
	}
	delete(p.planes, m.name)
	m.state = Stopped
	p.tell(m)
	return true
}

// live is one run of a plane. It returns why the plane died or could not be started, and nil when it was stopped.
func (p *Pool) live(m *member) error {
	p.meter.begin(m.name)
	var running Running
	err := p.cfg.Guard.Call("control plane "+m.name, func() (err error) {
		running, err = p.start(m.name)
		return err
	})
	if err != nil {
		p.meter.stopped()
		p.mu.Lock()
		m.failures++
		p.mu.Unlock()
		p.failed(m, "did not start", err)
		return err
	}
	plane := &Plane{Name: m.name, running: running, done: make(chan struct{})}
	p.change(m, func() { m.plane, m.state, m.since = plane, Ready, time.Now() })
	p.notify("control plane %q is ready at %s", m.name, running.RESTConfig().Host)
	died := p.watch(m, running)
	p.change(m, func() {
		m.plane, m.state, m.since = nil, Stopping, time.Now()
		plane.cause = died
		close(plane.done)
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), stopTimeout)
	defer cancel()
	stopped := p.cfg.Guard.Call("control plane "+m.name, func() error { return running.Stop(ctx) })
	p.meter.stopped()
	if died != nil {
		p.mu.Lock()
		m.restarts++
		p.mu.Unlock()
		p.failed(m, "died", died)
		return died
	}
	if stopped != nil {
		p.cfg.Log.Error(stopped, "a control plane did not stop cleanly", "plane", m.name)
	}
	p.notify("control plane %q has stopped", m.name)
	return nil
}

func (p *Pool) start(name string) (Running, error) {
	if err := os.MkdirAll(p.cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of control planes: %w", err)
	}
	return p.cfg.Start(p.ctx, name, p.Dir(name))
}

// watch returns why a plane died, or nil once it is to be stopped: it was unused for long enough, or the Pool closes.
func (p *Pool) watch(m *member, running Running) error {
	calm := time.NewTimer(calmAfter)
	defer calm.Stop()
	var linger <-chan time.Time
	for {
		unused, hurried := p.unused(m)
		switch {
		case !unused:
			linger = nil
		case hurried || p.cfg.Linger == 0:
			return nil
		case linger == nil:
			linger = time.After(p.cfg.Linger)
		}
		select {
		case err, open := <-running.Done():
			if err == nil || !open {
				err = errors.New("it ended unexpectedly")
			}
			return err
		case <-m.wake:
		case <-linger:
			return nil
		case <-calm.C:
			if p.meter.settle(m.name) {
				p.change(m, func() {})
			}
		case <-p.ctx.Done():
			return nil
		}
	}
}

func (p *Pool) unused(m *member) (unused, hurried bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(m.users) == 0, m.hurried
}

// pause waits before a start, for as long as anybody wants one.
func (p *Pool) pause(m *member, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		if unused, _ := p.unused(m); unused {
			return
		}
		select {
		case <-timer.C:
			return
		case <-m.wake:
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *Pool) change(m *member, do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	p.tell(m)
}

func (p *Pool) failed(m *member, what string, err error) {
	p.change(m, func() { m.state, m.err, m.since = Restarting, err, time.Now() })
	if p.ctx.Err() != nil {
		return
	}
	p.cfg.Log.Error(err, "a control plane "+what, "plane", m.name)
	p.notify("control plane %q %s, and is started again while it has users: %v", m.name, what, err)
}

func (p *Pool) notify(format string, args ...any) {
	if p.cfg.Notify != nil {
		p.cfg.Notify(fmt.Sprintf(format, args...))
	}
}

// names are the users of a member, sorted.
func (m *member) names() []string {
	names := make([]string, 0, len(m.users))
	for name := range m.users {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
