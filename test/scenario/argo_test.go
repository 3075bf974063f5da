package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/kit"
)

// argoNamespace is that of the installation that serves the Applications of all scripts.
const argoNamespace = "argocd"

// login has the Applications of all scripts sign in at the Git server.
func (w *world) login(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(w.kit.Config)
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Secrets(argoNamespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "scripts", Labels: map[string]string{"argocd.argoproj.io/secret-type": "repo-creds"}},
		StringData: map[string]string{"url": w.kit.Git.Base(), "username": kit.User, "password": kit.Token},
	}, metav1.CreateOptions{})
	return err
}

// TestArgoSettings runs scripts that change settings of the whole installation: one after the other, with a system of
// their own. Each puts back what it changed.
func TestArgoSettings(t *testing.T) {
	t.Parallel()
	newWorld(t).inTurn(t, "testdata/argo/settings/*.txtar")
}

// app makes an Application of a directory of the script's repository, whose name begins with that of the script's
// namespace: "app NAME PATH [SPEC]" with more of its spec as JSON.
func (w *world) app(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) == 2 || len(args) == 3, "app NAME PATH [JSON]")
	spec := map[string]any{
		"project":     "default",
		"source":      map[string]any{"repoURL": ts.Getenv("URL"), "targetRevision": "main", "path": args[1]},
		"destination": map[string]any{"server": "https://kubernetes.default.svc", "namespace": ts.Getenv("NS")},
	}
	if len(args) == 3 {
		ts.Check(json.Unmarshal([]byte(args[2]), &spec))
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": ts.Getenv("NS") + "-" + args[0], "namespace": argoNamespace}, "spec": spec,
	})
	ts.Check(err)
	ts.Check(w.put(string(text)))
}

// tearDownApps deletes the ApplicationSets and the Applications of a script, and nothing of what they hold.
func (w *world) tearDownApps(name string) {
	w.tearDownKind("ApplicationSet", name)
	w.tearDownKind("Application", name)
}

func (w *world) tearDownKind(kind, name string) {
	r, _, err := w.resource(kind)
	if err != nil {
		return
	}
	ctx := context.Background()
	apps := w.client.Resource(r.Resource).Namespace(argoNamespace)
	list, err := apps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for i := range list.Items {
		if u := &list.Items[i]; strings.HasPrefix(u.GetName(), name+"-") {
			_, _ = apps.Patch(ctx, u.GetName(), "application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			_ = apps.Delete(ctx, u.GetName(), metav1.DeleteOptions{})
		}
	}
}

// told is what an Application says of itself, for a wait for it that was in vain.
func told(u *unstructured.Unstructured) string {
	if u.GetKind() != "Application" && u.GetKind() != "ApplicationSet" {
		return ""
	}
	text := ""
	for _, path := range []string{"status.sync.status", "status.health", "status.conditions", "status.operationState", "status.resources", "status.applicationStatus", "metadata.annotations"} {
		text += "\n" + path + ": " + field(u, path)
	}
	return text
}
