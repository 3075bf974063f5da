package v1alpha1

import (
	"testing"

	"github.com/headgate-dev/headgate/api/samples"
)

func TestRoundTrip(t *testing.T) {
	samples.RoundTrip(t, map[string]samples.Case{
		"Projects": {
			Reason: "what a Project says comes back as it was, and the samples have every field",
			File:   "testdata/projects.yaml", Kind: Project{},
		},
		"ProjectConfigs": {Reason: "so do policies and receivers", File: "testdata/projectconfigs.yaml", Kind: ProjectConfig{}},
		"Warehouses":     {Reason: "so do subscriptions, with fields of old and new versions", File: "testdata/warehouses.yaml", Kind: Warehouse{}},
		"Freight":        {Reason: "so does Freight, which has no spec", File: "testdata/freights.yaml", Kind: Freight{}},
		"Stages":         {Reason: "so do Stages, with steps of any configuration", File: "testdata/stages.yaml", Kind: Stage{}},
		"Promotions":     {Reason: "so do Promotions", File: "testdata/promotions.yaml", Kind: Promotion{}},
		"PromotionTasks": {Reason: "so do tasks", File: "testdata/promotiontasks.yaml", Kind: PromotionTask{}},
		"ClusterPromotionTasks": {
			Reason: "so do tasks of the cluster", File: "testdata/clusterpromotiontasks.yaml", Kind: ClusterPromotionTask{},
		},
	})
}

// Descriptions in Go have other values than JSON: numbers of any type, slices of strings.
func TestConfigCopy(t *testing.T) {
	config := Config{"count": 3, "paths": []any{"a", map[string]any{"b": 1}}, "labels": map[string]string{"c": "d"}}
	copied := config.DeepCopy()
	config["paths"].([]any)[1].(map[string]any)["b"] = 2
	if got := copied["paths"].([]any)[1].(map[string]any)["b"]; got != 1 {
		t.Errorf("a copy changes with what it was made of: %v", got)
	}
	if copied["count"] != 3 {
		t.Errorf("a number is lost: %v", copied["count"])
	}
}
