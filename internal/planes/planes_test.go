package planes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// house starts planes that are directories and channels; the tests of control planes run real ones in a Pool.
type house struct {
	mu      sync.Mutex
	starts  map[string]int
	running map[string]*run
	// fail has the next start of a plane fail.
	fail map[string]error
}

type run struct {
	dir  string
	done chan error
	once sync.Once
}

func (r *run) RESTConfig() *rest.Config { return &rest.Config{Host: r.dir} }
func (r *run) Kubeconfig() string       { return filepath.Join(r.dir, "kubeconfig") }
func (r *run) Done() <-chan error       { return r.done }
func (r *run) Stop(context.Context) error {
	r.once.Do(func() { close(r.done) })
	return nil
}

func (h *house) start(_ context.Context, name, dir string) (Running, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starts[name]++
	if err := h.fail[name]; err != nil {
		delete(h.fail, name)
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &run{dir: dir, done: make(chan error, 1)}
	h.running[name] = r
	return r, nil
}

func (h *house) started(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.starts[name]
}

func (h *house) kill(name string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[name].done <- err
}

func pool(t *testing.T, change func(*Config)) (*Pool, *house) {
	t.Helper()
	h := &house{starts: map[string]int{}, running: map[string]*run{}, fail: map[string]error{}}
	cfg := Config{Dir: filepath.Join(t.TempDir(), "planes"), Start: h.start}
	if change != nil {
		change(&cfg)
	}
	p := NewPool(t.Context(), cfg)
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return p, h
}

func acquire(t *testing.T, p *Pool, name, user string) (*Plane, func()) {
	t.Helper()
	plane, release, err := p.Acquire(t.Context(), name, user)
	if err != nil {
		t.Fatal(err)
	}
	return plane, release
}

func TestOnePlaneForItsUsers(t *testing.T) {
	p, h := pool(t, func(c *Config) { c.Linger = -1 })
	one, releaseOne := acquire(t, p, "dev", "a")
	two, releaseTwo := acquire(t, p, "dev", "b")
	if one != two || h.started("dev") != 1 {
		t.Fatalf("two users got two planes, after %d starts", h.started("dev"))
	}
	if s := p.Status(); len(s) != 1 || s[0].State != Ready || !slices.Equal(s[0].Users, []string{"a", "b"}) {
		t.Errorf("status %+v", s)
	}
	releaseOne()
	releaseOne()
	select {
	case <-one.Done():
		t.Fatal("the plane ended while it had a user")
	default:
	}
	releaseTwo()
	<-two.Done()
	if err := two.Err(); err != nil {
		t.Errorf("a plane that was stopped has error %v", err)
	}
	again, _ := acquire(t, p, "dev", "a")
	if again == one || h.started("dev") != 2 {
		t.Errorf("a plane that had stopped was not started again: %d starts", h.started("dev"))
	}
}

func TestDeathOfOnePlane(t *testing.T) {
	p, h := pool(t, nil)
	dev, _ := acquire(t, p, "dev", "a")
	staging, _ := acquire(t, p, "staging", "a")
	died := errors.New("etcd: no space left on device")
	h.kill("dev", died)
	<-dev.Done()
	if !errors.Is(dev.Err(), died) {
		t.Errorf("the plane died of %v", dev.Err())
	}
	again, _ := acquire(t, p, "dev", "a")
	if again == dev || h.started("dev") != 2 || h.started("staging") != 1 {
		t.Errorf("started dev %d times and staging %d times", h.started("dev"), h.started("staging"))
	}
	select {
	case <-staging.Done():
		t.Error("the neighbour ended, too")
	default:
	}
	s := p.Status()[0]
	if s.Restarts != 1 || s.Error != died.Error() || s.State != Ready {
		t.Errorf("status %+v", s)
	}
	read, err := Read(p.cfg.Dir, true)
	if err != nil || len(read) != 2 || read[0].Error != died.Error() || read[1].Name != "staging" {
		t.Errorf("read %+v: %v", read, err)
	}
}

func TestFailedStart(t *testing.T) {
	p, h := pool(t, nil)
	h.fail["dev"] = errors.New("no port is free")
	if _, _, err := p.Acquire(t.Context(), "dev", "a"); err == nil || err.Error() != `control plane "dev": no port is free` {
		t.Fatalf("got %v", err)
	}
	if _, release := acquire(t, p, "dev", "a"); h.started("dev") != 2 {
		t.Errorf("%d starts", h.started("dev"))
	} else {
		release()
	}
}

func TestDelete(t *testing.T) {
	p, _ := pool(t, nil)
	plane, release := acquire(t, p, "dev", "a")
	if err := os.WriteFile(plane.Kubeconfig(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(t.Context(), "dev"); !errors.Is(err, ErrUsed) {
		t.Fatalf("deleted a plane that is in use: %v", err)
	}
	release()
	if err := p.Delete(t.Context(), "dev"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(plane.Kubeconfig()); !os.IsNotExist(err) {
		t.Errorf("its state is left: %v", err)
	}
	if err := p.Delete(t.Context(), "never"); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	p, h := pool(t, func(c *Config) { c.Most = 1 })
	for _, name := range []string{"", "..", "a/b", "A", ".x"} {
		if _, _, err := p.Acquire(t.Context(), name, "a"); err == nil {
			t.Errorf("acquired %q", name)
		}
		if err := p.Delete(t.Context(), name); err == nil {
			t.Errorf("deleted %q", name)
		}
	}
	acquire(t, p, "dev", "a")
	if _, _, err := p.Acquire(t.Context(), "staging", "a"); !errors.Is(err, ErrTooMany) || h.started("staging") != 0 {
		t.Errorf("one plane too many: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Acquire(t.Context(), "dev", "a"); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed pool started a plane: %v", err)
	}
	read, err := Read(p.cfg.Dir, false)
	if err != nil || len(read) != 1 || read[0].State != Stopped {
		t.Errorf("after the end: %+v, %v", read, err)
	}
}

func TestEphemeral(t *testing.T) {
	p, _ := pool(t, func(c *Config) { c.Ephemeral, c.Linger = true, -1 })
	plane, release := acquire(t, p, "dev", "a")
	if err := os.WriteFile(plane.Kubeconfig(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	release()
	<-plane.Done()
	if _, err := os.Stat(plane.Kubeconfig()); err != nil {
		t.Errorf("the state went with the last user: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.cfg.Dir); !os.IsNotExist(err) {
		t.Errorf("the state is left: %v", err)
	}
}
