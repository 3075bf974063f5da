package manifests

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// buildFlags are the options of the command kustomize build that affect its output.
type buildFlags struct {
	// helm has charts inflated, for a version of Kubernetes and what it serves.
	helm        bool
	kubeVersion string
	apiVersions []string
	// notes are options that mean nothing here.
	notes []string
}

// parseFlags reads options as the command does. What would run programs is refused.
func parseFlags(text string) (buildFlags, error) {
	var out buildFlags
	flags := pflag.NewFlagSet("kustomize build", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&out.helm, "enable-helm", false, "")
	flags.StringVar(&out.kubeVersion, "helm-kube-version", "", "")
	flags.StringArrayVar(&out.apiVersions, "helm-api-versions", nil, "")
	restrictor := flags.String("load-restrictor", "", "")
	flags.StringVar(restrictor, "load_restrictor", "", "")
	refused := map[string]string{
		"enable-alpha-plugins": "plugins of kustomize are not run",
		"enable-exec":          "programs are not run",
		"enable-star":          "Starlark is not run",
		"network":              "containers are not run",
		"as-current-user":      "containers are not run",
	}
	for name := range refused {
		flags.Bool(name, false, "")
	}
	ignored := map[string]string{
		"helm-command": "charts are inflated in process",
		"helm-debug":   "charts are inflated in process",
		"reorder":      "the order of objects is that of the sync",
		"output":       "objects are not written to files",
		"network-name": "containers are not run",
		"env":          "functions are not run",
		"mount":        "functions are not run",
		"stack-trace":  "it only affects errors of the command",
	}
	for name := range ignored {
		switch name {
		case "helm-debug", "stack-trace":
			flags.Bool(name, false, "")
		case "output":
			flags.StringP(name, "o", "", "")
		case "env":
			flags.StringArrayP(name, "e", nil, "")
		default:
			flags.String(name, "", "")
		}
	}
	if err := flags.Parse(strings.Fields(text)); err != nil {
		return out, fmt.Errorf("%q: %w", text, err)
	}
	if rest := flags.Args(); len(rest) > 0 {
		return out, fmt.Errorf("%q: unknown option %q", text, rest[0])
	}
	switch *restrictor {
	case "", "LoadRestrictionsNone", "none", "LoadRestrictionsRootOnly", "rootOnly":
	default:
		return out, fmt.Errorf("%q: --load-restrictor is neither LoadRestrictionsNone nor LoadRestrictionsRootOnly", text)
	}
	var errs []error
	flags.Visit(func(f *pflag.Flag) {
		if why, is := refused[f.Name]; is && f.Value.String() == "true" {
			errs = append(errs, fmt.Errorf("--%s: %s", f.Name, why))
		}
		if why, is := ignored[f.Name]; is {
			out.notes = append(out.notes, fmt.Sprintf("--%s: %s", f.Name, why))
		}
	})
	return out, errors.Join(errs...)
}
