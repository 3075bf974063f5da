package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Namespace is where Headgate keeps what is its own in a cluster, such as its lease: that of Flux, which every cluster of
// Flux has.
const Namespace = "flux-system"

// leaseName is the Lease, in the namespace of the root, that the one engine of a cluster holds.
const leaseName = "headgate"

// LeaseName is the name of the lease of a shard, which is given by its label selector, however that is written.
func LeaseName(shard string) string {
	if selector, err := labels.Parse(shard); err == nil {
		shard = strings.ReplaceAll(selector.String(), "==", "=")
	}
	if shard == "" {
		return leaseName
	}
	sum := sha256.Sum256([]byte(shard))
	return leaseName + "-" + hex.EncodeToString(sum[:4])
}

// LeaseConfig says how the one engine of a cluster is chosen.
type LeaseConfig struct {
	// Identity tells this process from others.
	Identity string
	// Shard is the label selector of what this process serves, empty when it is everything: each shard has a
	// lease of its own.
	Shard string
	// Duration is how long a lease that is not renewed holds, and so how long it takes until another
	// process takes over from one that was killed. A process that ends releases it at once.
	Duration time.Duration
	// Observe, when set, is called with the holder of the lease whenever that changes.
	Observe func(identity string)
}

// Lead calls lead each time this process has become the one that serves the cluster, with a context
// that ends when it no longer is, until ctx ends. The lease is released after lead has returned.
func Lead(ctx context.Context, config *rest.Config, o LeaseConfig, lead func(ctx context.Context)) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	for ctx.Err() == nil {
		if err := leadOnce(ctx, client, o, lead); err != nil {
			return err
		}
	}
	return nil
}

// leadOnce waits for the lease, and leads until it is lost or ctx ends.
func leadOnce(ctx context.Context, client kubernetes.Interface, o LeaseConfig, lead func(ctx context.Context)) error {
	// The election outlives ctx while lead comes to its end.
	electing, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var (
		mu            sync.Mutex
		leading, over bool
		led           sync.WaitGroup
	)
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		if !leading {
			end()
		}
	})
	defer stop()
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: Namespace, Name: LeaseName(o.Shard)}, Client: client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: o.Identity},
		},
		LeaseDuration: o.Duration, RenewDeadline: o.Duration * 2 / 3, RetryPeriod: o.Duration * 2 / 15,
		ReleaseOnCancel: true, Name: LeaseName(o.Shard),
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(held context.Context) {
				mu.Lock()
				if over {
					mu.Unlock()
					return
				}
				leading = true
				led.Add(1)
				mu.Unlock()
				defer led.Done()
				defer end()
				work, cancel := context.WithCancel(held)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				lead(work)
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if o.Observe != nil {
					o.Observe(identity)
				}
			},
		},
	})
	if err != nil {
		return fmt.Errorf("requesting the lease of the cluster: %w", err)
	}
	elector.Run(electing)
	mu.Lock()
	over = true
	mu.Unlock()
	led.Wait()
	return nil
}

// Holder is the holder of the lease of a shard; it is empty if there is none, or if the holder has not
// renewed it in time.
func Holder(ctx context.Context, client kubernetes.Interface, shard string, now time.Time) (string, error) {
	lease, err := client.CoordinationV1().Leases(Namespace).Get(ctx, LeaseName(shard), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the lease: %w", err)
	}
	return holderOf(lease, now), nil
}
