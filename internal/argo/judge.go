package argo

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/health/argocd"
)

// judge says how well objects are, by the checks of the settings of now.
type judge struct {
	ctx    context.Context
	checks atomic.Pointer[argocd.Checks]
}

func newJudge() *judge {
	j := &judge{}
	j.checks.Store(argocd.New(argocd.Settings{}))
	return j
}

// Assess judges an object. What its controller has not looked at since it was changed is Progressing, whatever its
// status says of what was before.
func (j *judge) Assess(u *unstructured.Unstructured) engine.ObjectHealth {
	h := j.checks.Load().Assess(j.ctx, u)
	if h.Verdict != engine.Current && h.Verdict != engine.Failed || h.Status == "" {
		return h
	}
	observed, found, err := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if err == nil && found && observed != 0 && observed < u.GetGeneration() && u.GetDeletionTimestamp() == nil {
		h.Verdict, h.Status = engine.InProgress, string(argocd.Progressing)
		h.Message = fmt.Sprintf("generation %d has not been observed yet", u.GetGeneration())
	}
	return h
}
