package api_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/digitalocean/godo"

	"github.com/headgate-dev/headgate/internal/cloud"
	"github.com/headgate-dev/headgate/internal/provision/digitalocean/api"
)

// TestRate keeps many requests within the real limits, so that none is refused.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := simulated(t)
		began := time.Now()
		done := make(chan error)
		for _, kind := range []string{"Droplet", "Image", "ReservedIP"} {
			do := client(kind)
			for range 2000 {
				go func() {
					_, _, err := do.Account.Get(t.Context())
					done <- err
				}()
			}
		}
		for range 6000 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range c.Audit() {
			if e.Status != 200 {
				t.Fatalf("the audit log has %+v", e)
			}
		}
		if took := time.Since(began); took < time.Hour || took > 100*time.Minute {
			t.Errorf("6000 requests took %s, where an hour admits 5000", took)
		}
	})
}

// TestShares has one request of a kind pass a crowd of another.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := simulated(t)
		droplets, images := client("Droplet"), client("Image")
		done := make(chan error)
		for range 500 {
			go func() {
				_, _, err := droplets.Account.Get(t.Context())
				done <- err
			}()
		}
		synctest.Wait()
		go func() {
			_, _, err := images.Images.ListUser(t.Context(), nil)
			done <- err
		}()
		for range 501 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		at := 0
		for i, e := range c.Audit() {
			if e.Path == "/v2/images" {
				at = i
			}
		}
		if at < 240 || at > 242 {
			t.Errorf("the image was request %d, want one of the first of the second minute", at)
		}
	})
}

// TestDeadline does not wait for what comes too late.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := simulated(t)
		if err := c.Inject(cloud.Fault{Kind: cloud.Throttle, For: 10 * time.Minute}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, _, err := client("Droplet").Account.Get(ctx)
		until, is := api.Throttled(err)
		if !is || !until.Equal(began.Add(10*time.Minute)) || time.Since(began) > 0 {
			t.Errorf("after %s the error is %v", time.Since(began), err)
		}
		_, _, err = client("Image").Images.Create(ctx, &godo.CustomImageCreateRequest{})
		if _, is := api.Throttled(err); !is || api.Ambiguous(err) {
			t.Errorf("the error of another kind is %v", err)
		}
		if got := len(c.Audit()); got != 1 {
			t.Errorf("%d requests were sent", got)
		}
	})
}
