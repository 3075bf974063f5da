package boot

import (
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// serveHarmless has External Secrets and promotions served without a flag on an embedded cluster, where nothing of them leaves this process.
// What would write to a vault, reach a registry or push to a repository elsewhere waits for the word of a person.
func (o *upOptions) serveHarmless() {
	if o.Real() || o.foreign() || len(o.serving.serve) > 0 {
		return
	}
	dirs := slices.Clone(o.packages)
	if o.served() {
		dirs = append(dirs, o.path)
	}
	d := declaredIn(dirs...)
	if of := secretsOf(o.Catalogue); of != nil && !of.Told && d.secrets && len(d.reaches[secretsGroup]) == 0 {
		of.Told = true
		o.harmless = append(o.harmless, secretsGroup+" is served: the stores of the repository are in its files")
	}
	if of := promotionsOf(o.Catalogue); of != nil && !of.Told && d.promotions && len(d.reaches[kargoGroup]) == 0 {
		of.Told, of.Analyses = true, true
		o.harmless = append(o.harmless, kargoGroup+" is served: its registries and repositories are those of this process")
	}
}

// worded are the groups that are served by a flag alone, with the flag, and the names of the charts that bring their controllers.
func (o *upOptions) worded() []wordedGroup {
	var all []wordedGroup
	if of := secretsOf(o.Catalogue); of != nil && !of.Told {
		all = append(all, wordedGroup{[]string{secretsGroup, generatorsGroup}, "--secrets " + storesWord + ", or --secrets FILE with values of your own", "external-secrets"})
	}
	if of := promotionsOf(o.Catalogue); of != nil && !of.Told {
		all = append(all, wordedGroup{[]string{kargoGroup}, "--promotions", "kargo"})
	}
	return all
}

type wordedGroup struct {
	groups      []string
	flag, chart string
}

// unserved are lines about the objects among some that are served by a flag alone, one for each group of them. Lacking is set if nothing else
// brings their kinds, so that they cannot become ready.
func (o *upOptions) unserved(objects []*unstructured.Unstructured) (lines []string, lacking bool) {
	for _, w := range o.worded() {
		kinds, brought := map[string]bool{}, false
		for _, object := range objects {
			if gvk := object.GroupVersionKind(); slices.Contains(w.groups, gvk.Group) {
				kinds[gvk.Kind] = true
			}
			brought = brought || brings(object, w)
		}
		if len(kinds) == 0 {
			continue
		}
		text := w.groups[0] + " (" + strings.Join(slices.Sorted(maps.Keys(kinds)), ", ") + ") is not served: "
		if brought {
			text += "its controller, which a chart installs, does not run here; "
		} else {
			lacking = true
		}
		lines = append(lines, text+"add "+w.flag)
	}
	return append(lines, o.otherwise(objects)...), lacking
}

// otherwise are lines about what is served in another way with a flag: resources of a cloud, and steps of Workflows that are containers.
func (o *upOptions) otherwise(objects []*unstructured.Unstructured) []string {
	var lines []string
	clouds, steps := map[string]bool{}, false
	for _, object := range objects {
		switch group := object.GroupVersionKind().Group; {
		case strings.HasSuffix(group, "digitalocean.crossplane.io") || strings.HasSuffix(group, "digitalocean.m.crossplane.io") || strings.HasSuffix(group, ".do.crossplane.io"):
			clouds[group] = true
		case group == argoGroup && strings.Contains(object.GetKind(), "Workflow"):
			steps = steps || contained(object.Object["spec"])
		}
	}
	if o.cloud == "" && len(clouds) > 0 {
		lines = append(lines, strings.Join(slices.Sorted(maps.Keys(clouds)), ", ")+" reach a real account, with its credentials: --cloud "+simulatedWord+" has one that costs nothing")
	}
	if o.localExec.mode == "" && steps {
		lines = append(lines, argoGroup+" (Workflow): steps that are containers or scripts do not run: add --"+localExecFlag)
	}
	return lines
}

// contained reports whether a template below a value is a container or a script.
func contained(value any) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, contained)
	case map[string]any:
		for key, below := range value {
			if _, is := below.(map[string]any); is && (key == "container" || key == "script" || key == "containerSet") || contained(below) {
				return true
			}
		}
	}
	return false
}

// brings reports whether an object defines kinds of a group, or installs the chart that does.
func brings(o *unstructured.Unstructured, w wordedGroup) bool {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, fields...)
		return value
	}
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return slices.Contains(w.groups, text("spec", "group"))
	case "HelmRelease":
		return path.Base(text("spec", "chart", "spec", "chart")) == w.chart || text("spec", "chartRef", "name") == w.chart
	case "OCIRepository":
		return path.Base(text("spec", "url")) == w.chart
	case "Application":
		if text("spec", "source", "chart") == w.chart {
			return true
		}
		sources, _, _ := unstructured.NestedSlice(o.Object, "spec", "sources")
		return slices.ContainsFunc(sources, func(s any) bool {
			fields, _ := s.(map[string]any)
			return fields["chart"] == w.chart
		})
	}
	return false
}

// objectsOf are those of units, with the objects that declare these.
func objectsOf(units []dialect.OfflineUnit) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, u := range units {
		all = append(all, u.Objects...)
	}
	return all
}
