package lint

import (
	"strings"
)

// place is an object that others name.
type place struct{ kind, namespace, name string }

// tree is what the objects say of one another.
type tree struct {
	// endpoints are the Services with endpoints of their own.
	endpoints map[place]bool
	// scaled are the workloads that an autoscaler is for.
	scaled map[place]string
	// pulling are the accounts with pull secrets.
	pulling map[place]bool
	// ranges are the defaults of LimitRanges for containers, "limit memory" or "request cpu", by namespace.
	ranges map[string]map[string]bool
}

func treeOf(p Policy, objects []map[string]any) tree {
	t := tree{endpoints: map[place]bool{}, scaled: map[place]string{}, pulling: map[place]bool{}, ranges: map[string]map[string]bool{}}
	for _, fields := range objects {
		t.take(fields)
	}
	return t
}

func (t tree) take(o object) {
	for _, item := range o.items() {
		t.take(item)
	}
	switch o.group() + "/" + o.kind() {
	case "/Endpoints":
		t.endpoints[place{"Service", o.namespace(), o.name()}] = true
	case "discovery.k8s.io/EndpointSlice":
		t.endpoints[place{"Service", o.namespace(), text(o.labels(), "kubernetes.io/service-name")}] = true
	case "autoscaling/HorizontalPodAutoscaler", "keda.sh/ScaledObject":
		target := child(o, "spec", "scaleTargetRef")
		kind := text(target, "kind")
		if kind == "" {
			kind = "Deployment"
		}
		t.scaled[place{kind, o.namespace(), text(target, "name")}] = o.kind() + " " + o.name()
	case "/ServiceAccount":
		if secrets, _ := o["imagePullSecrets"].([]any); len(secrets) > 0 {
			t.pulling[place{"ServiceAccount", o.namespace(), o.name()}] = true
		}
	case "/LimitRange":
		t.limit(o)
	}
}

func (t tree) limit(o object) {
	defaults := t.ranges[o.namespace()]
	if defaults == nil {
		defaults = map[string]bool{}
		t.ranges[o.namespace()] = defaults
	}
	for _, limit := range mappings(child(o, "spec"), "limits") {
		if !strings.EqualFold(text(limit, "type"), "Container") {
			continue
		}
		for field, what := range map[string]string{"default": "limits", "defaultRequest": "requests"} {
			for resource := range child(limit, field) {
				defaults[what+" "+resource] = true
			}
		}
	}
}
