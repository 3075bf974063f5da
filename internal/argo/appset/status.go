package appset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// The reasons of conditions, as upstream's tools know them, and DeletionsHeld, which is ours.
const (
	reasonErrorOccurred       = "ErrorOccurred"
	reasonUpToDate            = "ApplicationSetUpToDate"
	reasonParametersGenerated = "ParametersGenerated"
	reasonParameters          = "ApplicationGenerationFromParamsError"
	reasonValidation          = "ApplicationValidationError"
	reasonUpdate              = "UpdateApplicationError"
	reasonModified            = "ApplicationSetModified"
	reasonRolloutComplete     = "ApplicationSetRolloutComplete"
	ReasonDeletionsHeld       = "DeletionsHeld"
)

// Outcome is what came of a pass.
type Outcome struct {
	// Generate is the error of the generators or of the plan, for which nothing was done.
	Generate error
	// Write is the error of a write.
	Write error
	// Problems are those of single Applications.
	Problems []Problem
	// Refused is why deletions are held, if they are.
	Refused string
	// Rollout is how far the steps are.
	Rollout Rollout
	// Applications are those that the set has after the pass.
	Applications []*unstructured.Unstructured
	// MaxResources is how many of them the status lists, all when it is 0.
	MaxResources int64
	// Now is the time of the pass.
	Now time.Time
}

// StatusOf is the status of a set after a pass. Times stay where nothing changed, so that it is the same after two
// passes with the same outcome.
func StatusOf(set *Set, o Outcome) v1alpha1.ApplicationSetStatus {
	status := *set.Status.DeepCopy()
	status.Conditions = conditions(set, o)
	status.Health = healthOf(status.Conditions)
	if o.Generate != nil {
		return status
	}
	status.ApplicationStatus = o.Rollout.Statuses
	status.Resources, status.ResourcesCount = resources(o)
	return status
}

// failure is the worst that happened, with its reason.
func failure(o Outcome) (reason, message string) {
	switch {
	case o.Generate != nil:
		return reasonParameters, o.Generate.Error()
	case o.Write != nil:
		return reasonUpdate, o.Write.Error()
	case o.Refused != "":
		return ReasonDeletionsHeld, "Deletions are held: " + o.Refused
	case len(o.Problems) > 0:
		message = o.Problems[0].Message
		if more := len(o.Problems) - 1; more > 0 {
			message = fmt.Sprintf("%s (and %d more)", message, more)
		}
		return reasonValidation, message
	}
	return "", ""
}

// conditions are those of a set, by the order of their types.
func conditions(set *Set, o Outcome) []v1alpha1.ApplicationSetCondition {
	failed, upToDate := condition(v1alpha1.ApplicationSetConditionErrorOccurred), condition(v1alpha1.ApplicationSetConditionResourcesUpToDate)
	generated, progress := condition(v1alpha1.ApplicationSetConditionParametersGenerated), condition(v1alpha1.ApplicationSetConditionRolloutProgressing)
	reason, message := failure(o)
	generated = said(generated, true, reasonParametersGenerated, "Successfully generated parameters for all Applications")
	if reason == "" {
		const fine = "All applications have been generated successfully"
		failed, upToDate = said(failed, false, reasonUpToDate, fine), said(upToDate, true, reasonUpToDate, fine)
	} else {
		failed, upToDate = said(failed, true, reason, message), said(upToDate, false, reasonErrorOccurred, message)
	}
	if o.Generate != nil {
		generated = said(generated, false, reasonErrorOccurred, message)
	}
	all := []v1alpha1.ApplicationSetCondition{failed, generated, upToDate}
	switch {
	case o.Generate != nil && set.rolling():
		all = append(all, previous(set, progress)...)
	case !o.Rollout.Active:
	case o.Rollout.Step > 0:
		all = append(all, said(progress, true, reasonModified, "ApplicationSet is performing rollout of step "+strconv.Itoa(o.Rollout.Step)))
	default:
		all = append(all, said(progress, false, reasonRolloutComplete, "ApplicationSet Rollout has completed"))
	}
	return dated(set, all, o.Now)
}

func condition(kind string) v1alpha1.ApplicationSetCondition {
	return v1alpha1.ApplicationSetCondition{Type: kind}
}

func said(c v1alpha1.ApplicationSetCondition, yes bool, reason, message string) v1alpha1.ApplicationSetCondition {
	c.Status, c.Reason, c.Message = metav1.ConditionFalse, reason, message
	if yes {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// previous is a condition as it was.
func previous(set *Set, c v1alpha1.ApplicationSetCondition) []v1alpha1.ApplicationSetCondition {
	for _, was := range set.Status.Conditions {
		if was.Type == c.Type {
			return []v1alpha1.ApplicationSetCondition{was}
		}
	}
	return nil
}

// dated gives conditions the times at which they changed.
func dated(set *Set, all []v1alpha1.ApplicationSetCondition, now time.Time) []v1alpha1.ApplicationSetCondition {
	for i := range all {
		c := &all[i]
		c.Message = redaction.Text(c.Message)
		at := metav1.NewTime(now.Truncate(time.Second))
		c.LastTransitionTime = &at
		for _, was := range previous(set, *c) {
			if was.Status == c.Status && was.Reason == c.Reason && was.Message == c.Message && was.LastTransitionTime != nil {
				c.LastTransitionTime = was.LastTransitionTime
			}
		}
	}
	return all
}

// healthOf is the health that the conditions give.
func healthOf(all []v1alpha1.ApplicationSetCondition) v1alpha1.HealthStatus {
	health := v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusUnknown, Message: "Waiting for health status to be determined"}
	for _, c := range all {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case v1alpha1.ApplicationSetConditionErrorOccurred:
			return v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusDegraded, Message: c.Message}
		case v1alpha1.ApplicationSetConditionRolloutProgressing:
			health = v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusProgressing, Message: c.Message}
		case v1alpha1.ApplicationSetConditionResourcesUpToDate:
			health = v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusHealthy, Message: c.Message}
		}
	}
	return health
}

// resources lists Applications by their names, up to a bound, and counts them all.
func resources(o Outcome) ([]v1alpha1.ResourceStatus, int64) {
	sorted := slices.Clone(o.Applications)
	slices.SortFunc(sorted, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	count := int64(len(sorted))
	if o.MaxResources > 0 && count > o.MaxResources {
		sorted = sorted[:o.MaxResources]
	}
	var all []v1alpha1.ResourceStatus
	for _, app := range sorted {
		kind := app.GroupVersionKind()
		synced, _, _ := unstructured.NestedString(app.Object, "status", "sync", "status")
		health, _, _ := unstructured.NestedString(app.Object, "status", "health", "status")
		all = append(all, v1alpha1.ResourceStatus{
			Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Namespace: app.GetNamespace(), Name: app.GetName(),
			Status: v1alpha1.SyncStatusCode(synced), Health: &v1alpha1.HealthStatus{Status: v1alpha1.HealthStatusCode(health)},
		})
	}
	return all, count
}

// Err is everything that is wrong after a pass, or nil.
func (o Outcome) Err() error {
	all := []error{o.Generate, o.Write}
	if o.Refused != "" {
		all = append(all, errors.New("Deletions are held: "+o.Refused))
	}
	for _, problem := range o.Problems {
		all = append(all, problem)
	}
	return errors.Join(all...)
}
