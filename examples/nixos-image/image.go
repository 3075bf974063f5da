package main

import (
	_ "embed"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
)

// What the image is made of. The Build takes the files from a ConfigMap, so that a change of one has another image built.
var (
	//go:embed image/nix/image.nix
	recipeFile string
	//go:embed image/nix/disk.sh
	builderFile string
	//go:embed image/nix/configuration.nix
	configurationFile string
)

// imageSecret is the Secret that a machine takes its image from, and the key in it.
type imageSecret struct{ name, key string }

// describeImage is what builds the image, what that may do, and the Secret with the number of the image.
func describeImage(c *chart.Chart) imageSecret {
	files := chart.Add(c, "files", &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "nixos"},
		Data:       map[string]string{"image.nix": recipeFile, "disk.sh": builderFile, "configuration.nix": configurationFile},
	})
	written := "nixos-image"
	account := describeRights(c, written)
	template := chart.Add(c, "template", &workflow.WorkflowTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "nixos-image"}, Spec: imageWorkflow(account),
	}).Patch(chart.JSONPatch{
		// Containers of Go have a name, scripts of workflows need none.
		{Op: "remove", Path: "/spec/templates/1/script/name"}, {Op: "remove", Path: "/spec/templates/2/script/name"},
	})
	input := func(name, file string) v1alpha1.Parameter {
		return v1alpha1.Parameter{Name: name, ValueFrom: &v1alpha1.ValueFrom{ConfigMapKeyRef: &v1alpha1.KeyRef{Name: files.Name(), Key: file}}}
	}
	// One image per content of its inputs. To delete the Secret is to have it built again.
	chart.Add(c, "build", &v1alpha1.Build{
		ObjectMeta: metav1.ObjectMeta{Name: "nixos"},
		Spec: v1alpha1.BuildSpec{
			WorkflowTemplateRef: &workflow.WorkflowTemplateRef{Name: template.Name()},
			ServiceAccountName:  account,
			Inputs: v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{
				input("recipe", "image.nix"), input("builder", "disk.sh"), input("configuration", "configuration.nix"),
			}},
			Image: &v1alpha1.ImageOutput{URL: "{{outputs.parameters.url}}", Regions: []string{region}},
			Outputs: []v1alpha1.Output{{Secret: v1alpha1.SecretOutput{
				Name: written, Public: []string{"image", "name"},
				Keys: map[string]string{"image": "{{image.id}}", "name": "{{image.name}}", "url": "{{image.url}}", "builtBy": "{{outputs.parameters.by}}"},
			}}},
			// On Mondays; the previous image stays until the new one is there.
			Schedule: &v1alpha1.Schedule{Cron: "0 3 * * 1"},
			GC:       &v1alpha1.GC{KeepImages: of(int32(3)), MinAge: &metav1.Duration{Duration: 24 * time.Hour}},
		},
	})
	connection := imageSecret{name: "nixos-connection", key: "image"}
	chart.Add(c, "reader", reader("nixos-image", connection.name, secretRef{namespace, written}, key{"image", connection.key}))
	return connection
}

// describeRights is what the Build and its runs may do, and their account. Nothing of it is done with the rights of Headgate.
func describeRights(c *chart.Chart, secret string) (account string) {
	builder := metav1.ObjectMeta{Name: "builder"}
	allow := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	secrets := allow("", "secrets", "get", "patch")
	secrets.ResourceNames = []string{secret, bucket}
	chart.Add(c, "account", &corev1.ServiceAccount{ObjectMeta: builder})
	chart.Add(c, "role", &rbacv1.Role{ObjectMeta: builder, Rules: []rbacv1.PolicyRule{
		allow("argoproj.io", "workflows", "create", "patch", "delete"),
		allow("argoproj.io", "workflowtemplates", "get"),
		allow("custom.digitalocean.m.crossplane.io", "images", "get", "list", "create", "patch", "delete"),
		allow("", "configmaps", "get"),
		secrets,
		allow("", "secrets", "create"),
	}})
	chart.Add(c, "binding", &rbacv1.RoleBinding{
		ObjectMeta: builder, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: builder.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: builder.Name, Namespace: namespace}},
	})
	return builder.Name
}
