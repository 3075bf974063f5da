package argo

import (
	"errors"
	"slices"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/manifests"
)

// unknown writes a status that says what is unknown, as the upstream does. Of an Application that cannot be followed that is
// everything. Of one that could not be compared it is the sync of it and of its objects; its health is that of what it has,
// and Healthy when it has nothing. The caller holds the lock.
func (a *app) unknown(status *v1alpha1.ApplicationStatus) {
	invalid := len(a.invalid) > 0 || a.view.broken != nil && a.view.broken.Type == v1alpha1.ApplicationConditionInvalidSpecError
	failed := slices.ContainsFunc(status.Conditions, func(c v1alpha1.ApplicationCondition) bool {
		return c.Type == v1alpha1.ApplicationConditionComparisonError || c.Type == v1alpha1.ApplicationConditionUnknownError
	})
	switch {
	case invalid:
		// What it was before it was called Unknown tells whether that is news.
		status.Health = a.obj.Status.Health
		shown{Status: string(v1alpha1.HealthStatusUnknown)}.into(status)
	case failed:
		if status.Health.Status == "" {
			shown{Status: healthy}.into(status)
		}
		if len(a.view.types) > 0 {
			a.sourceTypes(status)
		}
		for i := range status.Resources {
			status.Resources[i].Status = v1alpha1.SyncStatusCodeUnknown
		}
	default:
		return
	}
	status.Sync.Status = v1alpha1.SyncStatusCodeUnknown
}

// typed takes what was found out about the sources before they could not be rendered.
func (a *app) typed(err error) {
	var known *manifests.Error
	if !errors.As(err, &known) || !slices.ContainsFunc(known.Types, func(t v1alpha1.ApplicationSourceType) bool { return t != "" }) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.view.types = known.Types
}

// sourceTypes has a status say what builds the sources. The caller holds the lock.
func (a *app) sourceTypes(status *v1alpha1.ApplicationStatus) {
	status.SourceType, status.SourceTypes = "", nil
	if len(a.obj.Spec.Sources) > 0 {
		status.SourceTypes = a.view.types
	} else if len(a.view.types) > 0 {
		status.SourceType = a.view.types[0]
	}
}
