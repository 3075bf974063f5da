package lint

import (
	"net"
	"strings"
)

// metadata judges the labels of an object.
func (r *run) metadata() {
	labels := r.object.labels()
	if len(r.policy.Labels) == 0 {
		if len(labels) == 0 && r.object.kind() != "Kustomization" {
			r.add("labels", "metadata.labels", "is missing; write at least app.kubernetes.io/name, so that what belongs together is found")
		}
		return
	}
	for _, key := range r.policy.Labels {
		if _, has := labels[key]; !has {
			r.add("labels", "metadata.labels", "has no "+key+"; the policy requires it")
		}
	}
}

// service judges whether a Service leads to something. Endpoints may be declared beside it, and an address elsewhere has none.
func (r *run) service() {
	o := r.object
	spec := child(o, "spec")
	if len(child(spec, "selector")) > 0 || text(spec, "type") == "ExternalName" || r.tree.endpoints[place{"Service", o.namespace(), o.name()}] {
		return
	}
	r.add("service-selector", "spec.selector", "is missing, and there are no endpoints of the Service: it leads nowhere; write the labels of its pods, or declare an EndpointSlice with the label kubernetes.io/service-name: "+o.name())
}

// ingress judges the hosts of an Ingress.
func (r *run) ingress() {
	spec := child(r.object, "spec")
	for i, rule := range mappings(spec, "rules") {
		field := join("spec.rules", index(i), "host")
		switch host := text(rule, "host"); {
		case host == "":
			r.add("ingress-host", field, "is missing, so that the rule takes the requests of all hosts; write the name of the host")
		case !open(host) && !isHost(host):
			r.add("ingress-host", field, "is not the name of a host; write it without scheme, port and path, in lower case: shop.example.com or *.example.com")
		}
	}
	if rules, _ := spec["rules"].([]any); len(rules) == 0 && spec["defaultBackend"] == nil && spec["backend"] == nil {
		r.add("ingress-host", "spec.rules", "is missing: the Ingress leads nowhere; write a rule with a host")
	}
}

// isHost reports whether a text is the name of a host, or of all below one.
func isHost(host string) bool {
	if net.ParseIP(host) != nil || len(host) > 253 {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(host, "*."), ".") {
		strange := func(c rune) bool { return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') }
		if part == "" || len(part) > 63 || strings.ContainsFunc(part, strange) || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
	}
	return true
}

// config judges whether there is anything in a ConfigMap or a Secret. Some are filled by controllers.
func (r *run) config() {
	o := r.object
	for _, field := range []string{"data", "stringData", "binaryData"} {
		if len(child(o, field)) > 0 {
			return
		}
	}
	if text(o, "type") == "kubernetes.io/service-account-token" {
		return
	}
	for _, pairs := range []map[string]any{o.annotations(), o.labels()} {
		for key := range pairs {
			for _, filler := range []string{"reflector.", "replicator.", "trust.cert-manager.io/", "config.openshift.io/inject"} {
				if strings.Contains(key, filler) {
					return
				}
			}
		}
	}
	also := "binaryData"
	if o.kind() == "Secret" {
		also = "stringData"
	}
	r.add("empty-config", "data", "is missing, and "+also+" too; write what the "+o.kind()+" is for, or remove it")
}
