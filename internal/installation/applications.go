package installation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/argo"
)

// Kinds of Argo CD that say how they are.
const (
	application    = "Application"
	applicationSet = "ApplicationSet"
)

func is(u *unstructured.Unstructured, kind string) bool {
	return u.GetKind() == kind && u.GroupVersionKind().Group == argo.Group
}

// tally counts Applications.
type tally struct{ all, synced, healthy int }

func (t *tally) count(u *unstructured.Unstructured) {
	if !is(u, application) {
		return
	}
	t.all++
	if nested(u, "status", "sync", "status") == "Synced" {
		t.synced++
	}
	if nested(u, "status", "health", "status") == "Healthy" {
		t.healthy++
	}
}

// String is empty where there are no Applications.
func (t *tally) String() string {
	if t.all == 0 {
		return ""
	}
	return fmt.Sprintf("%d, %d of them synced, %d healthy", t.all, t.synced, t.healthy)
}

func nested(u *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(u.Object, path...)
	return text
}

// argoTrouble is the problem that an Application or an ApplicationSet reports. An Application without automated
// syncs may be out of sync: that is for its owner to decide.
func argoTrouble(u *unstructured.Unstructured) string {
	switch {
	case is(u, applicationSet):
		for _, c := range conditionsOf(u) {
			if c["type"] == "ErrorOccurred" && c["status"] == "True" {
				return fmt.Sprintf("%v: %v", c["reason"], c["message"])
			}
		}
		return ""
	case !is(u, application):
		return ""
	}
	for _, c := range conditionsOf(u) {
		if kind, _ := c["type"].(string); strings.HasSuffix(kind, "Error") {
			return fmt.Sprintf("%s: %v", kind, c["message"])
		}
	}
	if phase := nested(u, "status", "operationState", "phase"); phase == "Failed" || phase == "Error" {
		return fmt.Sprintf("its last sync is %s: %s", phase, nested(u, "status", "operationState", "message"))
	}
	_, automated, _ := unstructured.NestedMap(u.Object, "spec", "syncPolicy", "automated")
	if sync := nested(u, "status", "sync", "status"); sync != "Synced" && (sync != "OutOfSync" || automated) {
		return orUnknown(sync)
	}
	if health := nested(u, "status", "health", "status"); health != "Healthy" && health != "Suspended" {
		return strings.TrimSuffix(orUnknown(health)+": "+nested(u, "status", "health", "message"), ": ")
	}
	return ""
}

func orUnknown(text string) string {
	if text == "" {
		return "Unknown"
	}
	return text
}

// conditionsOf are the conditions of an object.
func conditionsOf(u *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var all []map[string]any
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			all = append(all, c)
		}
	}
	return all
}
