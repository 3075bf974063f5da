package offline

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo/differences"
	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/dialect"
)

// manager is the field manager under which objects of Applications are applied.
const manager = "argocd-controller"

// comparison is how objects of an Application are compared with those of a cluster: fields that it ignores are not.
type comparison struct {
	namespace string
	tracking  differences.Tracking
	settings  settings.Compare
	rules     *differences.Rules
	err       error
}

func (w *Walk) comparison(a *app) dialect.Comparison {
	t := w.settings.Tracking
	c := &comparison{namespace: a.spec.Spec.Destination.Namespace, settings: w.settings.Compare}
	c.tracking = differences.Tracking{
		Method: t.Method, LabelKey: t.LabelKey, InstallationID: t.InstallationID, Namespace: c.namespace,
		AppName: differences.InstanceName(a.id.Namespace, a.id.Name, Namespace),
	}
	c.rules, c.err = differences.Compile(w.repository.Sandbox.For(a.spec.Spec.Project, a.id.String()), a.spec.Spec.IgnoreDifferences, w.settings.Customizations)
	return c
}

// Check is what is wrong with the rules for fields that are ignored.
func (c *comparison) Check() error { return c.err }

// Manager is the one of Argo CD's controller.
func (*comparison) Manager() string { return manager }

// Placed is an object where the Application has it, with its mark.
func (c *comparison) Placed(o *unstructured.Unstructured, namespaced bool) (*unstructured.Unstructured, error) {
	o = o.DeepCopy()
	switch {
	case !namespaced:
		o.SetNamespace("")
	case o.GetNamespace() == "":
		o.SetNamespace(c.namespace)
	}
	return o, c.tracking.Mark(o)
}

// Differs reports whether fields differ that are not ignored.
func (c *comparison) Differs(ctx context.Context, desired, after, live *unstructured.Unstructured) (bool, error) {
	found, err := differences.Comparison{Settings: c.settings, Rules: c.rules.For(desired), Manager: manager}.Compare(ctx, desired, after, live)
	return len(found) > 0, err
}
