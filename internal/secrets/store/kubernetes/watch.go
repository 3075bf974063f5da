package kubernetes

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// A watch that ends before it is steady is begun again after a rest, which doubles each time. Changes are reported once in a pause at most. Which
// server a store has, and how that answers, is for its author to say.
const (
	leastRest, mostRest = time.Second, 5 * time.Minute
	steady              = time.Minute
	pause               = time.Second
)

// Watch reports changes of Secrets of the namespace until the context ends or the server refuses.
func (c *Client) Watch(ctx context.Context, changed func()) error {
	rest, version := leastRest, ""
	for ctx.Err() == nil {
		if version == "" {
			list, err := c.list(ctx, metav1.ListOptions{Limit: 1})
			if err != nil {
				return err
			}
			version = list.ResourceVersion
			changed()
		}
		began := time.Now()
		var err error
		if version, err = c.follow(ctx, version, changed); err != nil {
			return err
		}
		if time.Since(began) >= steady {
			rest = leastRest
			continue
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		rest = min(2*rest, mostRest)
	}
	return nil
}

// follow reports changes since a version for as long as one watch lasts, and returns the version from which the next one continues: none where it has to
// be read again.
func (c *Client) follow(ctx context.Context, version string, changed func()) (string, error) {
	options := metav1.ListOptions{Watch: true, ResourceVersion: version, AllowWatchBookmarks: true}
	events, err := c.request(http.MethodGet).VersionedParams(&options, scheme.ParameterCodec).Watch(ctx)
	switch {
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err), err != nil && ctx.Err() != nil:
		return "", nil
	case err != nil:
		return "", failure("watching the Secrets of "+c.namespace, err)
	}
	defer events.Stop()
	before, due := version, (<-chan time.Time)(nil)
	for {
		select {
		case event, more := <-events.ResultChan():
			if secret, ok := event.Object.(*corev1.Secret); ok {
				version = secret.ResourceVersion
			}
			switch {
			case !more || event.Type == watch.Error:
				if due != nil {
					changed()
				}
				if event.Type == watch.Error || version == before {
					version = ""
				}
				return version, nil
			case event.Type != watch.Bookmark && due == nil:
				due = time.After(pause)
			}
		case <-due:
			due = nil
			changed()
		}
	}
}
