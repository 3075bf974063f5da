package builds

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
)

// gatherer reads what there is to know of one Build.
type gatherer struct {
	*part
	build *v1alpha1.Build
	// as reads and writes with the rights of the account of the Build.
	as dynamic.Interface
	// follows is what wakes the Build.
	follows map[interest]bool
	// missing are the inputs that are unknown; again is why, where nothing wakes the Build when that changes.
	missing []string
	again   error
}

func (p *part) gatherer(b *v1alpha1.Build) (*gatherer, error) {
	as, err := p.account(b)
	if err != nil {
		return nil, err
	}
	return &gatherer{part: p, build: b, as: as, follows: map[interest]bool{}}, nil
}

// account is a client that acts as the account of a Build.
func (p *part) account(b *v1alpha1.Build) (dynamic.Interface, error) {
	name := b.Spec.ServiceAccountName
	if name == "" {
		name = v1alpha1.DefaultAccount
	}
	// Anything but a name could be that of an account in another namespace.
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return nil, fmt.Errorf("spec.serviceAccountName %q is not the name of a ServiceAccount: %s", name, problems[0])
	}
	config := rest.CopyConfig(p.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + b.Namespace + ":" + name}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("acting as ServiceAccount %s/%s: %w", b.Namespace, name, err)
	}
	return client, nil
}

// facts gathers everything. An error means that something that may have been deleted cannot be read.
func (g *gatherer) facts(ctx context.Context) (plan.Facts, error) {
	f := plan.Facts{Secrets: map[string]plan.Secret{}, Users: map[string]string{}}
	if err := g.watch(ctx); err != nil {
		return f, err
	}
	err := errors.Join(g.runs(ctx, &f), g.secrets(ctx, &f))
	if err != nil {
		return f, err
	}
	g.images(ctx, &f)
	g.inputs(ctx, &f)
	f.Missing = strings.Join(g.missing, "; ")
	f.Now = now()
	return f, nil
}

// served is how a kind is reached.
func (g *gatherer) served(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	r, is := g.Home.Kinds.Find(gvk)
	if !is {
		return schema.GroupVersionResource{}, fmt.Errorf("kind %s of %s is not served in this cluster", gvk.Kind, gvk.GroupVersion())
	}
	return r.GroupVersionResource, nil
}

func workflowKind(kind string) schema.GroupVersionKind { return workflow.GroupVersion.WithKind(kind) }

func secretResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

// watch has the Build woken by everything that it depends on, before any of it is read.
func (g *gatherer) watch(ctx context.Context) error {
	runs, err := g.served(workflowKind(workflow.WorkflowKind))
	if err != nil {
		return err
	}
	g.follows[interest{GroupVersionResource: runs}] = true
	for i := range g.build.Spec.Outputs {
		g.follows[interest{secretResource(), g.build.Namespace, g.build.Spec.Outputs[i].Secret.Name}] = true
	}
	if i := g.build.Spec.Image; i != nil {
		if images, err := g.served(imageKind(i)); err == nil {
			g.follows[interest{GroupVersionResource: images}] = true
		}
	}
	for _, one := range g.inputInterests() {
		g.follows[one] = true
	}
	return g.seen.follow(ctx, idOf(g.build), maps.Clone(g.follows))
}

// also has the Build woken by an object that was found to matter while inputs were read.
func (g *gatherer) also(ctx context.Context, one interest) error {
	if g.follows[one] {
		return nil
	}
	g.follows[one] = true
	return g.seen.follow(ctx, idOf(g.build), maps.Clone(g.follows))
}

// runs reads the runs of the Build, and whatever has the name of the active one.
func (g *gatherer) runs(ctx context.Context, f *plan.Facts) error {
	resource, err := g.served(workflowKind(workflow.WorkflowKind))
	if err != nil {
		return err
	}
	client := g.Home.Dynamic.Resource(resource).Namespace(g.build.Namespace)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelBuild + "=" + g.build.Name})
	if err != nil {
		return fmt.Errorf("listing the runs of Build %s/%s: %w", g.build.Namespace, g.build.Name, err)
	}
	for i := range list.Items {
		f.Runs = append(f.Runs, runFact(g.build, &list.Items[i]))
	}
	a := g.build.Status.Active
	if a == nil || slices.ContainsFunc(f.Runs, func(r plan.Run) bool { return r.Name == a.Run }) {
		return nil
	}
	u, err := client.Get(ctx, a.Run, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading Workflow %s/%s: %w", g.build.Namespace, a.Run, err)
	}
	f.Runs = append(f.Runs, runFact(g.build, u))
	return nil
}

// secrets reads the outputs, as the account of the Build.
func (g *gatherer) secrets(ctx context.Context, f *plan.Facts) error {
	for i := range g.build.Spec.Outputs {
		o := &g.build.Spec.Outputs[i].Secret
		u, err := g.as.Resource(secretResource()).Namespace(g.build.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("reading Secret %s/%s: %w", g.build.Namespace, o.Name, err)
		default:
			f.Secrets[o.Name] = secretFact(u, o.Public)
		}
	}
	return nil
}
