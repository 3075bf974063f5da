package release

import (
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/apply"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/kustomize"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/runner"
)

// lookForDrift compares the release with the cluster, and notes what differs.
func (a *act) lookForDrift() error {
	rules, err := kustomize.IgnoredDrift(a.hr)
	if err != nil {
		return err
	}
	a.drift, err = a.client.Drift(a.ctx, releaseNameOf(a.hr), helm.DriftOptions{
		Ignore: rules, Exclude: map[string]string{helmv2.DriftDetectionMetadataKey: helmv2.DriftDetectionDisabledValue},
	})
	if err != nil {
		return err
	}
	if len(a.drift) == 0 {
		a.condition(driftedCondition, metav1.ConditionFalse, helmv2.NoDriftDetectedReason, "No drift detected in the objects of the release")
		return nil
	}
	text := driftText(a.drift)
	a.condition(driftedCondition, metav1.ConditionTrue, helmv2.DriftDetectedReason, text)
	a.set.Events.Record(a.hr, corev1.EventTypeWarning, helmv2.DriftDetectedReason, text, nil)
	return nil
}

func driftText(differences []helm.Difference) string {
	lines := make([]string, len(differences))
	for i, d := range differences {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// correct brings drifted objects back. The next look finds what is left.
func (a *act) correct() (runner.Acted, bool) {
	if a.corrected {
		return Failed(helmv2.DriftDetectedReason, "reverted objects differ again at once: "+driftText(a.drift), false), true
	}
	a.corrected = true
	reverted, err := a.client.Correct(a.ctx, a.drift)
	cluster := kustomize.Target(a.hr.Namespace, a.hr.Spec.KubeConfig, "").Cluster
	for _, d := range reverted {
		id := d.ID.In(cluster)
		a.reverted = append(a.reverted, apply.Result{
			Entry: engine.Entry{ID: id}, Action: engine.Configure, Drift: &apply.Drift{ID: id, Manager: d.Manager, Fields: d.Paths()},
		})
	}
	if err != nil {
		return Failed(helmv2.DriftDetectedReason, err.Error(), true), true
	}
	return runner.Acted{}, false
}
