package lint

import (
	"slices"
	"strings"
)

// pods is a pod, or the template of pods, in an object.
type pods struct {
	// at is its place, and fields are its metadata and spec.
	at     string
	fields map[string]any
	// ends reports whether the pods end, so that no one probes them.
	ends bool
}

func (p pods) spec() map[string]any { return child(p.fields, "spec") }

// podsOf are the pods of an object of a kind that is known.
func (r *run) podsOf(o object) (pods, bool) {
	template := func(ends bool, keys ...string) (pods, bool) {
		fields := child(o, keys...)
		return pods{at: strings.Join(keys, "."), fields: fields, ends: ends}, fields != nil
	}
	switch o.group() + "/" + o.kind() {
	case "/Pod":
		policy := text(child(o, "spec"), "restartPolicy")
		return pods{fields: o, ends: policy == "Never" || policy == "OnFailure"}, true
	case "apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "apps/ReplicaSet", "extensions/Deployment", "extensions/DaemonSet", "/ReplicationController":
		return template(false, "spec", "template")
	case "/PodTemplate":
		return template(false, "template")
	case "batch/Job":
		return template(true, "spec", "template")
	case "batch/CronJob":
		return template(true, "spec", "jobTemplate", "spec", "template")
	}
	for _, w := range r.policy.Workloads {
		if w.Group == o.group() && w.Kind == o.kind() {
			keys := []string{"spec", "template"}
			if w.Template != "" {
				keys = strings.Split(w.Template, ".")
			}
			return template(w.Ends, keys...)
		}
	}
	return pods{}, false
}

// workload judges an object with pods.
func (r *run) workload() {
	p, ok := r.podsOf(r.object)
	if !ok {
		return
	}
	if p.at != "" {
		r.ignore(child(p.fields, "metadata", "annotations"), join(p.at, "metadata"))
	}
	r.replicas()
	r.hostNamespaces(p)
	r.pullSecrets(p)
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range mappings(p.spec(), list) {
			end := r.within(text(c, "name"))
			r.container(container{pods: p, fields: c, at: join(p.at, "spec", list, index(i)), init: list == "initContainers"})
			end()
		}
	}
}

// replicas judges how many pods there are to be.
func (r *run) replicas() {
	o := r.object
	scaler := r.tree.scaled[place{o.kind(), o.namespace(), o.name()}]
	own := slices.ContainsFunc(r.policy.Workloads, func(w Workload) bool { return w.Group == o.group() && w.Kind == o.kind() && !w.Ends })
	switch o.kind() {
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController":
	default:
		if !own {
			return
		}
	}
	_, set := child(o, "spec")["replicas"]
	switch {
	case !set && scaler == "":
		r.add("replicas", "spec.replicas", "is missing, which means 1; write the number, or declare an autoscaler")
	case set && scaler != "":
		r.add("replicas-autoscaled", "spec.replicas", "is set here and by "+scaler+", and each reverts the other; leave it out")
	}
}

// pullSecrets judges whether images of private registries can be pulled.
func (r *run) pullSecrets(p pods) {
	spec := p.spec()
	account := text(spec, "serviceAccountName")
	if account == "" {
		account = "default"
	}
	if secrets, _ := spec["imagePullSecrets"].([]any); len(secrets) > 0 || r.tree.pulling[place{"ServiceAccount", r.object.namespace(), account}] {
		return
	}
	for _, list := range []string{"initContainers", "containers"} {
		for i, c := range mappings(spec, list) {
			image := text(c, "image")
			private := func(registry string) bool { return strings.HasPrefix(image, registry) }
			if !slices.ContainsFunc(r.policy.PrivateRegistries, private) {
				continue
			}
			end := r.within(text(c, "name"))
			r.add("pull-secret", join(p.at, "spec", list, index(i), "image"),
				"is of a private registry; name a Secret in "+join(p.at, "spec.imagePullSecrets")+", or in the ServiceAccount "+account)
			end()
		}
	}
}
