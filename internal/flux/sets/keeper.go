// Package sets serves ResourceSets and the ResourceSetInputProviders that they select.
//
// Inputs are put together and templates evaluated by internal/resourceset. It applies nothing.
package sets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	fluxcdv1 "github.com/headgate-dev/headgate/api/fluxcd/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/resourceset"
	"github.com/headgate-dev/headgate/internal/runner"
)

// Keeper holds ResourceSets, and what provides their inputs. It is safe for concurrent use.
type Keeper struct {
	toolkit.Tools
	*declared.Registry[fluxcdv1.ResourceSet, *fluxcdv1.ResourceSet]

	Providers *declared.Registry[fluxcdv1.ResourceSetInputProvider, *fluxcdv1.ResourceSetInputProvider]
	policies  *policies.Effective

	mu sync.Mutex
	// counts are how many sets of inputs the last render of each had.
	counts map[engine.UnitID]int
	// accounts are clients that impersonate accounts.
	accounts map[string]kubernetes.Interface
}

// New returns what serves ResourceSets.
func New(t toolkit.Tools, p *policies.Effective) *Keeper {
	return &Keeper{
		Tools: t, policies: p,
		Registry:  declared.NewRegistry[fluxcdv1.ResourceSet](toolkit.KindIn(toolkit.Operator, fluxcdv1.ResourceSetKind)),
		Providers: declared.NewRegistry[fluxcdv1.ResourceSetInputProvider](toolkit.KindIn(toolkit.Operator, fluxcdv1.ResourceSetInputProviderKind)),
		counts:    map[engine.UnitID]int{}, accounts: map[string]kubernetes.Interface{},
	}
}

// buildFailed is a failure to make objects, with the reason for it.
type buildFailed struct {
	reason   engine.Reason
	terminal bool
	err      error
}

func (f *buildFailed) Error() string { return f.err.Error() }
func (f *buildFailed) Unwrap() error { return f.err }

// Reason is that of the Ready condition.
func (f *buildFailed) Reason() engine.Reason { return f.reason }

// Terminal reports whether only a change can help.
func (f *buildFailed) Terminal() bool { return f.terminal }

// Inputs makes the objects of a ResourceSet.
func (s *Keeper) Inputs(ctx context.Context, id engine.UnitID) (runner.Inputs, error) {
	rs, ok := s.Get(id)
	if !ok {
		return runner.Inputs{}, fmt.Errorf("reading %s: it was deleted", id)
	}
	out := runner.Inputs{Labels: map[string]string{toolkit.ResourceSetPrefix + "name": rs.Name, toolkit.ResourceSetPrefix + "namespace": rs.Namespace}}
	client, err := s.as(Declare(s.policies.Now(), rs).Target.User)
	if err != nil {
		return out, err
	}
	reader := access.VersionReader{Client: client, Versions: map[engine.ObjectID]uint64{}}
	objects, count, err := Build(ctx, s.Sandbox.For(rs.Namespace, id.String()), rs, s.inNamespace(rs.Namespace), reader)
	out.Versions = reader.Versions
	if err != nil {
		return out, err
	}
	s.mu.Lock()
	s.counts[id] = count
	s.mu.Unlock()
	out.Objects = objects
	out.Digest, err = objectsDigest(objects)
	return out, err
}

// as returns a client that impersonates an account, or acts as the engine itself.
func (s *Keeper) as(user string) (kubernetes.Interface, error) {
	if user == "" {
		return s.Secrets, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if client, made := s.accounts[user]; made {
		return client, nil
	}
	config := rest.CopyConfig(s.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("acting as %q: %w", user, err)
	}
	s.accounts[user] = client
	return client, nil
}

// inNamespace are the providers of a namespace, by their names.
func (s *Keeper) inNamespace(namespace string) []*fluxcdv1.ResourceSetInputProvider {
	all := slices.DeleteFunc(s.Providers.All(), func(p *fluxcdv1.ResourceSetInputProvider) bool { return p.Namespace != namespace })
	slices.SortFunc(all, func(a, b *fluxcdv1.ResourceSetInputProvider) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// referredProviders are those that a ResourceSet names, each once.
func referredProviders(rs *fluxcdv1.ResourceSet, all []*fluxcdv1.ResourceSetInputProvider) ([]*fluxcdv1.ResourceSetInputProvider, error) {
	var found []*fluxcdv1.ResourceSetInputProvider
	for i, ref := range rs.Spec.InputsFrom {
		before := len(found)
		known := false
		for _, p := range all {
			if !refersTo(ref, p) {
				continue
			}
			known = true
			if !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
		if ref.Name != "" && !known && len(found) == before {
			return nil, fmt.Errorf("spec.inputsFrom[%d]: %s %s/%s does not exist", i, fluxcdv1.ResourceSetInputProviderKind, rs.Namespace, ref.Name)
		}
	}
	return found, nil
}

// valuesOf reads a set of inputs. Whole numbers stay whole.
func valuesOf(in fluxcdv1.Input) (map[string]any, error) {
	values := make(map[string]any, len(in))
	for name, raw := range in {
		if raw == nil {
			values[name] = nil
			continue
		}
		var value any
		if err := utiljson.Unmarshal(raw.Raw, &value); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

// templatesOf are the templates of a ResourceSet: those of resources stand over that of resourcesTemplate.
func templatesOf(rs *fluxcdv1.ResourceSet) ([]resourceset.Template, error) {
	var templates []resourceset.Template
	for i, raw := range rs.Spec.Resources {
		name := fmt.Sprintf("spec.resources[%d]", i)
		text, err := textOf(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		templates = append(templates, resourceset.Template{Name: name, Text: text})
	}
	if rs.Spec.ResourcesTemplate != "" {
		templates = append(templates, resourceset.Template{Name: "spec.resourcesTemplate", Text: rs.Spec.ResourcesTemplate})
	}
	return templates, nil
}

// textOf is an object as YAML, in which a template can write.
func textOf(raw *apiextensionsv1.JSON) (string, error) {
	if raw == nil {
		return "", nil
	}
	text, err := yaml.JSONToYAML(raw.Raw)
	return string(text), err
}

// objectsDigest tells two sets of objects apart.
func objectsDigest(objects []*unstructured.Unstructured) (string, error) {
	h := sha256.New()
	for _, o := range objects {
		data, err := json.Marshal(o.Object)
		if err != nil {
			return "", fmt.Errorf("encoding %s: %w", engine.IDOf(o), err)
		}
		h.Write(append(data, '\n'))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// Forget drops what is known of a ResourceSet.
func (s *Keeper) Forget(id engine.UnitID) {
	s.Drop(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.counts, id)
}

func (s *Keeper) count(id engine.UnitID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[id]
}
