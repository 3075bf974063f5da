package argo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/argo/settings"
)

// conditionUnserved is ours: something is declared that is accepted and not acted on.
const conditionUnserved = "NotServedWarning"

// unserved names what an Application declares that is not acted on: fields of its sources, of its project, options that
// are unknown.
func (d *driver) unserved(a *app, project *policy.Project, c *comparison) {
	var all []string
	if a.job.rendered != nil {
		all = append(all, a.job.rendered.Problems...)
	}
	if project != nil {
		for _, field := range project.Unserved() {
			all = append(all, fmt.Sprintf("AppProject %s: %s", project.Name, field))
		}
	}
	if a.now().Spec.SourceHydrator != nil {
		all = append(all, "spec.sourceHydrator: not supported; the hydrated branch is applied")
	}
	for _, option := range c.options.Unknown {
		all = append(all, fmt.Sprintf("spec.syncPolicy.syncOptions: %q", option))
	}
	for _, o := range c.objects {
		for _, option := range o.options.Unknown {
			all = append(all, fmt.Sprintf("%s: annotation argocd.argoproj.io/sync-options: %q", o.entry.ID, option))
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	c.warn(conditionUnserved, "ignored: "+strings.Join(slices.Compact(all), "; "))
}

// tellUnserved names the settings that are for the engine and are ignored, and the unknown ones.
func (e *Engine) tellUnserved(before, now settings.Settings) {
	words := func(s settings.Settings) []string {
		var all []string
		for _, u := range s.Unserved {
			if u.Concern == settings.ConcernEngine {
				all = append(all, u.Object+": "+u.Key)
			}
		}
		for _, u := range s.Unknown {
			all = append(all, u.Object+": "+u.Key+" (unknown)")
		}
		return all
	}
	old := words(before)
	news := slices.DeleteFunc(words(now), func(word string) bool { return slices.Contains(old, word) })
	if len(news) > 0 {
		e.observe("settings", "ignored: "+strings.Join(news, "; "))
	}
}
