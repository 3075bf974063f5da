package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/dynamic"
)

type syncOptions struct {
	*globals
	target, namespace       string
	all, source, dependents bool
	timeout                 time.Duration
}

func newSync(g *globals) *cobra.Command {
	o := syncOptions{globals: g}
	cmd := &cobra.Command{
		Use:   "sync KIND/NAME | sync KIND --all",
		Short: "Force a pass now, and wait for it",
		Long: `Force a pass, in these steps:

  1. fetch the source of the unit anew (unless --source=false), and wait for it
  2. have the unit render and apply everything again, whatever is remembered, and wait for it
  3. with --dependents, do the same for the units that depend on it, in their order

The exit code is 1 when something that was synced is not ready afterwards.`,
		Example: "  headgate sync ks/apps\n  headgate sync git/flux-system\n  headgate sync ks --all",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.target = args[0]
			return runSync(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.namespace, "namespace", "n", defaultNamespace, "namespace of the object")
	f.BoolVar(&o.all, "all", false, "every object of the kind, in every namespace")
	f.BoolVar(&o.source, "source", true, "fetch the source first")
	f.BoolVar(&o.dependents, "dependents", false, "then sync what depends on it")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

func runSync(ctx context.Context, o syncOptions) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not ready after %s", o.timeout))
	defer cancel()
	client, err := o.client()
	if err != nil {
		return err
	}
	targets, err := o.targets(ctx, client)
	if err != nil {
		return err
	}
	s := &syncer{syncOptions: o, client: client}
	ready := true
	for _, ref := range targets {
		ok, err := s.sync(ctx, ref)
		if err != nil {
			return err
		}
		ready = ready && ok
	}
	if !ready {
		return errNo
	}
	return nil
}

func (o syncOptions) targets(ctx context.Context, client dynamic.Interface) ([]reference, error) {
	if !o.all {
		ref, err := parseReference(o.target, o.namespace)
		return []reference{ref}, err
	}
	kind, err := findKind(o.target)
	if err != nil {
		return nil, err
	}
	list, err := client.Resource(kind.resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, unreachable(fmt.Errorf("listing %s: %w", kind.resource.Resource, err))
	}
	var refs []reference
	for i := range list.Items {
		if u := &list.Items[i]; !suspended(u) {
			refs = append(refs, reference{served: kind, namespace: u.GetNamespace(), name: u.GetName()})
		}
	}
	return refs, nil
}

type syncer struct {
	syncOptions
	client dynamic.Interface
}

// sync syncs one object, with its source before it and its dependents after it as the options say.
func (s *syncer) sync(ctx context.Context, ref reference) (bool, error) {
	u, err := ref.get(ctx, s.client)
	if err != nil {
		return false, err
	}
	if suspended(u) {
		return false, hint(fmt.Errorf("%s is suspended", ref), "headgate resume %s/%s -n %s", ref.aliases[0], ref.name, ref.namespace)
	}
	ready := true
	if ref.unit && s.source {
		if source, known := sourceReference(u); known {
			if ready, err = s.force(ctx, source); err != nil {
				return false, err
			}
		}
	}
	ok, err := s.force(ctx, ref)
	if err != nil || !s.dependents || !ref.unit {
		return ready && ok, err
	}
	rest, err := s.syncDependents(ctx, ref)
	return ready && ok && rest, err
}

func (s *syncer) syncDependents(ctx context.Context, ref reference) (bool, error) {
	list, err := s.client.Resource(ref.resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("listing %s: %w", ref.resource.Resource, err)
	}
	ready := true
	for i := range list.Items {
		u := &list.Items[i]
		if !dependsOn(u, ref) || suspended(u) {
			continue
		}
		next := s.withoutSource()
		ok, err := next.sync(ctx, reference{served: ref.served, namespace: u.GetNamespace(), name: u.GetName()})
		if err != nil {
			return false, err
		}
		ready = ready && ok
	}
	return ready, nil
}

func (s *syncer) withoutSource() *syncer {
	next := *s
	next.source = false
	return &next
}

// sourceReference is the source of a unit, if it is of a kind that can be asked for a pass.
func sourceReference(u *unstructured.Unstructured) (reference, bool) {
	field := "sourceRef"
	if u.GetKind() == releaseServed.kind {
		field = "chartRef"
	}
	kind, err := findKind(text(u, "spec", field, "kind"))
	if err != nil {
		return reference{}, false
	}
	namespace := text(u, "spec", field, "namespace")
	if namespace == "" {
		namespace = u.GetNamespace()
	}
	return reference{served: kind, namespace: namespace, name: text(u, "spec", field, "name")}, true
}

func dependsOn(u *unstructured.Unstructured, ref reference) bool {
	list, _, _ := unstructured.NestedSlice(u.Object, "spec", "dependsOn")
	for _, item := range list {
		d, _ := item.(map[string]any)
		namespace, _ := d["namespace"].(string)
		if namespace == "" {
			namespace = u.GetNamespace()
		}
		if d["name"] == ref.name && namespace == ref.namespace {
			return true
		}
	}
	return false
}

// force asks for a pass of one object and waits until it has been made.
func (s *syncer) force(ctx context.Context, ref reference) (bool, error) {
	token := time.Now().UTC().Format(time.RFC3339Nano)
	change := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": token}}}
	if err := patch(ctx, ref.client(s.client), ref, change); err != nil {
		return false, err
	}
	u, err := s.await(ctx, ref, token)
	if err != nil {
		return false, err
	}
	ready, _, message := condition(u, "Ready")
	mark := "✓"
	if ready != "True" {
		mark = "✗"
	}
	_, err = fmt.Fprintf(s.io.Out, "%s %s %s\n", mark, ref, oneLine(message))
	return ready == "True", err
}

// await watches an object until its status names the token and it is no longer on its way.
func (s *syncer) await(ctx context.Context, ref reference, token string) (*unstructured.Unstructured, error) {
	selector := fields.OneTermEqualSelector("metadata.name", ref.name).String()
	for {
		w, err := ref.client(s.client).Watch(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			return nil, unreachable(fmt.Errorf("watching %s: %w", ref, err))
		}
		u := firstHandled(w.ResultChan(), token)
		w.Stop()
		if u != nil {
			return u, nil
		}
		if ctx.Err() != nil {
			return nil, hint(fmt.Errorf("waiting for %s: %w", ref, context.Cause(ctx)), "headgate why %s/%s -n %s", ref.aliases[0], ref.name, ref.namespace)
		}
	}
}
