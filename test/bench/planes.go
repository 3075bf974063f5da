package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/headgate-dev/headgate/internal/controlplane"
	"github.com/headgate-dev/headgate/internal/planes"
)

// manyPlanes measures what each further control plane of a process costs: first one after the other, then all at once.
type manyPlanes struct{ n int }

const (
	// settled is when a control plane has filled its caches.
	settled = 6 * time.Second
	// unwound is when one that stopped has given all of its memory back.
	unwound = 35 * time.Second
)

func (b manyPlanes) measure(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "hgb-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	first, err := controlplane.Start(ctx, controlplane.Config{Dir: filepath.Join(dir, "main"), Ephemeral: true})
	if err != nil {
		return err
	}
	defer func() { _ = first.Stop(context.WithoutCancel(ctx)) }()
	if err := pause(ctx, settled); err != nil {
		return err
	}
	for _, atOnce := range []bool{false, true} {
		if atOnce {
			if err := pause(ctx, unwound); err != nil {
				return err
			}
		}
		if err := b.run(ctx, filepath.Join(dir, fmt.Sprint(atOnce)), atOnce); err != nil {
			return err
		}
	}
	return nil
}

func (b manyPlanes) run(ctx context.Context, dir string, atOnce bool) error {
	pool := planes.NewPool(ctx, planes.Config{Dir: dir, Ephemeral: true, Start: light, Most: b.n})
	defer func() { _ = pool.Close(context.WithoutCancel(ctx)) }()
	// Garbage is no part of what a plane takes.
	debug.FreeOSMemory()
	before, began := rss(), time.Now()
	group, within := errgroup.WithContext(ctx)
	var waited time.Duration
	for i := range b.n {
		acquire := func() error {
			_, _, err := pool.Acquire(within, fmt.Sprintf("plane-%d", i), "bench")
			return err
		}
		if atOnce {
			group.Go(acquire)
			continue
		}
		if err := acquire(); err != nil {
			return err
		}
		if err := pause(ctx, settled); err != nil {
			return err
		}
		waited += settled
	}
	if err := group.Wait(); err != nil {
		return err
	}
	took := time.Since(began) - waited
	if err := pause(ctx, settled); err != nil {
		return err
	}
	debug.FreeOSMemory()
	var live uint64
	for _, s := range pool.Status() {
		live += s.Memory
	}
	how := "in turn"
	if atOnce {
		how = "at once"
	}
	fmt.Printf("%6d  %s  %7.1f  %6.1f  %7d  %12d\n", b.n, how, took.Seconds(), took.Seconds()/float64(b.n),
		live>>20/uint64(b.n), (rss()-before)/b.n)
	return nil
}

func light(ctx context.Context, _, dir string) (planes.Running, error) {
	plane, err := controlplane.Start(ctx, controlplane.Config{Dir: dir, Ephemeral: true, Keep: true, Light: true})
	if err != nil {
		return nil, err
	}
	return plane, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
