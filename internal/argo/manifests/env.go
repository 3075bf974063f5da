package manifests

import (
	"os"
	"strings"
)

// buildEnv are the variables that fields of a source may name.
type buildEnv struct {
	values map[string]string
	// revised is set once a field named one that is about the revision.
	revised bool
}

// Lengths of the short forms of a revision.
const (
	shortRevision  = 7
	shortRevision8 = 8
)

func newEnv(app App, s *Source) *buildEnv {
	short := func(n int) string { return s.Revision[:min(n, len(s.Revision))] }
	return &buildEnv{values: map[string]string{
		"ARGOCD_APP_NAME":                   app.Name,
		"ARGOCD_APP_NAMESPACE":              app.Namespace,
		"ARGOCD_APP_PROJECT_NAME":           app.Project,
		"ARGOCD_APP_REVISION":               s.Revision,
		"ARGOCD_APP_REVISION_SHORT":         short(shortRevision),
		"ARGOCD_APP_REVISION_SHORT_8":       short(shortRevision8),
		"ARGOCD_APP_SOURCE_REPO_URL":        s.Spec.RepoURL,
		"ARGOCD_APP_SOURCE_PATH":            s.Spec.Path,
		"ARGOCD_APP_SOURCE_TARGET_REVISION": s.Spec.TargetRevision,
	}}
}

// expand puts the values of variables into a text: $NAME and ${NAME}. $$ is a dollar, and an unknown variable nothing.
func (e *buildEnv) expand(text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	return os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		if strings.HasPrefix(name, "ARGOCD_APP_REVISION") {
			e.revised = true
		}
		return e.values[name]
	})
}

// knows reports whether there is a variable.
func (e *buildEnv) knows(name string) bool {
	_, ok := e.values[name]
	return ok
}
