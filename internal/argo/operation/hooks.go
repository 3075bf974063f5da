package operation

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DeletePolicy says when a hook is deleted.
type DeletePolicy string

// The policies, by Argo CD's names.
const (
	BeforeHookCreation DeletePolicy = "BeforeHookCreation"
	HookSucceeded      DeletePolicy = "HookSucceeded"
	HookFailed         DeletePolicy = "HookFailed"
)

// The annotations that say what an object is in a sync.
const (
	annotationHook       = "argocd.argoproj.io/hook"
	annotationHookDelete = "argocd.argoproj.io/hook-delete-policy"
	annotationWave       = "argocd.argoproj.io/sync-wave"
	helmHook             = "helm.sh/hook"
	helmHookDelete       = "helm.sh/hook-delete-policy"
	helmHookWeight       = "helm.sh/hook-weight"
)

// HookFinalizer keeps a hook that has completed until that was seen.
const HookFinalizer = "argocd.argoproj.io/hook-finalizer"

// Hook says what an object is in a sync.
type Hook struct {
	// Is is set for hooks, Skip for objects that are never applied.
	Is, Skip bool
	Phases   []Phase
	Policies []DeletePolicy
}

// HookOf reads the annotations of an object: those of Argo CD, and where these name no phase, those of Helm.
func HookOf(u *unstructured.Unstructured) Hook {
	annotations := u.GetAnnotations()
	words := list(annotations[annotationHook])
	if slices.Equal(words, []string{"Skip"}) {
		return Hook{Skip: true}
	}
	h := Hook{Is: len(words) > 0}
	for _, word := range words {
		switch p := Phase(word); p {
		case PreSync, Sync, PostSync, SyncFail, PreDelete, PostDelete:
			h.Phases = append(h.Phases, p)
		}
	}
	if len(h.Phases) == 0 {
		h = h.helm(list(annotations[helmHook]))
	}
	if h.Is {
		h.Policies = policiesOf(annotations)
	}
	return h
}

// Order is when in a sync an object is applied first, of phases that come one after the other; negative when it is in none.
func (h Hook) Order() int {
	if !h.Is {
		return Sync.rank()
	}
	for _, p := range []Phase{PreSync, Sync, PostSync} {
		if slices.Contains(h.Phases, p) {
			return p.rank()
		}
	}
	return -1
}

// helm reads the hooks of Helm.
func (h Hook) helm(words []string) Hook {
	phases := map[string]Phase{
		"pre-install": PreSync, "pre-upgrade": PreSync, "post-install": PostSync, "post-upgrade": PostSync,
		"pre-delete": PreDelete, "post-delete": PostDelete,
	}
	for _, word := range words {
		if word == "crd-install" {
			return Hook{}
		}
		h.Is = true
		if p, known := phases[word]; known && !slices.Contains(h.Phases, p) {
			h.Phases = append(h.Phases, p)
		}
	}
	return h
}

func policiesOf(annotations map[string]string) []DeletePolicy {
	var policies []DeletePolicy
	helm := map[string]DeletePolicy{"before-hook-creation": BeforeHookCreation, "hook-succeeded": HookSucceeded, "hook-failed": HookFailed}
	for _, word := range append(list(annotations[annotationHookDelete]), list(annotations[helmHookDelete])...) {
		if p, known := helm[word]; known {
			word = string(p)
		}
		switch p := DeletePolicy(word); p {
		case BeforeHookCreation, HookSucceeded, HookFailed:
			policies = append(policies, p)
		}
	}
	if len(policies) == 0 {
		return []DeletePolicy{BeforeHookCreation}
	}
	return policies
}

// Syncs reports whether a hook runs in a sync, and not only when its Application is deleted.
func (h Hook) Syncs() bool {
	return len(h.Phases) == 0 || slices.ContainsFunc(h.Phases, func(p Phase) bool { return p != PreDelete && p != PostDelete })
}

// WaveOf is the wave of an object: that of Argo CD, else the weight of a hook of Helm, else zero.
func WaveOf(annotations map[string]string) int {
	for _, key := range []string{annotationWave, helmHookWeight} {
		if text, set := annotations[key]; set {
			if wave, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
				return wave
			}
		}
	}
	return 0
}

func list(text string) []string {
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// deadlineOf is how many seconds a hook may run by its own declaration.
func deadlineOf(u *unstructured.Unstructured) (int64, bool) {
	seconds, found, err := unstructured.NestedInt64(u.Object, "spec", "activeDeadlineSeconds")
	return seconds, found && err == nil
}
