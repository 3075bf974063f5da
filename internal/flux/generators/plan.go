package generators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	swapi "github.com/fluxcd/source-watcher/api/v2/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/sources"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
	"github.com/headgate-dev/headgate/internal/source/compose"
)

// inputs are the sources of a generator as they are now, by their aliases.
type inputs struct {
	artifacts map[string]*source.Artifact
	observed  map[string]swapi.ObservedSource
	// digest changes when a source does, or why it has nothing to give.
	digest string
}

// invalid is the failure of a declaration that only its author can fix.
func invalid(reason, text string, args ...any) error {
	return &access.Failure{Reason: reason, Terminal: true, Err: fmt.Errorf(text, args...)}
}

// look reads what a generator is made from.
func (g *generator) look(o *swapi.ArtifactGenerator) (inputs, error) {
	in := inputs{artifacts: map[string]*source.Artifact{}, observed: map[string]swapi.ObservedSource{}}
	err := CheckGenerator(g.policy.Now(), o)
	if err == nil {
		err = g.circular()
	}
	if err != nil {
		in.digest = err.Error()
		return in, err
	}
	for i, key := range SourcesOf(o) {
		a, err := g.sources.Readable(key)
		if errors.Is(err, sources.ErrPending) {
			return in, err
		}
		if err != nil {
			err = &access.Failure{Reason: swapi.SourceFetchFailedReason, Woken: true, Err: fmt.Errorf("spec.sources[%d]: %w", i, err)}
			in.digest = err.Error()
			return in, err
		}
		alias := o.Spec.Sources[i].Alias
		in.artifacts[alias] = a
		in.observed[alias] = swapi.ObservedSource{
			Digest: a.Digest, Revision: a.Revision, URL: a.URL, OriginRevision: a.Metadata[sources.OriginRevision],
		}
	}
	in.digest = swapi.HashObservedSources(in.observed)
	return in, nil
}

// circular finds generators that read what they make themselves, by others or without.
func (g *generator) circular() error {
	cycle := sources.IncludeCycle(g.id.String(), g.edges)
	if cycle == nil {
		return nil
	}
	return &access.Failure{Reason: swapi.ValidationFailedReason, Woken: true, Err: fmt.Errorf(
		"spec.sources: cycle: %s; remove one of these sources", strings.Join(cycle, " -> "))}
}

// CheckGenerator refuses what cannot be made, whatever the sources hold.
func CheckGenerator(t policies.Policy, o *swapi.ArtifactGenerator) error {
	aliases := map[string]bool{}
	for i, key := range SourcesOf(o) {
		alias := o.Spec.Sources[i].Alias
		switch {
		case aliases[alias] || alias == compose.ArtifactAlias:
			return invalid(swapi.ValidationFailedReason, "spec.sources[%d].alias: %q is already used", i, alias)
		case t.NoCrossNamespaceRefs && key.Namespace != o.Namespace:
			return invalid(swapi.AccessDeniedReason,
				"spec.sources[%d]: %s is in another namespace; references across namespaces are blocked on this cluster", i, engine.SourceID(key))
		case !isServed(key.Kind):
			return &access.UnsupportedError{Field: fmt.Sprintf("spec.sources[%d].kind", i), Hint: fmt.Sprintf("sources of kind %q are not supported", key.Kind)}
		}
		aliases[alias] = true
	}
	if o.Spec.PathPattern != "" {
		p, err := compose.ParsePattern(o.Spec.PathPattern)
		if err == nil && !aliases[p.Alias()] {
			err = fmt.Errorf("no source has the alias %q", p.Alias())
		}
		if err != nil {
			return invalid(swapi.ValidationFailedReason, "spec.pathPattern: %w", err)
		}
	}
	return checkOutputs(o, aliases)
}

func checkOutputs(o *swapi.ArtifactGenerator, aliases map[string]bool) error {
	names := map[string]bool{}
	for i, a := range o.Spec.OutputArtifacts {
		if names[a.Name] {
			return invalid(swapi.ValidationFailedReason, "spec.artifacts[%d].name: %q is already used", i, a.Name)
		}
		names[a.Name] = true
		for field, ref := range map[string]string{"revision": a.Revision, "originRevision": a.OriginRevision} {
			if alias := strings.TrimPrefix(ref, "@"); ref != "" && !aliases[alias] {
				return invalid(swapi.ValidationFailedReason, "spec.artifacts[%d].%s: no source has the alias %q", i, field, alias)
			}
		}
		if err := compose.Check(CopiesOf(a), aliases); err != nil {
			return invalid(swapi.ValidationFailedReason, "spec.artifacts[%d].%w", i, err)
		}
	}
	return nil
}

func isServed(kind string) bool {
	for _, s := range sources.ServedSources {
		if s.Name == kind {
			return true
		}
	}
	return false
}

// CopiesOf are the copies that an output declares.
func CopiesOf(a swapi.OutputArtifact) []compose.Copy {
	copies := make([]compose.Copy, len(a.Copy))
	for i, c := range a.Copy {
		copies[i] = compose.Copy{From: c.From, To: c.To, Exclude: c.Exclude, Strategy: compose.Strategy(c.Strategy)}
	}
	return copies
}

// Output is an ExternalArtifact that is to be made.
type Output struct {
	// index is that of spec.artifacts.
	index  int
	Key    source.Key
	Spec   swapi.OutputArtifact
	labels map[string]string
}

// make makes everything that is declared and can be made, and deletes what is no more declared when all of
// it could. It returns what there is.
func (g *generator) make(ctx context.Context, o *swapi.ArtifactGenerator, in inputs) ([]swapi.ExternalArtifactReference, error) {
	composer, err := g.composer(in)
	if err != nil {
		return nil, &access.Failure{Reason: swapi.SourceFetchFailedReason, Woken: true, Err: err}
	}
	outputs, err := OutputsOf(o, composer)
	if err != nil {
		return nil, err
	}
	g.want(outputs)
	var made []swapi.ExternalArtifactReference
	var failures []error
	for _, out := range outputs {
		one, err := g.makeOne(ctx, o, out, in, composer)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		made = append(made, one)
	}
	if len(failures) > 0 {
		return made, joined(failures)
	}
	stale := g.everything(o)
	for _, out := range outputs {
		delete(stale, out.Key)
	}
	for key := range stale {
		failures = append(failures, g.remove(ctx, key))
	}
	return made, errors.Join(failures...)
}

func (g *generator) want(outputs []Output) {
	wanted := make(map[source.Key]bool, len(outputs))
	for _, out := range outputs {
		wanted[out.Key] = true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outputs = wanted
}

// joined words several failures as one, which has the reason of the first.
func joined(failures []error) error {
	err := errors.Join(failures...)
	var first *access.Failure
	if !errors.As(failures[0], &first) {
		return err
	}
	all := *first
	all.Err = err
	for _, failure := range failures {
		var one *access.Failure
		all.Woken = all.Woken && errors.As(failure, &one) && one.Woken
	}
	return &all
}

func (g *generator) composer(in inputs) (*compose.Composer, error) {
	trees := make(map[string]*source.Tree, len(in.artifacts))
	for alias, a := range in.artifacts {
		tree, err := a.Open()
		if err != nil {
			return nil, fmt.Errorf("reading source %q: %w", alias, err)
		}
		trees[alias] = tree
	}
	return compose.New(trees, g.sources.Store.SpillDir())
}

// OutputsOf are the ExternalArtifacts that an ArtifactGenerator declares: those of spec.artifacts, or
// these for each directory that spec.pathPattern finds.
func OutputsOf(o *swapi.ArtifactGenerator, composer *compose.Composer) ([]Output, error) {
	if o.Spec.PathPattern == "" {
		outputs := make([]Output, len(o.Spec.OutputArtifacts))
		for i, a := range o.Spec.OutputArtifacts {
			outputs[i] = Output{index: i, Key: artifactKey(o.Namespace, a.Name), Spec: a}
		}
		return outputs, nil
	}
	pattern, err := compose.ParsePattern(o.Spec.PathPattern)
	if err != nil {
		return nil, invalid(swapi.ValidationFailedReason, "spec.pathPattern: %w", err)
	}
	found, err := composer.Find(pattern)
	if err != nil {
		return nil, invalid(swapi.ValidationFailedReason, "spec.pathPattern: %w", err)
	}
	var outputs []Output
	taken := map[string]string{}
	for _, f := range found {
		for i, a := range o.Spec.OutputArtifacts {
			out, err := fill(o.Namespace, i, a, f.Captures)
			if by, dup := taken[out.Spec.Name]; err == nil && dup {
				err = fmt.Errorf("spec.artifacts[%d].name: %q is already used by directory %q", i, out.Spec.Name, by)
			}
			if err != nil {
				return nil, &access.Failure{Reason: swapi.ValidationFailedReason, Woken: true, Err: fmt.Errorf("directory %q: %w", f.Dir, err)}
			}
			taken[out.Spec.Name] = f.Dir
			outputs = append(outputs, out)
		}
	}
	return outputs, nil
}

// fill puts what a directory gave for the captures into one of spec.artifacts. Names and labels have it in
// lower case, paths as it is.
func fill(namespace string, index int, a swapi.OutputArtifact, captures map[string]string) (Output, error) {
	out := Output{index: index, Spec: a, labels: make(map[string]string, len(captures))}
	for name, value := range captures {
		out.labels[name] = strings.ToLower(value)
		if errs := validation.IsValidLabelValue(out.labels[name]); len(errs) > 0 {
			return out, fmt.Errorf("spec.pathPattern: {%s}: %q cannot be a label: %s", name, value, strings.Join(errs, "; "))
		}
	}
	field := fmt.Sprintf("spec.artifacts[%d].", index)
	var err error
	if out.Spec.Name, err = compose.Fill(a.Name, out.labels); err != nil {
		return out, fmt.Errorf("%sname: %w", field, err)
	}
	if errs := validation.IsDNS1123Subdomain(out.Spec.Name); len(errs) > 0 {
		return out, fmt.Errorf("%sname: %q: %s", field, out.Spec.Name, strings.Join(errs, "; "))
	}
	out.Key = artifactKey(namespace, out.Spec.Name)
	out.Spec.Copy = make([]swapi.CopyOperation, len(a.Copy))
	for i, c := range a.Copy {
		out.Spec.Copy[i] = c
		if out.Spec.Copy[i].From, err = compose.Fill(c.From, captures); err != nil {
			return out, fmt.Errorf("%scopy[%d].from: %w", field, i, err)
		}
		if out.Spec.Copy[i].To, err = compose.Fill(c.To, captures); err != nil {
			return out, fmt.Errorf("%scopy[%d].to: %w", field, i, err)
		}
	}
	return out, nil
}

// metadataOf are the labels and annotations of an ExternalArtifact; shard are those that it has from its
// generator.
func metadataOf(o *swapi.ArtifactGenerator, out Output, shard []string) (labels, annotations map[string]string) {
	labels, annotations = map[string]string{}, map[string]string{}
	for _, key := range shard {
		if value, there := o.Labels[key]; there {
			labels[key] = value
		}
	}
	maps.Copy(labels, out.labels)
	if common := o.Spec.CommonMetadata; common != nil {
		maps.Copy(labels, common.Labels)
		maps.Copy(annotations, common.Annotations)
	}
	labels[toolkit.ManagedByLabel], labels[swapi.ArtifactGeneratorLabel] = toolkit.GeneratorManager, string(o.UID)
	return labels, annotations
}

// originOf is what the metadata of an artifact says of where its files come from.
func originOf(a swapi.OutputArtifact, in inputs) map[string]string {
	if a.OriginRevision == "" {
		return nil
	}
	from := in.observed[strings.TrimPrefix(a.OriginRevision, "@")]
	return map[string]string{sources.OriginRevision: cmp.Or(from.OriginRevision, from.Revision)}
}
