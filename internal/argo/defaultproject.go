package argo

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// memory is what is remembered of the default project of an installation, on the definition of AppProjects: no repository
// writes that, and it ends with all projects.
type memory string

const (
	// unknown is where Headgate has not served the installation yet.
	unknown memory = ""
	// required is where a default project was there, or a server of Argo CD that would have created it. If it is not there now, it was
	// deleted.
	required memory = "required"
	// implied is where none was ever there, nor an Argo CD.
	implied memory = "implied"
)

// remembered is what is remembered from now on. Whether Argo CD is installed matters only at the first start: a repository
// may install it later without the server that creates the project.
func remembered(before memory, has, installed bool) memory {
	if before == unknown && !has && !installed || before == implied && !has {
		return implied
	}
	return required
}

// memoryPrefix is followed by the namespace of the installation.
const memoryPrefix = "default-project.headgate.dev/"

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

func projectDefinition() string { return projectResource.Resource + "." + Group }

// recallDefault decides whether a default project is missing that never was, or was deleted. It is for the start, once
// the projects are known. What cannot be found out permits nothing.
func (e *Engine) recallDefault(ctx context.Context) error {
	before, err := e.memory(ctx)
	installed := false
	if err == nil && before == unknown {
		installed, err = e.installed(ctx)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	if err != nil {
		e.observe("AppProject/"+configuration.DefaultProject, "where it is missing, it permits nothing: "+err.Error())
		return nil
	}
	switch has := e.projects.Has(configuration.DefaultProject); {
	case remembered(before, has, installed) == implied:
		e.projects.Imply()
	case before == implied:
		// It came, and the process ended before it was completed.
		e.projects.Complete()
	}
	e.defaults.Wake(e.options.Namespace)
	return nil
}

// memory reads what is remembered.
func (e *Engine) memory(ctx context.Context) (memory, error) {
	u, err := e.client.Resource(definitions).Get(ctx, projectDefinition(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return unknown, nil
	}
	if err != nil {
		return unknown, fmt.Errorf("reading the definition of AppProjects: %w", err)
	}
	switch m := memory(u.GetAnnotations()[memoryPrefix+e.options.Namespace]); m {
	case unknown, implied:
		return m, nil
	default:
		return required, nil
	}
}

// installed reports whether an Argo CD is installed, running or paused.
func (e *Engine) installed(ctx context.Context) (bool, error) {
	for _, resource := range []string{"deployments", "statefulsets"} {
		list, err := e.client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}).Namespace(e.options.Namespace).
			List(ctx, metav1.ListOptions{LabelSelector: dialect.PartOf + "=argocd", Limit: 1})
		if err != nil {
			return false, fmt.Errorf("searching namespace %s for %s of Argo CD: %w", e.options.Namespace, resource, err)
		}
		if len(list.Items) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// defaults remember whether a default project was there.
type defaults struct{ *Engine }

// Share is the installation.
func (defaults) Share(namespace string) string { return namespace }

// Pass completes a default project, and writes what is to be remembered.
func (d defaults) Pass(ctx context.Context, namespace string) rounds.Next {
	if err := d.complete(ctx); err != nil {
		if ctx.Err() == nil {
			d.observe("AppProject/"+configuration.DefaultProject, "what it leaves out of the project that was implied could not be written: "+err.Error())
		}
		return rounds.Done(err)
	}
	now, err := d.memory(ctx)
	want := required
	if d.projects.Implied() {
		want = implied
	}
	if err == nil && now != want {
		writer := declared.Writer{Client: d.client.Resource(definitions), Manager: component}
		_, err = writer.Patch(ctx, &metav1.ObjectMeta{Name: projectDefinition()}, map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{memoryPrefix + namespace: string(want)}},
		})
	}
	switch {
	case err == nil && want == required:
		d.projects.Completed()
	case err != nil && ctx.Err() == nil:
		d.observe("AppProject/"+configuration.DefaultProject, "that it was there could not be remembered: "+err.Error())
	}
	return rounds.Done(err)
}

// complete has a default project that came where one was implied have what it leaves out of that one, unless it has changed since.
func (d defaults) complete(ctx context.Context) error {
	project := d.projects.Incomplete()
	if project == nil {
		return nil
	}
	before, err := declared.Fields(project.Spec)
	if err != nil {
		return fmt.Errorf("encoding it: %w", err)
	}
	after, err := declared.Fields(policy.Completed(project).Spec)
	if err != nil {
		return fmt.Errorf("encoding it: %w", err)
	}
	missing := declared.Difference(before, after)
	if len(missing) == 0 {
		return nil
	}
	writer := declared.Writer{Client: d.client.Resource(projectResource), Manager: component}
	u, err := writer.Patch(ctx, project, map[string]any{
		"metadata": map[string]any{"resourceVersion": project.ResourceVersion}, "spec": missing,
	})
	if err == nil && u != nil {
		d.putProject(u)
	}
	return err
}

// remembering is how long a write waits that failed.
var remembering = rounds.Backoff{Min: time.Second, Max: 3 * time.Minute}
