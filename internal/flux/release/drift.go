package release

import (
	"fmt"
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

// mostCorrections bounds how often one object is reverted in a pass.
const mostCorrections = 3

// correct brings drifted objects back. The next look finds what is left, and what has changed meanwhile: other objects, or the same ones again,
// which are left to a later pass once they have been reverted often.
func (a *act) correct() (runner.Acted, bool) {
	var often, once []helm.Difference
	for _, d := range a.drift {
		if a.corrected[d.ID] == mostCorrections {
			often = append(often, d)
			continue
		}
		if a.corrected == nil {
			a.corrected = map[engine.ObjectID]int{}
		}
		a.corrected[d.ID]++
		once = append(once, d)
	}
	reverted, err := a.client.Correct(a.ctx, once)
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
	if len(often) > 0 {
		return Failed(helmv2.DriftDetectedReason, fmt.Sprintf("objects were reverted %d times and differ again: %s", mostCorrections, driftText(often)), true), true
	}
	return runner.Acted{}, false
}
