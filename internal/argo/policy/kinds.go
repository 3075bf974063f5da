package policy

import (
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

func kinds(list []metav1.GroupKind) []kindPattern {
	all := make([]kindPattern, len(list))
	for i, k := range list {
		all[i] = kindPattern{group: k.Group, kind: k.Kind}
	}
	return all
}

func named(list []v1alpha1.ClusterResourceRestrictionItem) []kindPattern {
	all := make([]kindPattern, len(list))
	for i, k := range list {
		all[i] = kindPattern{group: k.Group, kind: k.Kind, name: k.Name}
	}
	return all
}

// kindPattern is an item of a list of kinds.
type kindPattern struct{ group, kind, name string }

func anyKind(list []kindPattern, o Object) bool {
	matches := func(pattern, text string) bool {
		ok, err := path.Match(pattern, text)
		return err == nil && ok
	}
	for _, k := range list {
		if matches(k.kind, o.Kind) && matches(k.group, o.Group) && (k.name == "" || matches(k.name, o.Name)) {
			return true
		}
	}
	return false
}
