package argo

import (
	"cmp"
	"path"
	"strings"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/render"
)

// mentions is what the files of the sources of an Application mention, as far as they have been fetched.
func (d *driver) mentions(id engine.UnitID) engine.Mentions {
	var m engine.Mentions
	a := d.apps.get(id)
	if a == nil {
		return m
	}
	declared := a.snapshot()
	for i, k := range declared.keys {
		state := d.feeds.Get(k)
		if !state.Has() || state.Tree == nil {
			continue
		}
		release := declared.obj.Name
		if helm := declared.sources[i].Helm; helm != nil {
			release = cmp.Or(helm.ReleaseName, release)
		}
		at := declared.sources[i].Path
		_, chart := state.Tree.File(path.Join(path.Clean("/" + at)[1:], "Chart.yaml"))
		for _, text := range render.Texts(state.Tree, at) {
			if chart && strings.Contains(text, "{{") {
				m.Chart(text, release)
			} else {
				m.Read(text)
			}
		}
	}
	return m
}
