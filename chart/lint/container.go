package lint

import (
	"strings"
)

// container is one of some pods.
type container struct {
	pods   pods
	fields map[string]any
	at     string
	init   bool
}

// runs reports whether it is to run for as long as its pod does.
func (c container) runs() bool { return !c.pods.ends && !c.init }

func (r *run) container(c container) {
	r.image(c)
	r.resources(c)
	r.probes(c)
	r.security(c)
}

// image judges the tag of an image.
func (r *run) image(c container) {
	image := text(c.fields, "image")
	if image == "" || open(image) || strings.Contains(image, "@") {
		return // that there is none is a matter of schemas
	}
	last := image[strings.LastIndex(image, "/")+1:]
	_, tag, tagged := strings.Cut(last, ":")
	switch {
	case !tagged || tag == "":
		r.add("image-tag", join(c.at, "image"), `has no tag, which means "latest"; write `+strings.TrimSuffix(image, ":")+":VERSION or @sha256:DIGEST")
	case tag == "latest":
		r.add("image-latest", join(c.at, "image"), `has the tag "latest", which changes without a commit; write a version or a digest`)
	}
}

// resources judges requests and limits. A limit is a request as well if there is none; a LimitRange and the resources of the pod
// have defaults.
func (r *run) resources(c container) {
	own, pod := child(c.fields, "resources"), child(c.pods.spec(), "resources")
	defaults := r.tree.ranges[r.object.namespace()]
	has := func(what, resource string) bool {
		_, here := child(own, what)[resource]
		_, around := child(pod, what)[resource]
		return here || around || defaults[what+" "+resource]
	}
	for _, resource := range []string{"memory", "cpu"} {
		limited := has("limits", resource)
		if !limited {
			r.add(resource+"-limit", join(c.at, "resources.limits", resource), "is missing; write how much "+resource+" the container may use")
		}
		if !limited && !has("requests", resource) {
			r.add(resource+"-request", join(c.at, "resources.requests", resource), "is missing; write how much "+resource+" the container needs")
		}
	}
}

// probes judges how the kubelet learns whether a container is well.
func (r *run) probes(c container) {
	if !c.runs() {
		return
	}
	if c.fields["livenessProbe"] == nil {
		r.add("liveness-probe", join(c.at, "livenessProbe"), "is missing, so that the container is restarted only when it exits; write httpGet, tcpSocket, grpc or exec")
	}
	if ports, _ := c.fields["ports"].([]any); c.fields["readinessProbe"] == nil && len(ports) > 0 {
		r.add("readiness-probe", join(c.at, "readinessProbe"), "is missing, so that requests are sent before the container can answer; write httpGet, tcpSocket, grpc or exec")
	}
}
