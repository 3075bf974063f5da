package promote

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/promote/steps"
)

// sourced is the specification of an Application whose sources a step changes, and what its operation syncs.
type sourced struct {
	// change is what is merged into the specification; empty if nothing differs.
	change map[string]any
	// revision, or revisions where there are several sources, are those to sync; empty where the step names none.
	revision  string
	revisions []any
}

// sourcesOf applies what a step says of sources to an Application. Each has to match one of its sources.
func sourcesOf(app *unstructured.Unstructured, updates []steps.AppSource) (sourced, error) {
	all, several, err := unstructured.NestedSlice(app.Object, "spec", "sources")
	if err != nil {
		return sourced{}, denied{fmt.Errorf("Application %q: %w", app.GetName(), err)}
	}
	if !several || len(all) == 0 {
		one, _, err := unstructured.NestedMap(app.Object, "spec", "source")
		if err != nil {
			return sourced{}, denied{fmt.Errorf("Application %q: %w", app.GetName(), err)}
		}
		several, all = false, []any{one}
	}
	before := runtimeCopy(all)
	desired := make([]string, len(all))
	for i, u := range updates {
		at := slices.IndexFunc(all, func(item any) bool { return isSource(item, u) })
		if at < 0 {
			return sourced{}, denied{fmt.Errorf("sources[%d]: Application %q has no source %s", i, app.GetName(), strings.TrimSpace(u.RepoURL+" "+u.Chart))}
		}
		source, _ := all[at].(map[string]any)
		if err := update(source, u); err != nil {
			return sourced{}, denied{fmt.Errorf("sources[%d]: %w", i, err)}
		}
		desired[at] = u.DesiredRevision
	}
	var result sourced
	named := slices.ContainsFunc(desired, func(r string) bool { return r != "" })
	for i, item := range all {
		source, _ := item.(map[string]any)
		if desired[i] == "" {
			desired[i], _, _ = unstructured.NestedString(source, "targetRevision")
		}
		result.revisions = append(result.revisions, desired[i])
	}
	switch {
	case !named:
		result.revisions = nil
	case !several:
		result.revision, result.revisions = desired[0], nil
	}
	if fmt.Sprint(before) == fmt.Sprint(all) {
		return result, nil
	}
	if several {
		result.change = map[string]any{"sources": all}
	} else {
		result.change = map[string]any{"source": all[0]}
	}
	return result, nil
}

func runtimeCopy(all []any) []any {
	copied := make([]any, len(all))
	for i, item := range all {
		source, _ := item.(map[string]any)
		copied[i] = (&unstructured.Unstructured{Object: source}).DeepCopy().Object
	}
	return copied
}

func isSource(item any, u steps.AppSource) bool {
	source, _ := item.(map[string]any)
	repo, _, _ := unstructured.NestedString(source, "repoURL")
	chart, _, _ := unstructured.NestedString(source, "chart")
	return chart == u.Chart && plan.NormalizeGit(repo) == plan.NormalizeGit(u.RepoURL)
}

// update changes a source.
func update(source map[string]any, u steps.AppSource) error {
	if u.UpdateTargetRevision {
		if u.DesiredRevision == "" {
			return errors.New("updateTargetRevision needs desiredRevision")
		}
		source["targetRevision"] = u.DesiredRevision
	}
	if u.Kustomize != nil {
		images, _, err := unstructured.NestedStringSlice(source, "kustomize", "images")
		if err != nil {
			return err
		}
		for i, image := range u.Kustomize.Images {
			text, err := overrideOf(image)
			if err != nil {
				return fmt.Errorf("kustomize.images[%d]: %w", i, err)
			}
			images = slices.DeleteFunc(images, func(other string) bool { return overridden(other) == image.RepoURL })
			images = append(images, text)
		}
		if err := unstructured.SetNestedStringSlice(source, images, "kustomize", "images"); err != nil {
			return err
		}
	}
	if u.Helm == nil {
		return nil
	}
	parameters, _, err := unstructured.NestedSlice(source, "helm", "parameters")
	if err != nil {
		return err
	}
	for _, image := range u.Helm.Images {
		at := slices.IndexFunc(parameters, func(item any) bool {
			p, _ := item.(map[string]any)
			return p["name"] == image.Key
		})
		if at < 0 {
			parameters = append(parameters, map[string]any{"name": image.Key, "value": image.Value})
			continue
		}
		p, _ := parameters[at].(map[string]any)
		p = maps.Clone(p)
		p["value"] = image.Value
		parameters[at] = p
	}
	return unstructured.SetNestedSlice(source, parameters, "helm", "parameters")
}

// overrideOf is an image in the form of Argo CD: NAME[=NEW][:TAG][@DIGEST].
func overrideOf(image steps.KustomizeImage) (string, error) {
	switch {
	case image.RepoURL == "":
		return "", errors.New("repoURL is empty")
	case (image.Tag == "") == (image.Digest == ""):
		return "", errors.New("exactly one of tag and digest has to be set")
	}
	text := image.RepoURL
	if image.NewName != "" {
		text += "=" + image.NewName
	}
	if image.Digest != "" {
		return text + "@" + image.Digest, nil
	}
	return text + ":" + image.Tag, nil
}

// overridden is the name of the image that an override is about.
func overridden(text string) string {
	name, _, renamed := strings.Cut(text, "=")
	if renamed {
		return name
	}
	name, _, _ = strings.Cut(name, "@")
	if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
		name = name[:at]
	}
	return name
}
