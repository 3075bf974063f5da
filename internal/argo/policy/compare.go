package policy

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

// CompareOptions say how an Application, or one object, is compared.
type CompareOptions struct {
	// ServerSide asks the API server what an apply would do; ServerSideSaid is true where the annotation says so or not.
	ServerSide, ServerSideSaid bool
	// IncludeWebhooks counts what webhooks would change as a difference.
	IncludeWebhooks bool
	// IgnoreExtraneous leaves an object that is in no source out of the sync status. It is pruned all the same.
	IgnoreExtraneous bool
	// Unknown are the unknown options; they are ignored.
	Unknown []string
}

// CompareOptionsOf reads the annotation of an Application or of an object. ServerSide is the one of the settings
// where the annotation does not say.
func CompareOptionsOf(object metav1.Object, serverSide bool) CompareOptions {
	o := CompareOptions{ServerSide: serverSide}
	for _, text := range annotated(object, v1alpha1.CompareOptionsAnnotation) {
		name, value, valued := strings.Cut(text, "=")
		read := false
		switch name {
		case "ServerSideDiff":
			read = flag(value, &o.ServerSide)
			o.ServerSideSaid = o.ServerSideSaid || read
		case "IncludeMutationWebhook":
			read = flag(value, &o.IncludeWebhooks)
		case "IgnoreExtraneous":
			if read = !valued; read {
				o.IgnoreExtraneous = true
			} else {
				read = flag(value, &o.IgnoreExtraneous)
			}
		}
		if !read {
			o.Unknown = append(o.Unknown, text)
		}
	}
	return o
}
