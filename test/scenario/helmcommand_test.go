package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
)

// helmCommand does by hand what the helm command does: "helm install NAME DIRECTORY [KEY=VALUE...]", "helm
// upgrade NAME DIRECTORY [KEY=VALUE...]", "helm rollback NAME", "helm uninstall NAME".
func (w *world) helmCommand(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2, "helm install|upgrade|rollback|uninstall NAME [DIRECTORY [KEY=VALUE...]]")
	verb, name, namespace := args[0], args[1], ts.Getenv("NS")
	settings := cli.New()
	settings.KubeConfig = w.kit.Plane.Kubeconfig()
	settings.SetNamespace(namespace)
	config := action.NewConfiguration()
	ts.Check(config.Init(settings.RESTClientGetter(), namespace, "secret"))
	switch verb {
	case "rollback":
		back := action.NewRollback(config)
		back.WaitStrategy, back.ServerSideApply = kube.HookOnlyStrategy, "auto"
		ts.Check(back.Run(name))
		return
	case "uninstall":
		un := action.NewUninstall(config)
		un.WaitStrategy = kube.HookOnlyStrategy
		_, err := un.Run(name)
		ts.Check(err)
		return
	}
	usage(ts, len(args) >= 3, "helm install|upgrade NAME DIRECTORY [KEY=VALUE...]")
	chart, err := loader.Load(ts.MkAbs(args[2]))
	ts.Check(err)
	values := map[string]any{}
	for _, pair := range args[3:] {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	switch verb {
	case "install":
		in := action.NewInstall(config)
		in.ReleaseName, in.Namespace, in.WaitStrategy = name, namespace, kube.HookOnlyStrategy
		_, err = in.RunWithContext(context.Background(), chart, values)
	case "upgrade":
		up := action.NewUpgrade(config)
		up.Namespace, up.WaitStrategy, up.ServerSideApply = namespace, kube.HookOnlyStrategy, "auto"
		up.ForceConflicts = true
		_, err = up.RunWithContext(context.Background(), name, chart, values)
	default:
		err = fmt.Errorf("helm %s is not known here", verb)
	}
	ts.Check(err)
}
