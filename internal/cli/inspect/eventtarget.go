package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/engine"
)

// aim finds what a NAME alone means, and which objects have the labels.
func (o *eventsOptions) aim(ctx context.Context, client dynamic.Interface) error {
	if err := o.sift(ctx, client); err != nil || o.target == "" || strings.Contains(o.target, "/") {
		return err
	}
	ref, err := o.ParseReference(o.target, o.namespace)
	if err != nil {
		return err
	}
	if there, err := ref.Exists(ctx, client); err != nil || there {
		return err
	}
	named, held, err := o.Named(ctx, client, o.target, o.namespace, "events")
	switch {
	case err != nil:
		// Events of what was deleted are left for a while.
		o.absent = err
	case named != nil:
		o.target = named.String()
	default:
		o.target = held
	}
	return nil
}

// sift finds the objects with the labels.
func (o *eventsOptions) sift(ctx context.Context, client dynamic.Interface) error {
	if o.labels == "" {
		return nil
	}
	selector, err := labels.Parse(o.labels)
	if err != nil {
		return console.Hint(fmt.Errorf("-l %q: %w", o.labels, err), "headgate events -l app=web")
	}
	o.selected = map[engine.ObjectID]bool{}
	for _, kind := range o.Catalogue.Kinds() {
		list, err := console.ServedOf(kind).List(ctx, client, metav1.NamespaceAll, true)
		if err != nil {
			return err
		}
		for _, u := range list {
			if selector.Matches(labels.Set(u.GetLabels())) {
				o.selected[engine.IDOf(u)] = true
			}
		}
	}
	return nil
}

// nothing says why there are no events: an error where what was named does not exist, which a command that follows waits for.
func (o eventsOptions) nothing(ctx context.Context, client dynamic.Interface, several bool) error {
	err := o.lacking(ctx, client, several)
	switch {
	case apierrors.IsForbidden(err):
		// An account that may read events alone is not told.
	case err != nil && !o.follow:
		return err
	case err != nil:
		fmt.Fprintf(o.IO.Err, "· %v\n", err)
	case o.target != "":
		fmt.Fprintf(o.IO.Err, "· no events about %s\n", o.target)
	}
	return nil
}

// lacking is an error where what was named does not exist. What may be in one of several clusters is not searched for.
func (o eventsOptions) lacking(ctx context.Context, client dynamic.Interface, several bool) error {
	switch {
	case o.absent != nil:
		return o.absent
	case o.target == "" && o.cluster == "":
		return console.CheckNamespace(ctx, client, o.namespace, "events")
	case o.target == "" || o.cluster != "" || several:
		return nil
	}
	ref, err := o.ParseReference(o.target, o.namespace)
	if err == nil {
		if there, err := ref.Exists(ctx, client); err != nil || there {
			return err
		}
		return ref.Missing(ctx, client, "events")
	}
	sought, err := console.Seek(o.target, o.namespace, "")
	if err != nil {
		return err
	}
	there, err := o.There(ctx, client, sought)
	if err == nil && !there {
		err = errors.New(o.target + " does not exist")
	}
	return console.Hint(err, "headgate tree --all")
}
