package argo

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/argo/settings"
	"github.com/headgate-dev/headgate/internal/health/argocd"
	"github.com/headgate-dev/headgate/internal/rounds"
)

// settingsChanges do what follows from other settings.
type settingsChanges struct{ e *Engine }

// Share is the installation.
func (settingsChanges) Share(namespace string) string { return namespace }

// Pass evaluates everything again by the current settings.
func (c settingsChanges) Pass(context.Context, string) rounds.Next {
	c.e.settingsChanged()
	return rounds.Rest()
}

// settingsChanged evaluates everything again by the current settings.
func (e *Engine) settingsChanged() {
	before := e.settings.Now()
	now, config, err := e.settings.Read()
	if err != nil {
		e.observe("settings", err.Error())
	}
	e.tellUnserved(before, now)
	checks, err := argocd.ParseSettings(config)
	if err != nil {
		e.observe("settings", err.Error())
	} else if !sameHealth(before, now) || before.Tracking != now.Tracking {
		e.judge.Use(checks)
		e.runner.Renew(owner)
	}
	e.projects.Reread(now)
	e.reserve()
	if !reflect.DeepEqual(before.Credentials, now.Credentials) {
		e.feeds.Retry()
	}
	e.apps.each(func(a *app) {
		e.declare(a)
		a.governed()
	})
	e.apps.each(func(a *app) { e.runner.InputsChanged(a.id) })
	e.Grants.Changed()
	e.sets.WakeAll()
}

// sameHealth reports whether the checks of two settings are the same.
func sameHealth(a, b settings.Settings) bool {
	health := func(s settings.Settings) map[string]settings.Customization {
		out := map[string]settings.Customization{}
		for kind, c := range s.Customizations {
			if c.Health != "" {
				out[kind] = settings.Customization{Health: c.Health, OpenLibs: c.OpenLibs}
			}
		}
		return out
	}
	return maps.EqualFunc(health(a), health(b), func(x, y settings.Customization) bool {
		return x.Health == y.Health && x.OpenLibs == y.OpenLibs
	})
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
