package inspect

import (
	"context"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/flux/roots"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

// workingCopy is the directory that up serves as a repository, empty when there is none on this machine: that of the embedded cluster, or the one
// that the root of another cluster was made for.
func workingCopy(ctx context.Context, g *console.Globals, client dynamic.Interface) string {
	if dir := g.WorkingCopy(); dir != "" {
		return dir
	}
	ref, err := g.ParseReference("git/"+toolkit.System, toolkit.Namespace)
	if err != nil {
		return ""
	}
	u, err := ref.Client(client).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	dir := u.GetAnnotations()[roots.MadeFor]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}
