package helm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// Text renders a chart without a cluster as the command "helm template" prints it: documents in YAML with a comment
// "# Source: FILE" each, first the definitions unless they are skipped, then the objects, then the hooks unless
// these are disabled. Tests are among the hooks unless skipTests.
func Text(ctx context.Context, o TemplateOptions, skipTests bool) (string, error) {
	setUp()
	release, _, err := dryRun(ctx, o, o.CRDs != SkipCRDs)
	if err != nil {
		return "", fmt.Errorf("rendering release %s/%s with chart %s@%s: %w",
			o.Namespace, o.Name, o.Chart.Name(), o.Chart.Version(), o.Values.scrub(err))
	}
	var out strings.Builder
	fmt.Fprintln(&out, strings.TrimSpace(release.Manifest))
	if o.DisableHooks {
		return out.String(), nil
	}
	for _, h := range release.Hooks {
		if skipTests && slices.Contains(h.Events, releasev1.HookTest) {
			continue
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return out.String(), nil
}

// DefaultReleaseName is the name that "helm template" gives a release by default.
const DefaultReleaseName = "release-name"

// TemplatedName makes the name of a release of a template, as helm --name-template does.
func TemplatedName(template string) (string, error) {
	name, err := action.TemplateName(template)
	if err != nil {
		return "", fmt.Errorf("deriving a name from %q: %w", template, err)
	}
	return name, nil
}
