package argo

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/runner"
)

// homeless names, in the upstream's words, the objects that need a namespace and have none: neither they nor the destination
// of the Application say one. They are refused when they are written; the others go on.
func homeless(w runner.Work, c *comparison) {
	for _, o := range c.objects {
		if o.entry.ID.Namespace != "" {
			continue
		}
		gvk := o.entry.GroupVersionKind()
		if _, namespaced, served := w.Kind(gvk); served && namespaced {
			c.warn(v1alpha1.ApplicationConditionInvalidSpecError, fmt.Sprintf("Namespace for %s %s is missing.", o.entry.ID.Name, gvk.String()))
		}
	}
}
