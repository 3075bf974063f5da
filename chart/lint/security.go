package lint

import (
	"slices"
	"strings"
)

// hostNamespaces judges what pods share with their node.
func (r *run) hostNamespaces(p pods) {
	for _, field := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if truth(p.spec(), field) {
			r.add("host-namespaces", join(p.at, "spec", field), "is true, so that the pod sees that of its node; leave it out unless the pod is part of the node")
		}
	}
}

// security judges what a container may do. What a container says counts before what its pod says.
func (r *run) security(c container) {
	if text(child(c.pods.spec(), "os"), "name") == "windows" {
		return
	}
	own, pod := child(c.fields, "securityContext"), child(c.pods.spec(), "securityContext")
	field := func(name string) string { return join(c.at, "securityContext", name) }
	if truth(own, "privileged") {
		r.add("privileged", field("privileged"), "is true: the container has all rights of its node; leave it out, and add the capabilities that it needs")
		return // the others would mean nothing
	}
	if !nonRoot(own, pod) {
		r.add("run-as-non-root", field("runAsNonRoot"), "is not true, here or for the pod; write true, or a runAsUser other than 0")
	}
	if allowed, said := own["allowPrivilegeEscalation"].(bool); allowed || !said {
		r.add("privilege-escalation", field("allowPrivilegeEscalation"), "is not false; write false")
	}
	dropped, _ := child(own, "capabilities")["drop"].([]any)
	if !slices.ContainsFunc(dropped, func(one any) bool { name, _ := one.(string); return strings.EqualFold(name, "ALL") }) {
		r.add("capabilities", field("capabilities.drop"), `does not list "ALL"; write drop: ["ALL"], and add what the container needs`)
	}
	if !truth(own, "readOnlyRootFilesystem") {
		r.add("read-only-root", field("readOnlyRootFilesystem"), "is not true; write true, and mount an emptyDir where the container writes")
	}
}

// nonRoot reports whether the nearest of the contexts that says something says that processes are not of root.
func nonRoot(contexts ...map[string]any) bool {
	var required, user any
	for _, context := range contexts {
		if required == nil {
			required = context["runAsNonRoot"]
		}
		if user == nil {
			user = context["runAsUser"]
		}
	}
	if required == true {
		return true
	}
	switch id := user.(type) {
	case int64:
		return id != 0
	case float64:
		return id != 0
	case int:
		return id != 0
	}
	return false
}
