package steps

import "context"

// Sync is what the driver does to Applications of Argo CD: it checks that each one has authorized the Stage, has it synced, waits for the
// operation, and observes its health from then on.
type Sync struct {
	// Stage is who needs the authorization, as PROJECT:STAGE.
	Stage string `json:"stage"`
	// Apps are the Applications.
	Apps []App `json:"apps"`
}

// App is an Application, or those with some labels, and what is changed in its sources.
type App struct {
	Name      string       `json:"name,omitempty"`
	Namespace string       `json:"namespace,omitempty"`
	Selector  *AppSelector `json:"selector,omitempty"`
	Sources   []AppSource  `json:"sources,omitempty"`
}

// AppSelector selects Applications by labels.
type AppSelector struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// AppSource is what is changed in the source with this repository and chart.
type AppSource struct {
	RepoURL              string `json:"repoURL"`
	Chart                string `json:"chart,omitempty"`
	DesiredRevision      string `json:"desiredRevision,omitempty"`
	UpdateTargetRevision bool   `json:"updateTargetRevision,omitempty"`
	Kustomize            *struct {
		Images []KustomizeImage `json:"images"`
	} `json:"kustomize,omitempty"`
	Helm *struct {
		Images []HelmImage `json:"images"`
	} `json:"helm,omitempty"`
}

// KustomizeImage is an image that replaces one of the manifests.
type KustomizeImage struct {
	RepoURL string `json:"repoURL"`
	Tag     string `json:"tag,omitempty"`
	Digest  string `json:"digest,omitempty"`
	NewName string `json:"newName,omitempty"`
}

// HelmImage is a value of a chart.
type HelmImage struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type argocdConfig struct {
	Apps []App `json:"apps"`
}

// argocd reads what is to be done; the driver does it.
func (s *step) argocd(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[argocdConfig](data)
	if err != nil {
		return nil, err
	}
	if len(config.Apps) == 0 {
		return nil, fail("apps: there are none")
	}
	for i := range config.Apps {
		app := &config.Apps[i]
		if (app.Name == "") == (app.Selector == nil || len(app.Selector.MatchLabels) == 0) {
			return nil, fail("apps[%d]: exactly one of name and selector has to be set", i)
		}
		if app.Namespace == "" {
			app.Namespace = "argocd"
		}
		for j, source := range app.Sources {
			if source.RepoURL == "" {
				return nil, fail("apps[%d].sources[%d].repoURL: it is empty", i, j)
			}
		}
	}
	s.sync = &Sync{Stage: s.work.Stage, Apps: config.Apps}
	return nil, nil
}
