package inspect

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/idp"
	"github.com/headgate-dev/headgate/internal/idp/deploy"
	"github.com/headgate-dev/headgate/internal/progress"
)

// packages are the objects that packages declare, as the cluster has them.
func packages(ctx context.Context, g *console.Globals, client dynamic.Interface, namespace string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, k := range g.Kinds(func(k dialect.Kind) bool { return deploy.Declares(k.GroupKind) }) {
		list, err := k.List(ctx, client, namespace, true)
		if err != nil {
			return nil, err
		}
		for _, u := range list {
			if u.GetLabels()[idp.PackageNameLabel] != "" {
				all = append(all, u)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, nil
}

// getPackages lists packages with their health.
func getPackages(ctx context.Context, o getOptions) error {
	client, err := o.Client()
	if err != nil {
		return err
	}
	o.clusters = o.Clusters(ctx, client)
	if err := o.clusters.Check(o.cluster); err != nil {
		return err
	}
	list, err := packages(ctx, o.Globals, client, o.namespace)
	if err != nil {
		return err
	}
	name := cmp.Or(o.name, o.pkg)
	list = slices.DeleteFunc(list, func(u *unstructured.Unstructured) bool {
		return name != "" && u.GetLabels()[idp.PackageNameLabel] != name
	})
	if name != "" && len(list) == 0 {
		return console.Hint(fmt.Errorf("package %q does not exist", name), "headgate get packages")
	}
	list = slices.DeleteFunc(list, func(u *unstructured.Unstructured) bool { return o.cluster != "" && o.clusters.Of(u) != o.cluster })
	if o.notReady {
		list = unready(o.Globals, list)
	}
	if !o.tabular() {
		err = console.PrintObjects(o.IO, o.output, list)
	} else {
		err = printPackages(o, list)
	}
	if err == nil && o.notReady && len(list) > 0 {
		return console.ErrNo
	}
	return err
}

func printPackages(o getOptions, list []*unstructured.Unstructured) error {
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	several := o.clusters.Several(list)
	row := func(name, cluster string, columns ...string) {
		if several {
			columns = append([]string{cluster}, columns...)
		}
		fmt.Fprintln(w, name+"\t"+strings.Join(columns, "\t"))
	}
	row("NAME", "CLUSTER", "KIND", "NAMESPACE", "SYNC", "HEALTH", "READY", "FROM", "MESSAGE")
	for _, u := range list {
		s := o.Catalogue.StateOf(u)
		if s.Manual {
			s.Ready = "Manual"
		}
		sync, _, _ := unstructured.NestedString(u.Object, "status", "sync", "status")
		health, _, _ := unstructured.NestedString(u.Object, "status", "health", "status")
		row(u.GetName(), o.clusters.Of(u),
			u.GetKind(), u.GetNamespace(), cmp.Or(sync, "-"), cmp.Or(health, "-"), s.Ready,
			cmp.Or(u.GetAnnotations()[deploy.FileAnnotation], "-"), console.OneLine(progress.Short(s.Message)))
	}
	return w.Flush()
}

// packageSecret is a Secret for people, in the shape that idpbuilder prints.
type packageSecret struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	IsCore      bool              `json:"isCore"`
	PackageName string            `json:"packageName,omitempty"`
	Username    string            `json:"username,omitempty"`
	Password    string            `json:"password,omitempty"`
	Token       string            `json:"token,omitempty"`
	Data        map[string]string `json:"data,omitempty"`
}

var secretsResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// coreSecrets are those that idpbuilder shows without a label, with their packages.
var coreSecrets = map[string]struct{ namespace, name string }{
	"argocd": {"argocd", "argocd-initial-admin-secret"}, "gitea": {deploy.GiteaNamespace, deploy.GiteaSecret},
}

// getSecrets prints the Secrets that packages have for people.
func getSecrets(ctx context.Context, o getOptions) error {
	client, err := o.Client()
	if err != nil {
		return err
	}
	pkg := cmp.Or(o.pkg, o.name)
	found, err := secretsOf(ctx, client, pkg)
	if err != nil {
		return err
	}
	if o.namespace != "" {
		found = slices.DeleteFunc(found, func(s packageSecret) bool { return s.Namespace != o.namespace })
	}
	if pkg != "" && len(found) == 0 {
		return console.Hint(fmt.Errorf("package %q has no Secret with the label %s=true", pkg, deploy.CLISecretLabel), "headgate get secrets")
	}
	switch o.output {
	case "json":
		encoder := json.NewEncoder(o.IO.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(found)
	case "yaml":
		data, err := yaml.Marshal(found)
		if err == nil {
			_, err = o.IO.Out.Write(data)
		}
		return err
	case "", "table":
		return printSecrets(o, found)
	}
	return fmt.Errorf("-o %s: it is not one of json, yaml, table", o.output)
}

func printSecrets(o getOptions, found []packageSecret) error {
	w := tabwriter.NewWriter(o.IO.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tNAMESPACE\tPACKAGE\tUSERNAME\tPASSWORD\tTOKEN\tDATA")
	for _, s := range found {
		var data []string
		for _, key := range slices.Sorted(maps.Keys(s.Data)) {
			data = append(data, key+"="+s.Data[key])
		}
		columns := []string{s.Name, s.Namespace, s.PackageName, s.Username, s.Password, s.Token, strings.Join(data, " ")}
		for i, column := range columns {
			// What a package writes must not command the terminal.
			columns[i] = strings.Map(func(r rune) rune {
				if unicode.IsControl(r) {
					return ' '
				}
				return r
			}, column)
		}
		fmt.Fprintln(w, strings.Join(columns, "\t"))
	}
	return w.Flush()
}

// secretsOf are the Secrets of all packages, or of one.
func secretsOf(ctx context.Context, client dynamic.Interface, pkg string) ([]packageSecret, error) {
	found := []packageSecret{}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(coreSecrets)) {
		if pkg != "" && pkg != name {
			continue
		}
		at := coreSecrets[name]
		u, err := client.Resource(secretsResource).Namespace(at.namespace).Get(ctx, at.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, console.Unreachable(fmt.Errorf("reading the Secret %s/%s: %w", at.namespace, at.name, err))
		}
		seen[at.namespace+"/"+at.name] = true
		one := secretOf(u)
		one.IsCore, one.PackageName = true, name
		found = append(found, one)
	}
	selector := deploy.CLISecretLabel + "=true"
	if pkg != "" {
		selector += "," + idp.PackageNameLabel + "=" + pkg
	}
	list, err := client.Resource(secretsResource).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, console.Unreachable(fmt.Errorf("listing Secrets: %w", err))
	}
	for i := range list.Items {
		if u := &list.Items[i]; !seen[u.GetNamespace()+"/"+u.GetName()] {
			found = append(found, secretOf(u))
		}
	}
	return found, nil
}

// secretOf is a Secret as it is printed: a login, or all data where there is none.
func secretOf(u *unstructured.Unstructured) packageSecret {
	s := packageSecret{Name: u.GetName(), Namespace: u.GetNamespace(), PackageName: u.GetLabels()[idp.PackageNameLabel]}
	encoded, _, _ := unstructured.NestedStringMap(u.Object, "data")
	values := map[string]string{}
	for key, text := range encoded {
		if data, err := base64.StdEncoding.DecodeString(text); err == nil {
			values[key] = string(data)
		}
	}
	s.Username, s.Password, s.Token = values["username"], values["password"], values["token"]
	if s.Username == "" && s.Password == "" && s.Token == "" {
		s.Data = values
	}
	return s
}

// packageTarget is what why explains for package/NAME: the object of the package.
func packageTarget(ctx context.Context, g *console.Globals, client dynamic.Interface, target string) (string, string, error) {
	name := strings.TrimPrefix(target, packagePrefix)
	list, err := packages(ctx, g, client, metav1.NamespaceAll)
	if err != nil {
		return "", "", err
	}
	for _, u := range list {
		if u.GetName() != name {
			continue
		}
		kind, err := g.FindGroupKind(console.GroupKindOf(u))
		if err != nil {
			return "", "", err
		}
		return kind.Aliases[0] + "/" + name, u.GetNamespace(), nil
	}
	return "", "", console.Hint(fmt.Errorf("package %q does not exist", name), "headgate get packages")
}

// packagePrefix begins the name of a package where kinds do others.
const packagePrefix = "package/"
