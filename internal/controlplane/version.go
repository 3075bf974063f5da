package controlplane

import (
	"encoding/json"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	apiversion "k8s.io/apimachinery/pkg/version"
)

// kubernetesVersion is the version of the Kubernetes that was compiled in, as the build recorded it.
// The libraries themselves learn theirs from the linker flags of an official build only.
func kubernetesVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "k8s.io/kubernetes" {
				return dep.Version
			}
		}
	}
	return "v1.36.3"
}

// withVersion answers the question for the server's version.
func withVersion(next http.Handler) http.Handler {
	v := kubernetesVersion()
	parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	answer, err := json.MarshalIndent(apiversion.Info{
		Major: parts[0], Minor: parts[len(parts)-2], GitVersion: v, GitTreeState: "clean",
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}, "", "  ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || strings.TrimSuffix(r.URL.Path, "/") != "/version" || err != nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
}
