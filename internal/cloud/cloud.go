// Package cloud is a simulated account of DigitalOcean: its HTTP API in this process, to try things on and to test against.
//
// It answers as the API does, with its statuses, bodies, headers, limits and delays, for the objects that Headgate
// handles: SSH keys, tags, custom images, Droplets, their actions, reserved IPs. What takes time there proceeds by a
// Clock, which a test may hold. Faults are injected on demand, an audit log has every request, and the state outlives the
// process when there is a directory for it. It keeps files in buckets beside its API, so that one is near. It makes no machines, and refuses to know Kubernetes and who uses it.
package cloud

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/headgate-dev/headgate/internal/egress"
	"github.com/headgate-dev/headgate/internal/guard"
)

// Options are what a Cloud needs. Of a zero field the default applies.
type Options struct {
	// Dir is where the state is kept; empty keeps it in memory.
	Dir string
	// Token gives access to everything, ReadToken to reads. A random Token is made if there is none.
	Token, ReadToken string
	// Clock is Running by default.
	Clock  Clock
	Timing Timing
	Limits Limits
	// Egress is where images may be imported from: anywhere by default.
	Egress egress.Rules
}

// Cloud is a simulated account. It is an http.Handler for the API, and safe for concurrent use.
type Cloud struct {
	token, readToken string
	clock            Clock
	timing           Timing
	limits           Limits
	log              logr.Logger
	guard            guard.Guard
	api, admin       *http.ServeMux
	store            store
	// files are those in buckets, nil where nothing is kept.
	files *os.Root

	// imports are transfers to start; started counts those that run.
	imports chan int
	web     *http.Client
	ended   <-chan struct{}
	started sync.WaitGroup

	mu     sync.Mutex
	state  State
	audit  Log
	meters map[string]*meter
}

// New makes a cloud, or continues with the one in the directory. Transfers of images run until ctx ends. It logs to the
// logger of ctx.
func New(ctx context.Context, o Options) (*Cloud, error) {
	c := &Cloud{
		token: o.Token, readToken: o.ReadToken, clock: o.Clock, timing: o.Timing.orDefaults(), limits: o.Limits.orDefaults(),
		log: logr.FromContextOrDiscard(ctx).WithName("cloud"), store: store{dir: o.Dir},
		imports: make(chan int), ended: ctx.Done(), meters: map[string]*meter{},
	}
	c.guard = guard.New(c.log, nil)
	c.web = &http.Client{Transport: o.Egress.OrAnywhere().Transport()}
	if c.token == "" {
		c.token = rand.Text()
	}
	if c.clock == nil {
		c.clock = Running{}
	}
	c.api, c.admin = c.routes(), c.adminRoutes()
	var err error
	if c.files, err = openFiles(o.Dir); err != nil {
		return nil, err
	}
	if c.state, c.audit, err = c.store.load(); err != nil {
		return nil, err
	}
	c.state.Next = max(c.state.Next, firstNumber)
	c.state.Images = append(public(), c.state.Images...)
	go c.transfers(ctx)
	for _, i := range c.state.Images {
		if i.Import != nil && !i.Import.Fetched && !i.Deleted {
			c.transfer(i.ID)
		}
	}
	return c, nil
}

// firstNumber is below the first number of an object.
const firstNumber = 300_000_000

// Token gives access to everything.
func (c *Cloud) Token() string { return c.token }

// Settle waits until the transfers of images have ended that were started.
func (c *Cloud) Settle() { c.started.Wait() }

// Inject adds faults.
func (c *Cloud) Inject(faults ...Fault) error {
	for _, f := range faults {
		if err := f.check(); err != nil {
			return err
		}
	}
	return c.change(func(s *State) error {
		s.inject(faults)
		return nil
	})
}

// ClearFaults forgets the faults that were injected.
func (c *Cloud) ClearFaults() error {
	return c.change(func(s *State) error {
		s.Faults = nil
		return nil
	})
}

// Delete deletes an object at once and without a request, as a person does in the control panel: a droplet, image,
// ssh_key or reserved_ip, by its number, its address, its fingerprint, or its name if no other has it.
func (c *Cloud) Delete(kind, name string) error {
	return c.change(func(s *State) error { return s.erase(kind, name) })
}

// PowerOff turns a Droplet off at once and without a request.
func (c *Cloud) PowerOff(name string) error {
	return c.change(func(s *State) error {
		d, err := s.dropletBy(name)
		if err != nil {
			return err
		}
		d.Status = off
		return nil
	})
}

// Audit is the audit log so far.
func (c *Cloud) Audit() Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.audit)
}

// Now is the time in the cloud.
func (c *Cloud) Now() time.Time { return c.clock.Now() }

// change changes the state beside the API, and stores it.
func (c *Cloud) change(by func(*State) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.proceed(c.clock.Now())
	if err := by(&c.state); err != nil {
		return err
	}
	return c.store.save(&c.state)
}

// errAbsent is wrapped by errors about objects that are not in the account.
var errAbsent = errors.New("not in the account")

// dropletBy is the Droplet with a number, or with a name that no other has.
func (s *State) dropletBy(name string) (*Droplet, error) {
	var named []*Droplet
	for _, d := range s.Droplets {
		if decimal(d.ID) == name {
			return d, nil
		}
		if d.Name == name {
			named = append(named, d)
		}
	}
	switch len(named) {
	case 0:
		return nil, fmt.Errorf("droplet %q: %w", name, errAbsent)
	case 1:
		return named[0], nil
	}
	return nil, fmt.Errorf("droplet %q: %d Droplets have the name; use a number, such as %d", name, len(named), named[0].ID)
}
