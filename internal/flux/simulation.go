package flux

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/runner"
	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/source"
)

// Simulate says for what there are stand-ins, where a cluster has neither a network nor what runs in
// containers. It is for the embedded cluster only.
type Simulate struct {
	CRDs, Health, Charts, Secrets bool
	// Overrides are the statuses of kinds that are to become healthy in another way.
	Overrides map[schema.GroupKind]map[string]any
}

// StandIn is one thing that is not real.
type StandIn struct {
	// What is CustomResourceDefinition, Status, Object, Chart, Remote or Secret; Name names it, and For is the unit that
	// waited for it.
	What string    `json:"what"`
	Name string    `json:"name"`
	For  string    `json:"for,omitempty"`
	Time time.Time `json:"time"`
}

// simulation makes stand-ins when nothing moves but for what they would provide, so that the order in
// which units open is that of a real cluster. It is safe for concurrent use.
type simulation struct {
	want    Simulate
	engine  *Engine
	client  dynamic.Interface
	healer  *simulate.Healer
	observe func(StandIn)
	// exhausted is set while there is nothing to provide for what is waited for.
	exhausted atomic.Bool

	mu   sync.Mutex
	made map[string]StandIn
	// healed are the objects that got a status, with their generations.
	healed map[string]bool
	// stubs are the names of the CRDs that stand in.
	stubs map[schema.GroupKind]string
	// marked are the units whose values may stand in, charts the sources that may.
	marked map[engine.UnitID]bool
	charts map[engine.SourceID]bool
}

// Nothing may have moved for calm before stand-ins are made; where workloads are on their way, and nobody
// knows how long that takes, for patience.
const (
	simulateEvery = 50 * time.Millisecond
	calm          = 250 * time.Millisecond
	patience      = 5 * time.Second
)

// newSimulation returns nil when everything is to be real.
func newSimulation(cfg Config) (*simulation, error) {
	if cfg.Simulate == nil {
		return nil, nil
	}
	healer, err := simulate.NewHealer(cfg.Simulate.Overrides)
	if err != nil {
		return nil, err
	}
	// Its own requests take nothing out of the way.
	client, err := dynamic.NewForConfig(cfg.Cluster)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &simulation{
		want: *cfg.Simulate, client: client, healer: healer, observe: cfg.Simulated, made: map[string]StandIn{}, healed: map[string]bool{}, stubs: map[schema.GroupKind]string{},
		marked: map[engine.UnitID]bool{}, charts: map[engine.SourceID]bool{},
	}, nil
}

// run looks after the units until ctx ends.
func (s *simulation) run(ctx context.Context) {
	tick := time.NewTicker(simulateEvery)
	defer tick.Stop()
	moved, seen := time.Now(), ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		d := s.engine.runner.Demands(ctx)
		now := fingerprint(d)
		if d.Moving || now != seen {
			moved, seen = time.Now(), now
			s.exhausted.Store(false)
			continue
		}
		rest := time.Since(moved)
		if d.Ready == d.Units || rest < calm || rest < patience && s.working(d) {
			continue
		}
		if s.exhausted.Load() {
			continue
		}
		if s.provide(ctx, d) {
			moved = time.Now()
			continue
		}
		s.exhausted.Store(true)
	}
}

// fingerprint changes when something moves.
func fingerprint(d runner.Demands) string {
	var words []string
	for _, o := range d.Objects {
		words = append(words, o.String())
	}
	for _, f := range d.Failed {
		words = append(words, f.Unit.String())
	}
	for kind := range d.Kinds {
		words = append(words, kind.String())
	}
	for id := range d.Sources {
		words = append(words, id.String())
	}
	slices.Sort(words)
	return fmt.Sprint(d.Units, d.Ready, words)
}

// working tells whether an object is waited for that the embedded cluster itself brings on.
func (s *simulation) working(d runner.Demands) bool {
	return slices.ContainsFunc(d.Objects, func(o runner.ObjectDemand) bool { return !o.Gone && s.builtIn(o.ID.GroupKind()) })
}

// builtIn tells whether a kind comes with Kubernetes and not by a CRD.
func (s *simulation) builtIn(gk schema.GroupKind) bool {
	return !s.engine.cluster.Kinds.Defined(gk)
}

// provide makes the stand-ins of the first sort that is waited for, and tells whether it made any. What
// they unblock moves before the next sort is looked at.
func (s *simulation) provide(ctx context.Context, d runner.Demands) bool {
	for _, provide := range []func(context.Context, runner.Demands) bool{
		s.provideCharts, s.provideContent, s.provideKinds, s.provideExternalSecrets, s.provideObjects,
	} {
		if provide(ctx, d) {
			return true
		}
	}
	return false
}

// provideCharts lets sources that have nothing to give have a stub.
func (s *simulation) provideCharts(ctx context.Context, d runner.Demands) bool {
	if !s.want.Charts {
		return false
	}
	wanted := maps.Clone(d.Sources)
	for _, o := range d.Objects {
		if o.ID.Group == sourcev1.GroupVersion.Group {
			wanted[engine.SourceID{Kind: o.ID.Kind, Namespace: o.ID.Namespace, Name: o.ID.Name}] = o.Unit
		}
	}
	made := false
	for id := range wanted {
		s.mu.Lock()
		known := s.charts[id]
		s.charts[id] = true
		s.mu.Unlock()
		f, there := s.engine.sources.feed(source.Key(id))
		if !there || known {
			continue
		}
		if o := f.current(); o != nil {
			s.label(ctx, o)
		}
		f.nudge()
		made = true
	}
	return made
}

// label marks a source that may have a stub.
func (s *simulation) label(ctx context.Context, o origin) {
	patch := []byte(`{"metadata":{"labels":{"` + simulate.Label + `":"chart"}}}`)
	_, err := s.client.Resource(o.kind().resource).Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.MergePatchType, patch, patchAs(simulationManager))
	if err != nil && !apierrors.IsNotFound(err) {
		s.engine.cfg.Log.Info("a source cannot be labelled", "kind", o.kind().name, "source", o.GetNamespace()+"/"+o.GetName(), "error", err.Error())
	}
}

// provideContent lets units that failed have marked values where they cannot decrypt, and do without what
// they read from elsewhere.
func (s *simulation) provideContent(_ context.Context, d runner.Demands) bool {
	made := false
	for _, failed := range d.Failed {
		if _, there := s.engine.registry.get(failed.Unit); !there || failed.Reason != engine.ReasonBuildFailed && failed.Reason != engine.ReasonArtifactFailed {
			continue
		}
		s.mu.Lock()
		if !s.marked[failed.Unit] {
			s.marked[failed.Unit], made = true, true
			s.engine.runner.Retry(failed.Unit)
		}
		s.mu.Unlock()
	}
	return made
}

// leaveOut returns what has a unit do without what is not in its source, nil when it does not have to.
func (s *simulation) leaveOut(id engine.UnitID) func(entry string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.want.Charts || !s.marked[id] {
		return nil
	}
	return func(entry string) { s.note("Remote", entry, id.String()) }
}

// marks returns what makes the stand-ins of a unit's values, nil when there are none.
func (s *simulation) marks(id engine.UnitID) func(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.want.Secrets || !s.marked[id] {
		return nil
	}
	return func(key string) string {
		s.note("Secret", "values of "+id.String()+" that cannot be decrypted", "")
		return simulate.Mark(key)
	}
}

// provideKinds installs stubs of the kinds that nobody brings.
func (s *simulation) provideKinds(ctx context.Context, d runner.Demands) bool {
	if !s.want.CRDs {
		return false
	}
	wanted := map[schema.GroupKind][]string{}
	units := map[schema.GroupKind]engine.UnitID{}
	want := func(gvk schema.GroupVersionKind, unit engine.UnitID) {
		gk := gvk.GroupKind()
		if !slices.Contains(wanted[gk], gvk.Version) {
			wanted[gk], units[gk] = append(wanted[gk], gvk.Version), unit
		}
	}
	for gvk, unit := range d.Kinds {
		want(gvk, unit)
	}
	for _, failed := range d.Failed {
		for _, gvk := range kindsMissing(failed.Message) {
			want(gvk, failed.Unit)
		}
	}
	made := false
	for gk, versions := range wanted {
		slices.Sort(versions)
		if s.stubKind(ctx, gk, versions, units[gk]) {
			made = true
		}
	}
	return made
}

// missingKind is how the libraries of Kubernetes tell that a kind is not served.
var missingKind = regexp.MustCompile(`no matches for kind "(\w+)" in version "([\w./-]+)"`)

func kindsMissing(message string) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, found := range missingKind.FindAllStringSubmatch(message, -1) {
		kinds = append(kinds, schema.FromAPIVersionAndKind(found[2], found[1]))
	}
	return kinds
}

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// stubKind makes a stub of a kind. One that is there already gets the versions that it lacks.
func (s *simulation) stubKind(ctx context.Context, gk schema.GroupKind, versions []string, unit engine.UnitID) bool {
	if gk.Group == "" || s.engine.ours(gk) {
		return false
	}
	served := s.engine.cluster.Kinds.Versions(gk)
	s.mu.Lock()
	_, ours := s.stubs[gk]
	s.mu.Unlock()
	if len(served) > 0 && !ours {
		return false
	}
	for _, version := range served {
		if !slices.Contains(versions, version) {
			versions = append(versions, version)
		}
	}
	if len(versions) == len(served) && len(served) > 0 {
		return false
	}
	stub := simulate.CRD(gk, versions)
	data, err := json.Marshal(stub)
	if err == nil {
		options, force := patchAs(simulationManager), true
		options.Force = &force
		_, err = s.client.Resource(crdResource).Patch(ctx, stub.GetName(), types.ApplyPatchType, data, options)
	}
	if err != nil {
		s.engine.cfg.Log.Info("a kind cannot be simulated", "kind", gk.String(), "error", err.Error())
		return false
	}
	s.mu.Lock()
	s.stubs[gk] = stub.GetName()
	s.mu.Unlock()
	s.note("CustomResourceDefinition", stub.GetName(), unit.String())
	return true
}

// simulationManager is the field manager of stand-ins.
const simulationManager = "headgate-simulate"

// provideObjects makes objects healthy that nobody looks after, and makes those that nobody makes.
func (s *simulation) provideObjects(ctx context.Context, d runner.Demands) bool {
	if !s.want.Health {
		return false
	}
	made := false
	for _, demand := range d.Objects {
		if s.provideObject(ctx, demand) {
			made = true
		}
	}
	return made
}

func (s *simulation) provideObject(ctx context.Context, demand runner.ObjectDemand) bool {
	gk := demand.ID.GroupKind()
	if gk.Kind == "CustomResourceDefinition" {
		kind, known := simulate.KindOf(demand.ID.Name)
		return known && demand.Gone && s.want.CRDs && s.stubKind(ctx, kind, nil, demand.Unit)
	}
	r, served := s.engine.cluster.Kinds.Lookup(gk.WithVersion(""))
	if !served || s.engine.ours(gk) || !demand.Gone && s.builtIn(gk) {
		return false
	}
	client := s.client.Resource(r.GroupVersionResource).Namespace(demand.ID.Namespace)
	o, err := client.Get(ctx, demand.ID.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		o = simulate.Object(gk.WithVersion(r.Version), demand.ID.Namespace, demand.ID.Name)
		if o == nil {
			return false
		}
		o, err = client.Create(ctx, o, metav1.CreateOptions{FieldManager: simulationManager})
		if err == nil {
			s.note("Object", demand.ID.String(), demand.Unit.String())
		}
		if err == nil && s.builtIn(gk) {
			return true
		}
	}
	if err == nil {
		var checks []simulate.Check
		for _, e := range demand.Exprs {
			if e.Group == gk.Group && e.Kind == gk.Kind {
				checks = append(checks, simulate.Check{Current: e.Current, InProgress: e.InProgress, Failed: e.Failed})
			}
		}
		return s.heal(ctx, client, o, checks, demand.Unit)
	}
	s.engine.cfg.Log.Info("an object cannot be simulated", "object", demand.ID.String(), "error", err.Error())
	return false
}

// heal writes the status by which an object is healthy, once for each generation.
func (s *simulation) heal(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured, checks []simulate.Check, unit engine.UnitID) bool {
	key := fmt.Sprintf("%s at generation %d", o.GetUID(), o.GetGeneration())
	s.mu.Lock()
	done := s.healed[key]
	s.mu.Unlock()
	if done {
		return false
	}
	status, ok, err := s.healer.Status(o, s.definition(ctx, o.GroupVersionKind().GroupKind()), checks)
	if err != nil {
		s.engine.cfg.Log.Info("an object may not become healthy", "object", engine.IDOf(o).String(), "error", err.Error())
	}
	if !ok || status == nil {
		return false
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{simulate.Label: "status"}}, "status": status,
	})
	if err == nil {
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, patchAs(simulationManager))
	}
	if err == nil {
		// Where a kind keeps its status apart, the first write has left it out.
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, patchAs(simulationManager), "status")
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	if err != nil {
		s.engine.cfg.Log.Info("an object cannot be made healthy", "object", engine.IDOf(o).String(), "error", err.Error())
		return false
	}
	s.mu.Lock()
	s.healed[key] = true
	s.mu.Unlock()
	waiter := ""
	if unit != (engine.UnitID{}) {
		waiter = unit.String()
	}
	s.note("Status", engine.IDOf(o).String(), waiter)
	return true
}

// definition is the CRD of a kind, nil when there is none.
func (s *simulation) definition(ctx context.Context, gk schema.GroupKind) *unstructured.Unstructured {
	r, served := s.engine.cluster.Kinds.Lookup(gk.WithVersion(""))
	if !served {
		return nil
	}
	crd, err := s.client.Resource(crdResource).Get(ctx, r.Resource+"."+gk.Group, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return crd
}

// externalSecretKind is that of objects whose controller writes Secrets.
var externalSecretKind = schema.GroupKind{Group: "external-secrets.io", Kind: "ExternalSecret"}

// provideExternalSecrets writes the Secrets of the ExternalSecrets that there are.
func (s *simulation) provideExternalSecrets(ctx context.Context, _ runner.Demands) bool {
	r, served := s.engine.cluster.Kinds.Lookup(externalSecretKind.WithVersion(""))
	if !served || !s.want.Secrets {
		return false
	}
	list, err := s.client.Resource(r.GroupVersionResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	made := false
	for i := range list.Items {
		o := &list.Items[i]
		client := s.client.Resource(r.GroupVersionResource).Namespace(o.GetNamespace())
		if s.heal(ctx, client, o, nil, engine.UnitID{}) {
			s.writeTarget(ctx, o)
			made = true
		}
	}
	return made
}

var secrets = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

func (s *simulation) writeTarget(ctx context.Context, o *unstructured.Unstructured) {
	secret, ok := simulate.Target(o)
	if !ok {
		return
	}
	id := engine.IDOf(secret)
	_, err := s.client.Resource(secrets).Namespace(secret.GetNamespace()).
		Create(ctx, secret, metav1.CreateOptions{FieldManager: simulationManager})
	if apierrors.IsAlreadyExists(err) && secret.GetLabels()[simulate.Label] == "" {
		err = s.mergeInto(ctx, secret)
	}
	if err == nil {
		s.note("Secret", id.String(), "")
	} else if !apierrors.IsAlreadyExists(err) {
		s.engine.cfg.Log.Info("a Secret cannot be simulated", "object", id.String(), "error", err.Error())
	}
}

// mergeInto adds the data of a Secret to one that is there.
func (s *simulation) mergeInto(ctx context.Context, secret *unstructured.Unstructured) error {
	patch, err := json.Marshal(map[string]any{"data": secret.Object["data"]})
	if err != nil {
		return err
	}
	_, err = s.client.Resource(secrets).Namespace(secret.GetNamespace()).
		Patch(ctx, secret.GetName(), types.MergePatchType, patch, patchAs(simulationManager))
	return err
}

// note remembers a stand-in and tells of it.
func (s *simulation) note(what, name, unit string) {
	one := StandIn{What: what, Name: name, For: unit, Time: time.Now()}
	s.mu.Lock()
	_, known := s.made[what+" "+name]
	s.made[what+" "+name] = one
	s.mu.Unlock()
	if !known && s.observe != nil {
		s.observe(one)
	}
}

// dropped forgets a stand-in that something real has replaced.
func (s *simulation) dropped(what, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.made, what+" "+name)
}

// Providing tells whether stand-ins may yet be made for what is waited for.
func (e *Engine) Providing() bool { return e.simulation != nil && !e.simulation.exhausted.Load() }

// StandIns returns what is not real, sorted.
func (e *Engine) StandIns() []StandIn {
	if e.simulation == nil {
		return nil
	}
	e.simulation.mu.Lock()
	defer e.simulation.mu.Unlock()
	var all []StandIn
	for _, one := range e.simulation.made {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b StandIn) int {
		if a.What != b.What {
			return strings.Compare(a.What, b.What)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all
}

// ParseOverrides reads the statuses of kinds that are to become healthy in another way.
func ParseOverrides(data []byte) (map[schema.GroupKind]map[string]any, error) {
	return simulate.ParseOverrides(data)
}
