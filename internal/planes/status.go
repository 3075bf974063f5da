package planes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Status is how a plane stands.
type Status struct {
	Name  string   `json:"name"`
	State State    `json:"state"`
	Users []string `json:"users,omitempty"`
	// Since is when it came to that state.
	Since time.Time `json:"since"`
	// Restarts counts how often it died since its first user came, Error is its last failure.
	Restarts int    `json:"restarts,omitempty"`
	Error    string `json:"error,omitempty"`
	// Memory is what it added to the memory in use by this process, in bytes; 0 until it was measured.
	Memory uint64 `json:"memory,omitempty"`
	// Kubeconfig is the path of the administrator's kubeconfig, also that of a plane that has stopped.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// ledgerName is the file in which a Pool writes the statuses of its planes, for commands.
const ledgerName = "planes.json"

type ledger struct {
	dir  string
	last []byte
}

// Status lists the planes that run, by name.
func (p *Pool) Status() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.statuses()
}

func (p *Pool) statuses() []Status {
	all := make([]Status, 0, len(p.planes))
	for _, m := range p.planes {
		s := Status{
			Name: m.name, State: m.state, Users: m.names(), Since: m.since, Restarts: m.restarts, Memory: p.meter.of(m.name),
			Kubeconfig: filepath.Join(p.Dir(m.name), "kubeconfig"),
		}
		if m.err != nil {
			s.Error = m.err.Error()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// record writes the statuses down. The caller holds the mutex. A status that cannot be written costs a line in a command, and
// nothing else.
func (p *Pool) record() {
	text, err := json.Marshal(p.statuses())
	if err != nil || string(text) == string(p.ledger.last) {
		return
	}
	if err := p.ledger.write(text); err != nil {
		p.cfg.Log.V(1).Info("the statuses of control planes were not written", "error", err.Error())
		return
	}
	p.ledger.last = text
}

func (l *ledger) write(text []byte) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	next := filepath.Join(l.dir, "."+ledgerName)
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(l.dir, ledgerName))
}

// Read lists the planes whose state is in dir, by name: as the Pool that runs wrote them down, and as stopped if running is
// false or no Pool wrote of them. There are none where there is no directory.
func Read(dir string, running bool) ([]Status, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the control planes: %w", err)
	}
	var known []Status
	if text, err := os.ReadFile(filepath.Join(dir, ledgerName)); err == nil && running {
		if err := json.Unmarshal(text, &known); err != nil {
			return nil, fmt.Errorf("reading %q: %w", filepath.Join(dir, ledgerName), err)
		}
	}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || strings.HasPrefix(name, ".") || slices.ContainsFunc(known, func(s Status) bool { return s.Name == name }) {
			continue
		}
		known = append(known, Status{Name: name, State: Stopped, Kubeconfig: filepath.Join(dir, name, "kubeconfig")})
	}
	slices.SortFunc(known, func(a, b Status) int { return strings.Compare(a.Name, b.Name) })
	return known, nil
}

// ErrUsed is the answer of Delete for a plane that has users.
var ErrUsed = errors.New("it has users")

// Delete deletes the state of a plane for good, and stops it first if it outlives its users. It fails with ErrUsed while
// there are any; that there is no such plane is no error.
func (p *Pool) Delete(ctx context.Context, name string) error {
	if err := valid(name); err != nil {
		return err
	}
	p.mu.Lock()
	m := p.planes[name]
	if m != nil {
		if users := m.names(); len(users) > 0 {
			p.mu.Unlock()
			return fmt.Errorf("deleting control plane %q: %w: %s", name, ErrUsed, strings.Join(users, ", "))
		}
		m.hurried = true
		p.tell(m)
	}
	p.mu.Unlock()
	if m != nil {
		select {
		case <-m.ended:
		case <-ctx.Done():
			return fmt.Errorf("deleting control plane %q: %w", name, context.Cause(ctx))
		}
	}
	gone, err := p.discard(name)
	if err == nil {
		err = os.RemoveAll(gone)
	}
	if err != nil {
		return fmt.Errorf("deleting control plane %q: %w", name, err)
	}
	return nil
}

// discard renames the directory of a plane that does not run, so that a new one of its name begins with nothing.
func (p *Pool) discard(name string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, again := p.planes[name]; again {
		return "", ErrUsed
	}
	gone := filepath.Join(p.cfg.Dir, "."+name+".deleted")
	if err := os.RemoveAll(gone); err != nil {
		return "", err
	}
	err := os.Rename(p.Dir(name), gone)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return gone, nil
}

// Close stops all planes, also those in use, and deletes the state of an ephemeral Pool. It returns once they have stopped,
// or ctx has ended.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for _, m := range p.planes {
		p.tell(m)
	}
	p.mu.Unlock()
	p.cancel()
	stopped := make(chan struct{})
	p.cfg.Guard.Go("the end of control planes", func() {
		p.running.Wait()
		close(stopped)
	})
	select {
	case <-stopped:
	case <-ctx.Done():
		return fmt.Errorf("stopping control planes: %w", context.Cause(ctx))
	}
	if !p.cfg.Ephemeral {
		return nil
	}
	if err := os.RemoveAll(p.cfg.Dir); err != nil {
		return fmt.Errorf("deleting ephemeral control planes: %w", err)
	}
	return nil
}
