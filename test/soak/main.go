// Command soak runs a controller for a long time while everything around it fails: units change, appear and go with every
// commit, the API server restarts, the Git server is away, answers with errors or hangs, and the controller is killed.
//
// It prints the memory, goroutines, open files and requests of the controller, and fails when the cluster is not what Git
// declares at the end. It is run by hand: make soak.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"
)

func main() {
	o := options{}
	flag.DurationVar(&o.duration, "duration", 30*time.Minute, "how long to churn")
	flag.IntVar(&o.units, "units", 200, "units at a time")
	flag.DurationVar(&o.rest, "rest", time.Minute, "how long to count requests at rest, before and after")
	flag.DurationVar(&o.patience, "patience", 5*time.Minute, "how long the cluster may take to become what Git declares")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of what happens when")
	flag.StringVar(&o.binary, "binary", "bin/headgate", "the controller")
	flag.StringVar(&o.dir, "dir", "", "directory to work in, kept; a temporary one that is deleted by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := soak(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

type options struct {
	duration, rest, patience time.Duration
	units                    int
	seed                     uint64
	binary, dir              string
}

func soak(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "hgs-"); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }()
	}
	w, err := build(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.end(ctx)) }()
	s := &state{rng: rand.New(rand.NewPCG(o.seed, 0)), world: w, options: o} //nolint:gosec // the same seed has the same happen
	for range o.units {
		s.add()
	}
	if err := s.commit(ctx); err != nil {
		return err
	}
	if err := w.root(ctx); err != nil {
		return err
	}
	if err := s.converge(ctx); err != nil {
		return fmt.Errorf("before anything failed: %w", err)
	}
	t := &table{world: w}
	if err := t.rest(ctx, "start", o.rest); err != nil {
		return err
	}
	if err := s.churn(ctx, t); err != nil {
		return err
	}
	began := time.Now()
	if err := s.converge(ctx); err != nil {
		return fmt.Errorf("after all that failed: %w (-dir DIR keeps the log of the controller)", err)
	}
	fmt.Printf("the cluster is what Git declares, %s after the last failure: %d units, %d commits\n", time.Since(began).Round(time.Second), len(s.units), s.commits)
	if err := t.rest(ctx, "end", o.rest); err != nil {
		return err
	}
	t.print(s.done)
	return nil
}
