package workflow

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// settingsName is the ConfigMap of the upstream's controller.
const settingsName = "workflow-controller-configmap"

// unread names the settings of the upstream's controller that would change what runs. They are not read: anyone who can create a ConfigMap in any namespace would
// set them, as it is unknown which one was that of the controller.
func (p *part) unread(ctx context.Context) {
	all, err := p.kube.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + settingsName})
	if err != nil {
		return // not every account may, and nothing depends on it
	}
	for i := range all.Items {
		if names := settingsOf(all.Items[i].Data); len(names) > 0 {
			p.Problem("ConfigMap "+all.Items[i].Namespace+"/"+settingsName,
				strings.Join(names, ", ")+" of Argo Workflows are not read: declare what runs have in common in WorkflowTemplates, and restrict the creation of Workflows by roles or an admission policy")
		}
	}
}

// settingsOf are the settings that have an effect on runs, in either form of the ConfigMap: a key for each, or all of them below config.
func settingsOf(data map[string]string) []string {
	set := map[string]bool{}
	for name := range data {
		set[name] = true
	}
	nested := map[string]any{}
	if err := yaml.Unmarshal([]byte(data["config"]), &nested); err == nil {
		for name := range nested {
			set[name] = true
		}
	}
	return slices.DeleteFunc([]string{
		"artifactRepository", "executor", "instanceID", "mainContainer", "namespaceParallelism", "parallelism", "persistence", "podGCDeleteDelayDuration", "retentionPolicy",
		"synchronization", "workflowDefaults", "workflowRestrictions",
	}, func(name string) bool { return !set[name] })
}
