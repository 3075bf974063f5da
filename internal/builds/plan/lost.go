package plan

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// restoreEpoch takes the epoch from the outputs where the status has none: the Build was created again, or its status was not restored from a
// backup. What was built is not built again for that.
func (p *pass) restoreEpoch() {
	if p.status.LastSuccess != nil || p.status.Active != nil {
		return
	}
	for i := range p.build.Spec.Outputs {
		s, exists := p.facts.Secrets[p.build.Spec.Outputs[i].Secret.Name]
		if !exists || s.Of != p.name() {
			continue
		}
		if epoch, err := strconv.ParseInt(s.Annotations[v1alpha1.AnnotationEpoch], 10, 64); err == nil {
			p.status.RebuildEpoch = max(p.status.RebuildEpoch, epoch)
		}
	}
}

// name is the Build as the labels of its outputs name it.
func (p *pass) name() string { return p.build.Namespace + "/" + p.build.Name }

// lost notices outputs that were deleted, or emptied, since they were recorded. It requests one rebuild for each of them, since the UID that
// is recorded is dropped with it: in the same write of the status, so that neither a restart nor a late event makes it two.
func (p *pass) lost() {
	last := p.status.LastSuccess
	if last == nil {
		return
	}
	gone := false
	for i := range last.Outputs {
		o := &last.Outputs[i]
		if o.UID != "" && p.declares(o.Secret) && p.goneSince(o, last) {
			gone, o.UID = true, ""
		}
	}
	if i := last.Image; i != nil && i.UID != "" && p.build.Spec.Image != nil && p.facts.Unread == "" && !p.hasImage(i.UID) {
		gone, i.UID = true, ""
	}
	switch {
	case !gone:
	case p.status.Active != nil:
		// The run that is active brings the outputs.
	case p.restorable(last):
		p.status.Active = p.activeOf(p.run(last.Run))
	default:
		p.status.RebuildEpoch++
	}
}

func (p *pass) declares(secret string) bool {
	return slices.ContainsFunc(p.build.Spec.Outputs, func(o v1alpha1.Output) bool { return o.Secret.Name == secret })
}

// goneSince reports whether a Secret is not there any more. One that was restored with its provenance is.
func (p *pass) goneSince(o *v1alpha1.WrittenOutput, last *v1alpha1.Success) bool {
	s, exists := p.facts.Secrets[o.Secret]
	if !exists || s.Empty {
		return true
	}
	restored := s.Of == p.name() && s.Annotations[v1alpha1.AnnotationDigest] == last.Digest && s.Annotations[v1alpha1.AnnotationRun] == last.Run
	return s.UID != o.UID && !restored
}

func (p *pass) hasImage(uid types.UID) bool {
	return slices.ContainsFunc(p.facts.Images, func(i Image) bool { return i.UID == uid })
}

// restorable reports whether outputs are written again from the run that made them.
func (p *pass) restorable(last *v1alpha1.Success) bool {
	if p.build.Spec.RestoreOutput != v1alpha1.RestoreAlways || last.Image != nil && last.Image.UID == "" {
		return false
	}
	r := p.run(last.Run)
	return r != nil && r.Owned && r.Phase == succeeded && r.UID == last.RunUID
}

func (p *pass) activeOf(r *Run) *v1alpha1.ActiveRun {
	return &v1alpha1.ActiveRun{Run: r.Name, UID: r.UID, Digest: r.Digest, Attempt: r.Attempt, Epoch: r.Epoch}
}
