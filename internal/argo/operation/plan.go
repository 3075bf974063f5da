package operation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
)

// Extra is an object that the Application holds and no longer declares.
type Extra struct {
	engine.Entry
	// Wave is that of the live object.
	Wave int
	// Last has it deleted after everything else; Confirm after a person's word.
	Last, Confirm bool
}

// Request is what a sync is planned from.
type Request struct {
	// Objects are declared, complete, and scoped as the cluster has them.
	Objects []*unstructured.Unstructured
	// ID is the identity of an object in the cluster of the Application.
	ID func(*unstructured.Unstructured) engine.Entry
	// Extra are pruned, the last ones when PruneLast is set.
	Extra     []Extra
	PruneLast bool
	// Selected, when set, says which objects are synced; hooks are not then.
	Selected func(engine.ObjectID) bool
	// NoHooks runs none.
	NoHooks bool
	// Digest tells hooks apart by their content.
	Digest func(*unstructured.Unstructured) string
	// Namespace, when set, is made before everything else.
	Namespace *unstructured.Unstructured
	Revision  string
	Run       string
	Started   time.Time
	// Succeeded are hooks that have succeeded in this run, as a process saw that has ended since. They may be gone by now.
	Succeeded map[Hooked]bool
}

// Hooked is a hook, or any other object, in one phase.
type Hooked struct {
	ID    engine.ObjectID
	Phase Phase
}

// New plans a sync.
func New(r Request) *Operation {
	o := &Operation{Run: r.Run, Started: r.Started}
	if r.Namespace != nil {
		o.Tasks = append(o.Tasks, r.task(r.Namespace, PreSync, minWave))
	}
	for _, u := range r.Objects {
		o.Tasks = append(o.Tasks, r.tasks(u)...)
	}
	o.adjust()
	o.Tasks = append(o.Tasks, r.prunes(o.Tasks)...)
	slices.SortStableFunc(o.Tasks, compareTasks)
	return o
}

// minWave is before every wave.
const minWave = -1 << 31

func (r Request) task(u *unstructured.Unstructured, phase Phase, wave int) *Task {
	e := r.ID(u)
	return &Task{ID: e.ID, Version: e.Version, Phase: phase, Wave: wave, Object: u}
}

func (r Request) tasks(u *unstructured.Unstructured) []*Task {
	hook := HookOf(u)
	wave := WaveOf(u.GetAnnotations())
	switch {
	case hook.Skip:
		return nil
	case !hook.Is:
		t := r.task(u, Sync, wave)
		if r.Selected != nil && !r.Selected(t.ID) {
			return nil
		}
		return []*Task{t}
	case r.NoHooks || r.Selected != nil:
		return nil
	}
	var tasks []*Task
	for _, phase := range hook.Phases {
		if phase == PreDelete || phase == PostDelete {
			continue
		}
		tasks = append(tasks, r.hook(u, phase, wave, hook))
	}
	return tasks
}

// hook is the task of a hook in one phase. One without a name of its own gets one that no other run has.
func (r Request) hook(u *unstructured.Unstructured, phase Phase, wave int, hook Hook) *Task {
	digest := r.Digest(u)
	if u.GetName() == "" {
		u = u.DeepCopy()
		u.SetName(strings.ToLower(fmt.Sprintf("%s%s-%s-%d", u.GetGenerateName(), shortRevision(r.Revision), phase, r.Started.Unix())))
		u.SetGenerateName("")
	}
	t := r.task(u, phase, wave)
	t.Hook, t.Policies, t.Digest = true, hook.Policies, digest
	if r.Succeeded[Hooked{t.ID, phase}] {
		t.State, t.Code, t.Message = Done, Synced, "it has completed"
	}
	return t
}

// shortRevision is the revision of the first source, short, and without what cannot be in a name.
func shortRevision(revision string) string {
	first, _, _ := strings.Cut(revision, ",")
	first = first[strings.LastIndexByte(first, ':')+1:]
	return first[:min(7, len(first))]
}

// prunes are the tasks that delete what is no longer declared, in the reverse of the waves that they were made in.
func (r Request) prunes(tasks []*Task) []*Task {
	waves := map[int]bool{}
	var extra []Extra
	for _, e := range r.Extra {
		if r.Selected != nil && !r.Selected(e.ID) {
			continue
		}
		extra = append(extra, e)
		waves[e.Wave] = true
	}
	sorted := slices.Sorted(maps.Keys(waves))
	swapped := make(map[int]int, len(sorted))
	for i, w := range sorted {
		swapped[w] = sorted[len(sorted)-1-i]
	}
	last := 0
	for _, t := range tasks {
		if t.Phase == Sync {
			last = max(last, t.Wave)
		}
	}
	for _, w := range sorted {
		last = max(last, w)
	}
	var prunes []*Task
	for _, e := range extra {
		t := &Task{ID: e.ID, Version: e.Version, Phase: Sync, Wave: swapped[e.Wave], Prune: true, Confirm: e.Confirm}
		if e.Last || r.PruneLast {
			t.Wave = last + 1
		}
		prunes = append(prunes, t)
	}
	return prunes
}

// Removal is what a deletion is planned from.
type Removal struct {
	// Hooks may hold hooks for deletions; other objects are passed over, and those of other phases than Phases.
	Hooks  []*unstructured.Unstructured
	Phases []Phase
	ID     func(*unstructured.Unstructured) engine.Entry
	// Held are deleted, in the reverse of their waves. Cascade has hooks from before the deletion go with them.
	Held     []Extra
	Cascade  bool
	Digest   func(*unstructured.Unstructured) string
	Revision string
	Run      string
	Started  time.Time
}

// Delete plans the deletion of what an Application holds.
func Delete(r Removal) *Operation {
	o := &Operation{Run: r.Run, Started: r.Started, removal: true}
	request := Request{ID: r.ID, Digest: r.Digest, Revision: r.Revision, Run: r.Run, Started: r.Started}
	held := r.Held
	for _, u := range r.Hooks {
		hook := HookOf(u)
		for _, phase := range hook.Phases {
			if !slices.Contains(r.Phases, phase) {
				continue
			}
			t := request.hook(u, phase, WaveOf(u.GetAnnotations()), hook)
			o.Tasks = append(o.Tasks, t)
			known := slices.ContainsFunc(held, func(e Extra) bool { return e.ID == t.ID })
			if phase == PreDelete && r.Cascade && !known {
				held = append(held, Extra{Entry: engine.Entry{ID: t.ID, Version: t.Version}, Wave: t.Wave})
			}
		}
	}
	for _, e := range held {
		o.Tasks = append(o.Tasks, &Task{ID: e.ID, Version: e.Version, Phase: Sync, Wave: -e.Wave, Prune: true, Confirm: e.Confirm})
	}
	slices.SortStableFunc(o.Tasks, compareTasks)
	return o
}

// adjust moves a namespace before the first object in it, and a definition before the first object of its kind: into
// the phase and the wave of that.
func (o *Operation) adjust() {
	slices.SortStableFunc(o.Tasks, compareTasks)
	for _, t := range o.Tasks {
		var needs func(*Task) bool
		switch {
		case t.ID.Kind == "Namespace" && t.ID.Group == "":
			needs = func(other *Task) bool { return other.ID.Namespace == t.ID.Name }
		case t.ID.Kind == "CustomResourceDefinition" && t.Object != nil:
			defined, _ := engine.DefinedKind(t.Object)
			needs = func(other *Task) bool { return other.ID.GroupKind() == defined }
		default:
			continue
		}
		for _, other := range o.Tasks {
			if other != t && needs(other) && compareGroup(other, t) < 0 && other.Phase != SyncFail {
				t.Phase, t.Wave = other.Phase, other.Wave
			}
		}
	}
}

// kindOrder is the order in which the objects of a wave are written.
var kindOrder = []string{
	"Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy", "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList",
	"ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList",
	"ClusterRoleBinding", "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
	"ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob", "IngressClass", "Ingress", "APIService",
}

// KindRank is the place of a kind in the order of a wave; kinds that are not named come last.
func KindRank(kind string) int {
	if at := slices.Index(kindOrder, kind); at >= 0 {
		return at
	}
	return len(kindOrder)
}

func compareTasks(a, b *Task) int {
	return cmp.Or(compareGroup(a, b), cmp.Compare(KindRank(a.ID.Kind), KindRank(b.ID.Kind)), a.ID.Compare(b.ID))
}

// Batches cuts tasks into those that are written at a time: of the same kind.
func Batches(tasks []*Task) [][]*Task {
	var batches [][]*Task
	for i, t := range tasks {
		if i == 0 || t.ID.Kind != tasks[i-1].ID.Kind {
			batches = append(batches, nil)
		}
		batches[len(batches)-1] = append(batches[len(batches)-1], t)
	}
	return batches
}
