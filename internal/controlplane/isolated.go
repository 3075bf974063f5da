package controlplane

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/endpoints/request"
)

// calls are the requests by which an API server connects to what an object names: the address of a pod, a Service or a node.
var calls = []string{"attach", "exec", "log", "portforward", "proxy"}

// isolated refuses requests that have the API server connect somewhere. What would answer in a cluster is simulated here, so that anything
// that did answer would be of the machine or of its network, which those who write the objects of an isolated control plane have no say in.
func isolated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, known := request.RequestInfoFrom(r.Context())
		if known && info.IsResourceRequest && info.APIGroup == "" && slices.Contains(calls, info.Subresource) {
			http.Error(w, fmt.Sprintf("%s/%s is not served: pods, Services and nodes are simulated, and this cluster calls nothing outside", info.Resource, info.Subresource), http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}
