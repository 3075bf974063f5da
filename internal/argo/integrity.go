package argo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/argo/feeds"
	"github.com/headgate-dev/headgate/internal/argo/policy"
	"github.com/headgate-dev/headgate/internal/source"
)

// origin is what was read of a source: enough to verify it by the keys of any time.
type origin struct {
	// name is what the source is called among several, empty for the only one.
	name, address string
	signatures    *source.Signatures
}

// origin is the origin of what was fetched, an empty one where nothing is to be verified: only commits are signed, none of a
// working copy is, and the environment may have verification switched off.
func (e *Engine) origin(k feeds.Key, state feeds.State, name string) origin {
	off := strings.EqualFold(e.options.GPG, "false") || strings.EqualFold(e.options.GPG, "no")
	if off || k.Kind != feeds.Git || state.Local {
		return origin{}
	}
	return origin{name: name, address: k.URL, signatures: state.Signatures}
}

// verify is an error unless everything is signed as a project requires, which is nil where there is none: then nothing is permitted
// anyway.
func verify(project *policy.Project, keys map[string]string, origins []origin) error {
	var errs []error
	for _, o := range origins {
		if !o.signs(project) {
			continue
		}
		errs = append(errs, project.PermitsRevision(policy.Revision{Source: o.name, Address: o.address, Signatory: o.signatures.Signatory(keys)}))
	}
	return errors.Join(errs...)
}

// signs reports whether a project requires a signature.
func (o origin) signs(project *policy.Project) bool {
	return o.address != "" && project != nil && project.RequiresSignature(o.address)
}

// signed is an error unless an Application may be rendered from what was read. Its status says so as that of the upstream does: as
// long as neither the source changes nor what is required, another attempt gives the same.
func (d *driver) signed(a *app, origins []origin) error {
	declared := a.snapshot()
	err := verify(declared.project, d.settings.Now().Keys, origins)
	sync := operationOf(declared.obj)
	if sync != nil && len(sync.Manifests) > 0 && slices.ContainsFunc(origins, func(o origin) bool { return o.signs(declared.project) }) {
		err = errors.Join(policy.ErrLocalManifests, err)
	}
	if err == nil {
		return nil
	}
	return &failure{condition: v1alpha1.ApplicationConditionComparisonError, err: err, lasting: true}
}

// comesFrom takes what an Application was rendered from: every step verifies that, by what is required then.
func (d *driver) comesFrom(a *app, origins []origin) error {
	a.mu.Lock()
	a.origins = origins
	a.unverified = verify(a.project, d.settings.Now().Keys, origins)
	a.mu.Unlock()
	return d.signed(a, origins)
}

// nameAmong is what a source of several is called, empty for the only one.
func nameAmong(all []v1alpha1.ApplicationSource, i int) string {
	switch {
	case len(all) == 1:
		return ""
	case all[i].Name != "":
		return all[i].Name
	}
	return fmt.Sprintf("%d of %d", i+1, len(all))
}

// Verify is an error unless what generators read is signed as a project requires, for the sets that name it.
func (i installation) Verify(project string, k feeds.Key, state feeds.State) error {
	of := i.e.projects.Get(project)
	if of == nil {
		return fmt.Errorf("error getting project %s: there is no such AppProject", project)
	}
	if err := of.Readable(); err != nil {
		return err
	}
	return verify(of, i.e.settings.Now().Keys, []origin{i.e.origin(k, state, "")})
}
