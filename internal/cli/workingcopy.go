package cli

import (
	"context"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/flux"
)

// workingCopy is the directory that an embedded cluster serves as a repository, empty when there is none on this machine.
func (d *differ) workingCopy(ctx context.Context) string {
	u, err := d.client.Resource(d.known(gitKind).resource).Namespace(flux.Namespace).Get(ctx, flux.System, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	dir := u.GetAnnotations()[flux.MadeFor]
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}
