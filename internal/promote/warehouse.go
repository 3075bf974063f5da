package promote

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/discover"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/redaction"
	"github.com/headgate-dev/headgate/internal/rounds"
)

const (
	// interval is that between two searches of a Warehouse that names none, leastInterval the shortest.
	interval, leastInterval = 5 * time.Minute, time.Second
)

// warehouse searches the repositories of a Warehouse, and makes Freight of what is new.
func (p *part) warehouse(ctx context.Context, id engine.UnitID) rounds.Next {
	w, there := p.warehouses.Get(id)
	if !there || w.DeletionTimestamp != nil || w.Spec.Shard != "" {
		return rounds.Rest()
	}
	every := interval
	if parsed, err := time.ParseDuration(w.Spec.Interval); err == nil {
		every = max(parsed, leastInterval)
	}
	if wait := p.limited(id); wait > 0 {
		return rounds.After(wait)
	}
	after := w.Status.DeepCopy()
	found, err := p.finder.Find(ctx, w, w.Status.DiscoveredArtifacts)
	if err == nil {
		// The time of a search is that of the first one that found this, so that a search that finds nothing new writes nothing.
		if before := w.Status.DiscoveredArtifacts; before != nil {
			found.DiscoveredAt = before.DiscoveredAt
		}
		if !sameFindings(found, w.Status.DiscoveredArtifacts) {
			found.DiscoveredAt = metav1.Now()
		}
		after.DiscoveredArtifacts = found
		err = p.freight(ctx, w, after)
	}
	if ctx.Err() != nil {
		return rounds.Rest()
	}
	after.ObservedGeneration, after.LastHandledRefresh = w.Generation, w.Annotations[v1alpha1.RefreshAnnotation]
	condition := metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "ArtifactsDiscovered", Message: "the subscriptions have been searched", ObservedGeneration: w.Generation,
	}
	if err != nil {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, "DiscoveryFailed", redaction.Text(err.Error())
	}
	meta.SetStatusCondition(&after.Conditions, condition)
	if werr := p.warehouses.State(ctx, p.writer(warehouseKind()), w, w.Status, *after); werr != nil {
		return rounds.Retry(werr)
	}
	var limit *discover.RateLimit
	if errors.As(err, &limit) {
		p.limits.Store(id, time.Now().Add(limit.After))
		return rounds.After(max(every, limit.After))
	}
	if err != nil {
		return rounds.Retry(fmt.Errorf("Warehouse %s/%s: %w", w.Namespace, w.Name, err))
	}
	return rounds.After(every)
}

// limited is how long a server asked not to be asked again for a Warehouse, whatever wakes that.
func (p *part) limited(id engine.UnitID) time.Duration {
	until, is := p.limits.Load(id)
	if !is {
		return 0
	}
	at, _ := until.(time.Time)
	return time.Until(at)
}

// sameFindings reports whether two searches found the same.
func sameFindings(a, b *v1alpha1.DiscoveredArtifacts) bool {
	return b != nil && reflect.DeepEqual(a.Git, b.Git) && reflect.DeepEqual(a.Images, b.Images) && reflect.DeepEqual(a.Charts, b.Charts)
}

// freight makes the Freight of the best of each subscription, if there is something of each, and it is new.
func (p *part) freight(ctx context.Context, w *v1alpha1.Warehouse, status *v1alpha1.WarehouseStatus) error {
	if w.Spec.FreightCreationPolicy == v1alpha1.FreightCreationManual {
		return nil
	}
	if c := w.Spec.FreightCreationCriteria; c != nil {
		if fulfilled, err := discover.Criteria(c.Expression, status.DiscoveredArtifacts); err != nil || !fulfilled {
			return err
		}
	}
	f := &v1alpha1.Freight{Origin: v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: w.Name}}
	for _, result := range status.DiscoveredArtifacts.Git {
		if len(result.Commits) == 0 {
			return nil
		}
		c := result.Commits[0]
		f.Commits = append(f.Commits, v1alpha1.GitCommit{
			RepoURL: result.RepoURL, ID: c.ID, Branch: c.Branch, Tag: c.Tag, Message: c.Subject, Author: c.Author, Committer: c.Committer,
			SubscriptionName: result.SubscriptionName,
		})
	}
	for _, result := range status.DiscoveredArtifacts.Images {
		if len(result.References) == 0 {
			return nil
		}
		i := result.References[0]
		f.Images = append(f.Images, v1alpha1.Image{
			RepoURL: result.RepoURL, Tag: i.Tag, Digest: i.Digest, Annotations: i.Annotations, SubscriptionName: result.SubscriptionName,
		})
	}
	for _, result := range status.DiscoveredArtifacts.Charts {
		if len(result.Versions) == 0 {
			return nil
		}
		f.Charts = append(f.Charts, v1alpha1.Chart{
			RepoURL: result.RepoURL, Name: result.Name, Version: result.Versions[0], SubscriptionName: result.SubscriptionName,
		})
	}
	name := plan.FreightName(f)
	if name == status.LastFreightID {
		return nil
	}
	f.Name, f.Namespace, f.Alias = name, w.Namespace, aliasOf(name, 0)
	f.Labels = map[string]string{v1alpha1.AliasLabel: f.Alias}
	f.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w, v1alpha1.GroupVersion.WithKind(v1alpha1.WarehouseKind))}
	u, err := p.create(ctx, freightKind(), f)
	if err != nil {
		return err
	}
	if u != nil {
		if _, err := p.freights.Put(u); err != nil {
			return err
		}
	}
	status.LastFreightID = name
	return nil
}

// alias gives a Freight that a person made a name for people.
func (p *part) alias(ctx context.Context, id engine.UnitID) rounds.Next {
	f, there := p.freights.Get(id)
	if !there || f.DeletionTimestamp != nil {
		return rounds.Rest()
	}
	alias := f.Alias
	if alias == "" {
		alias = f.Labels[v1alpha1.AliasLabel]
	}
	for attempt := 0; alias == "" || p.taken(f, alias); attempt++ {
		if alias != "" && f.Labels[v1alpha1.AliasLabel] == alias {
			return rounds.Rest()
		}
		alias = aliasOf(f.Name, attempt)
	}
	if f.Alias == alias && f.Labels[v1alpha1.AliasLabel] == alias {
		return rounds.Rest()
	}
	u, err := p.writer(freightKind()).Patch(ctx, f, map[string]any{
		"alias": alias, "metadata": map[string]any{"labels": map[string]any{v1alpha1.AliasLabel: alias}},
	})
	if err == nil && u != nil {
		_, err = p.freights.Put(u)
	}
	return rounds.Done(err)
}

// taken reports whether another Freight of the Project has an alias.
func (p *part) taken(f *v1alpha1.Freight, alias string) bool {
	for _, other := range p.freights.All() {
		if other.Namespace == f.Namespace && other.Name != f.Name && other.Labels[v1alpha1.AliasLabel] == alias {
			return true
		}
	}
	return false
}

// aliasOf is a name for people, which follows from that of the Freight and from how many were taken.
func aliasOf(name string, attempt int) string {
	qualities := [...]string{"amber", "brave", "brisk", "calm", "clever", "coral", "dapper", "eager", "early", "fair", "gentle", "golden", "happy", "hasty", "honest", "jolly", "keen", "lively", "lucky", "mellow", "merry", "nimble", "noble", "plucky", "proud", "quiet", "rapid", "silent", "smooth", "steady", "sunny", "witty"}
	animals := [...]string{"badger", "beaver", "bison", "crane", "dingo", "dolphin", "eagle", "falcon", "ferret", "finch", "gecko", "heron", "ibex", "jackal", "koala", "lemur", "lynx", "marten", "mole", "moose", "newt", "otter", "owl", "panda", "puffin", "raven", "robin", "salmon", "seal", "stork", "tapir", "wombat"}
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, name, attempt)
	sum := hash.Sum32()
	return fmt.Sprintf("%s-%s", qualities[sum%32], animals[sum/32%32])
}
