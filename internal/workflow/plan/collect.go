package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/text"
)

// collectPods removes executions that have ended, as the spec says, once their end is recorded.
func (p *planner) collectPods() {
	gc := p.spec.PodGC
	if gc == nil {
		return
	}
	delay := time.Duration(0)
	if gc.DeleteDelayDuration != "" {
		var err error
		if delay, err = text.Duration(gc.DeleteDelayDuration); err != nil {
			return // lint refuses it by name
		}
	}
	recorded := p.before.Status
	for _, id := range p.sorted() {
		node, known := recorded.Nodes[id]
		leaf, exists := p.facts.Leaves[id]
		if !exists || !known || !node.Phase.Fulfilled() {
			continue
		}
		var since metav1.Time
		switch gc.Strategy {
		case v1alpha1.PodGCOnPodCompletion:
			since = node.FinishedAt
		case v1alpha1.PodGCOnPodSuccess:
			if node.Phase == v1alpha1.NodeSucceeded {
				since = node.FinishedAt
			}
		case v1alpha1.PodGCOnWorkflowCompletion:
			since = recorded.FinishedAt
		case v1alpha1.PodGCOnWorkflowSuccess:
			if recorded.Phase == v1alpha1.WorkflowSucceeded {
				since = recorded.FinishedAt
			}
		}
		if since.IsZero() {
			continue
		}
		if at := since.Add(delay); p.facts.Now.Before(at) {
			p.wakeAt(at)
			continue
		}
		p.do(Action{Do: Remove, Node: id, Selector: gc.LabelSelector, Labels: leaf.Labels})
	}
}

// afterwards is a pass over a workflow that has ended: what it leaves is removed when the spec says so.
func (p *planner) afterwards() {
	spec := &p.wf.Spec
	if stored := p.wf.Status.StoredWorkflowSpec; stored != nil {
		spec = stored
	} else if merged, err := overlay(spec, p.facts.Defaults); err == nil {
		spec = merged
	}
	p.spec = spec
	p.collectPods()
	p.collectClaims()
	seconds := lifetime(spec, p.wf.Status.Phase)
	if seconds == nil {
		return
	}
	at := p.wf.Status.FinishedAt.Add(time.Duration(*seconds) * time.Second)
	if p.facts.Now.Before(at) {
		p.wakeAt(at)
		return
	}
	p.do(Action{Do: DeleteWorkflow})
}

// lifetime is how many seconds a workflow is kept after its end; nil for as long as there is.
func lifetime(spec *v1alpha1.WorkflowSpec, phase v1alpha1.WorkflowPhase) *int32 {
	ttl := spec.TTLStrategy
	switch {
	case ttl == nil:
		return spec.TTLSecondsAfterFinished
	case phase == v1alpha1.WorkflowSucceeded && ttl.SecondsAfterSuccess != nil:
		return ttl.SecondsAfterSuccess
	case phase != v1alpha1.WorkflowSucceeded && ttl.SecondsAfterFailure != nil:
		return ttl.SecondsAfterFailure
	default:
		return ttl.SecondsAfterCompletion
	}
}

// claims creates the claims of the workflow, whose volumes all executions may mount.
func (p *planner) claims() {
	var volumes []corev1.Volume
	for i := range p.spec.VolumeClaimTemplates {
		claim := p.spec.VolumeClaimTemplates[i].DeepCopy()
		volume := claim.Name
		claim.Name, claim.Namespace = p.wf.Name+"-"+volume, p.wf.Namespace
		volumes = append(volumes, corev1.Volume{
			Name:         volume,
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name}},
		})
		if p.facts.Claims[claim.Name] {
			continue
		}
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		claim.Labels[v1alpha1.LabelWorkflow] = p.wf.Name
		claim.OwnerReferences = append(claim.OwnerReferences, *metav1.NewControllerRef(p.wf, v1alpha1.GroupVersion.WithKind(v1alpha1.WorkflowKind)))
		p.do(Action{Do: CreateClaim, Claim: claim})
	}
	p.wf.Status.PersistentVolumeClaims = volumes
}

// collectClaims deletes the claims of a workflow that has ended; after a failure only if the spec says so.
func (p *planner) collectClaims() {
	always := p.spec.VolumeClaimGC != nil && p.spec.VolumeClaimGC.Strategy == string(v1alpha1.PodGCOnWorkflowCompletion)
	if !always && p.wf.Status.Phase != v1alpha1.WorkflowSucceeded {
		return
	}
	var left []corev1.Volume
	for _, volume := range p.wf.Status.PersistentVolumeClaims {
		if volume.PersistentVolumeClaim == nil || !p.facts.Claims[volume.PersistentVolumeClaim.ClaimName] {
			continue
		}
		left = append(left, volume)
		claim := &corev1.PersistentVolumeClaim{}
		claim.Name, claim.Namespace = volume.PersistentVolumeClaim.ClaimName, p.wf.Namespace
		p.do(Action{Do: DeleteClaim, Claim: claim})
	}
	p.wf.Status.PersistentVolumeClaims = left
}
