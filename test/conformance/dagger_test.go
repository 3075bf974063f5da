package conformance

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/rbac"
)

// gap is between the parts of a command of the original, whose template literals kept their indentation.
const gap = "                "

func daggerChart(scope chart.Scope, _ struct{}) {
	every := []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	role := rbac.Role(scope, "role", rbac.Props{Name: "argo-workflow-role"},
		rbac.Allow("", []string{"pods", "pods/exec", "pods/log"}, every...), rbac.AllowRead("", "configmaps"),
		rbac.Allow("", []string{"persistentvolumeclaims"}, "create", "delete", "get", "list", "update", "watch"),
		rbac.Allow("argoproj.io", []string{
			"workflows", "workflows/finalizers", "workflowtasksets", "workflowtasksets/finalizers", "workflowtemplates", "workflowtemplaterefs",
		}, every...))
	rbac.RoleBinding(scope, "binding", rbac.Props{Name: "argo-workflow-binding"}, rbac.ToRole(role.Name()), rbac.Account("argo", "argo-workflow"))
	dagger(scope, "build", "run build --push {{inputs.parameters.registry}}/{{inputs.parameters.image-name}}:{{workflow.name}}", []corev1.EnvVar{cloudToken()},
		parameter("repo-url", "", "Git repository URL"), parameter("branch", "main", "Git branch to build"),
		parameter("image-name", "", "Docker image name to build"), parameter("registry", "localhost:5000", "Container registry URL"))
	dagger(scope, "test", "run {{inputs.parameters.test-command}}", nil,
		parameter("repo-url", "", "Git repository URL"), parameter("branch", "main", "Git branch to test"),
		parameter("test-command", "test", "Dagger command to run tests"))
	backstageBuild(scope)
}

// dagger is a template of one container that clones a repository and runs dagger in it.
func dagger(scope chart.Scope, name, command string, env []corev1.EnvVar, inputs ...workflow.Parameter) {
	container := shell("registry.dagger.io/dagger:latest", "git clone {{inputs.parameters.repo-url}} /workspace &&"+gap+" cd /workspace &&"+gap+
		" git checkout {{inputs.parameters.branch}} &&"+gap+" dagger "+command, "dagger-engine", "/var/run/docker.sock")
	container.Env = env
	template := workflow.Template{Name: "dagger-" + name, Container: container, Inputs: workflow.Inputs{Parameters: inputs}}
	template.Volumes = []corev1.Volume{engine()}
	workflowTemplate(scope, "dagger-"+name+"-template", workflow.WorkflowSpec{Entrypoint: template.Name, Templates: []workflow.Template{template}})
}

func workflowTemplate(scope chart.Scope, name string, spec workflow.WorkflowSpec) *chart.Object {
	spec.ServiceAccountName = "argo-workflow"
	o := chart.Add(scope, name, &workflow.WorkflowTemplate{Spec: spec, ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: labels("component", "workflow-template", "name", name, "part-of", "dagger"),
	}})
	for i, template := range spec.Templates {
		if template.Container != nil { // containers of workflows need no name, and the type of Kubernetes always has one
			o.Patch(chart.JSONPatch{{Op: "remove", Path: fmt.Sprintf("/spec/templates/%d/container/name", i)}})
		}
	}
	return o
}

// shell is a container that runs a line, with volumes by name and path.
func shell(image, line string, mounts ...string) *corev1.Container {
	c := &corev1.Container{Image: image, Command: []string{"sh", "-c"}, Args: []string{line}}
	for i := 0; i < len(mounts); i += 2 {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: mounts[i], MountPath: mounts[i+1]})
	}
	return c
}

// engine is the socket of the engine on the node.
func engine() corev1.Volume {
	return corev1.Volume{Name: "dagger-engine", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/var/run/docker.sock", Type: to(corev1.HostPathSocket)},
	}}
}

func cloudToken() corev1.EnvVar {
	return corev1.EnvVar{Name: "DAGGER_CLOUD_TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "dagger-cloud-token"}, Key: "token", Optional: to(true),
	}}}
}

// parameter is an input with what it is by default, and what it is for.
func parameter(name, byDefault, description string) workflow.Parameter {
	p := workflow.Parameter{Name: name}
	if byDefault != "" {
		p.Default = to(workflow.AnyString(byDefault))
	}
	if description != "" {
		p.Description = to(workflow.AnyString(description))
	}
	return p
}

func inputs(names ...string) workflow.Inputs {
	var all workflow.Inputs
	for _, name := range names {
		all.Parameters = append(all.Parameters, parameter(name, "", ""))
	}
	return all
}

// task is a step of a graph, with the values of its inputs.
func task(name, template string, after []string, values ...string) workflow.DAGTask {
	t := workflow.DAGTask{Dependencies: after}
	t.Name, t.Template = name, template
	for i := 0; i < len(values); i += 2 {
		t.Arguments.Parameters = append(t.Arguments.Parameters, workflow.Parameter{Name: values[i], Value: to(workflow.AnyString(values[i+1]))})
	}
	return t
}

// backstageBuild builds the portal and deploys it.
func backstageBuild(scope chart.Scope) {
	const registry, tag = "{{inputs.parameters.registry}}", "{{inputs.parameters.image-tag}}"
	graph := workflow.Template{Name: "backstage-build-deploy", Inputs: workflow.Inputs{Parameters: []workflow.Parameter{
		parameter("git-url", "https://gitea.cnoe.localtest.me:8443/giteaadmin/backstage-cnoe.git", ""), parameter("branch", "main", ""),
		parameter("registry", "localhost:5000", ""), parameter("image-tag", "latest", ""),
	}}}
	graph.DAG = &workflow.DAGTemplate{Tasks: []workflow.DAGTask{
		task("clone-repo", "git-clone", nil, "repo-url", "{{inputs.parameters.git-url}}", "branch", "{{inputs.parameters.branch}}"),
		task("build-image", "dagger-build-backstage", []string{"clone-repo"}, "registry", registry, "image-tag", tag),
		task("deploy-to-kind", "kubectl-apply", []string{"build-image"}, "image", registry+"/backstage:"+tag),
	}}
	spec := workflow.WorkflowSpec{Entrypoint: graph.Name, Templates: []workflow.Template{
		graph,
		{Name: "git-clone", Inputs: inputs("repo-url", "branch"), Container: shell("alpine/git:latest",
			"git clone {{inputs.parameters.repo-url}} /workspace && cd /workspace && git checkout {{inputs.parameters.branch}}", "workspace", "/workspace")},
		{Name: "dagger-build-backstage", Inputs: inputs("registry", "image-tag"), Container: shell("registry.dagger.io/dagger:latest",
			"cd /workspace &&"+gap+" dagger run build --dockerfile=./Dockerfile"+gap+" --push "+registry+"/backstage:"+tag,
			"workspace", "/workspace", "dagger-engine", "/var/run/docker.sock")},
		{Name: "kubectl-apply", Inputs: inputs("image"), Container: shell("bitnami/kubectl:latest",
			"kubectl set image deployment/backstage backstage={{inputs.parameters.image}} -n backstage")},
	}}
	spec.Volumes = []corev1.Volume{engine()}
	spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim("workspace", "1Gi")}
	o := workflowTemplate(scope, "dagger-backstage-build-template", spec)
	// The original has null as the size of the claim, which an API server refuses.
	replace(o, "/spec/volumeClaimTemplates/0/spec/resources/requests/storage", nil)
}
