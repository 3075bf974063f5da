package argo

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/configuration"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// foreseen are the settings that the last render of an Application declares, with what it was rendered for and from.
type foreseen struct {
	objects     settings.Objects
	project     string
	destination v1alpha1.ApplicationDestination
	repos       []string
}

// foresee takes settings that an Application declares, before they are applied: an installation that installs itself
// honours them from the first moment.
func (d *driver) foresee(a *app, r manifests.Request, result *manifests.Result) {
	obj := a.now()
	found, err := configuration.DeclaredSettings(result, d.options.Namespace, r.App.Namespace)
	if err != nil {
		d.observe(a.id.String(), "values of chart "+configuration.InstallationChart+": "+err.Error())
	}
	of := foreseen{objects: found, project: r.App.Project, destination: obj.Spec.Destination}
	of.destination.Namespace = r.App.Namespace
	for _, source := range r.Sources {
		of.repos = append(of.repos, source.Spec.RepoURL)
	}
	if d.foresees(a, of) {
		d.settingsChanged()
	}
}

// foresees takes what an Application declares of the settings, and reports whether others hold now. One that went meanwhile
// declares nothing.
func (e *Engine) foresees(a *app, of foreseen) bool {
	e.told.mu.Lock()
	defer e.told.mu.Unlock()
	if e.apps.get(a.id) != a {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.foreseen = of
	return e.settings.Chart(a.id, e.permittedAhead(a))
}

// permittedAhead are the settings of an Application that count before they are applied. The settings that are there decide:
// what is only declared has no say in whether it counts. The caller holds the lock.
func (e *Engine) permittedAhead(a *app) settings.Objects {
	if len(a.foreseen.objects.ConfigMaps) == 0 {
		return settings.Objects{}
	}
	now := e.settings.Live()
	return a.declaration.ahead(e.projects.By(now, a.obj.Spec.Project), now, e.options.Namespace)
}

// ahead are the settings of an Application that it may write itself, in the cluster and the namespace of the installation, by
// the project and the settings. Anything else counts once it is there.
func (s declaration) ahead(project *policy.Project, now settings.Settings, installation string) settings.Objects {
	of, obj := s.foreseen, s.obj
	if obj.Namespace != installation || obj.DeletionTimestamp != nil || of.project != obj.Spec.Project || of.destination != obj.Spec.Destination ||
		len(policy.Validate(obj, project, now, installation)) > 0 {
		return settings.Objects{}
	}
	for _, repo := range of.repos {
		if project.PermitsSource(repo) != nil {
			return settings.Objects{}
		}
	}
	if verify(project, now.Keys, s.origins) != nil {
		return settings.Objects{}
	}
	destination, err := policy.Destination(obj.Spec.Destination, now)
	if err != nil || destination.Server != settings.InClusterServer {
		return settings.Objects{}
	}
	if account, err := project.Account(obj, destination, now.Impersonation); err != nil || account != "" {
		// What an account may do is for the API server to say.
		return settings.Objects{}
	}
	g := gate{project: project, destination: destination, resources: now.Resources}
	objects := of.objects
	objects.ConfigMaps = slices.DeleteFunc(slices.Clone(objects.ConfigMaps), func(m corev1.ConfigMap) bool {
		return g.allows(policy.Object{Kind: "ConfigMap", Namespace: installation, Name: m.Name, Namespaced: true}) != nil
	})
	return objects
}
