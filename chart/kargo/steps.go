package kargo

import (
	"fmt"
	"path"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// Clone is a step that checks a branch of a repository out into a directory.
func Clone(repoURL, branch, dir string) v1alpha1.PromotionStep {
	return step("git-clone", v1alpha1.Config{
		"repoURL": repoURL, "checkout": []any{map[string]any{"branch": branch, "path": dir}},
	})
}

// UpdateJSON is a step that sets a value in a file of JSON. The key is the names on the way to it with dots between them.
func UpdateJSON(file, key, value string) v1alpha1.PromotionStep {
	return step("json-update", update(file, key, value))
}

// UpdateYAML is a step that sets a value in a file of YAML.
func UpdateYAML(file, key, value string) v1alpha1.PromotionStep {
	return step("yaml-update", update(file, key, value))
}

func update(file, key, value string) v1alpha1.Config {
	return v1alpha1.Config{"path": file, "updates": []any{map[string]any{"key": key, "value": value}}}
}

// Commit is a step that commits what changed in a directory.
func Commit(dir, message string) v1alpha1.PromotionStep {
	return step("git-commit", v1alpha1.Config{"path": dir, "message": message})
}

// Push is a step that pushes the commits of a directory to a branch.
func Push(dir, branch string) v1alpha1.PromotionStep {
	return step("git-push", v1alpha1.Config{"path": dir, "targetBranch": branch})
}

// Sync is a step that has Applications of Argo CD synced, in a namespace. Each needs the annotation
// kargo.akuity.io/authorized-stage with the stage, as PROJECT:STAGE.
func Sync(namespace string, applications ...string) v1alpha1.PromotionStep {
	var apps []any
	for _, name := range applications {
		apps = append(apps, map[string]any{"name": name, "namespace": namespace})
	}
	return step("argocd-update", v1alpha1.Config{"apps": apps})
}

func step(uses string, config v1alpha1.Config) v1alpha1.PromotionStep {
	return v1alpha1.PromotionStep{Uses: uses, Config: config}
}

// Tag is an expression: the tag of an image in the Freight that is promoted.
func Tag(repoURL string) string { return fmt.Sprintf("${{ imageFrom(%q).Tag }}", repoURL) }

// GitPipeline is the usual promotion: the tag of an image is committed to a file of a repository.
type GitPipeline struct {
	// RepoURL and Branch of the repository; the branch is main if empty.
	RepoURL, Branch string
	// File in the repository, of JSON, or of YAML if its name says so, and Key the place of the image in it.
	File, Key string
	// Image is the repository of the image; the file gets it with the tag.
	Image string
	// Message of the commit.
	Message string
	// Sync has Applications of the namespace argocd synced afterwards.
	Sync []string
}

// workspace is where a promotion has the repository.
const workspace = "./repo"

// Steps of the promotion.
func (g GitPipeline) Steps() []v1alpha1.PromotionStep {
	if g.Branch == "" {
		g.Branch = "main"
	}
	change := UpdateJSON
	if ext := path.Ext(g.File); ext == ".yaml" || ext == ".yml" {
		change = UpdateYAML
	}
	steps := []v1alpha1.PromotionStep{
		Clone(g.RepoURL, g.Branch, workspace),
		change(workspace+"/"+g.File, g.Key, g.Image+":"+Tag(g.Image)),
		Commit(workspace, g.Message),
		Push(workspace, g.Branch),
	}
	if len(g.Sync) > 0 {
		steps = append(steps, Sync("argocd", g.Sync...))
	}
	return steps
}
