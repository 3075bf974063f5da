package live

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/cluster"
	"github.com/headgate-dev/headgate/internal/engine"
)

// known are records of objects by their identities.
type known map[engine.ObjectID]cluster.Record

func (k known) Get(id engine.ObjectID) (cluster.Record, bool) {
	rec, there := k[id]
	return rec, there
}

// family are Applications by their names.
type family map[string]Standing

func (f family) Standing(id engine.UnitID) (Standing, bool) {
	s, read := f[id.Name]
	return s, read
}

func object(kind, name string) engine.ObjectID {
	return engine.ObjectID{Kind: kind, Namespace: "web", Name: name}
}

func child(name string) engine.ObjectID {
	return engine.ObjectID{Group: unitKind.Group, Kind: unitKind.Kind, Namespace: "argocd", Name: name}
}

// holding is the standing of an Application with some objects, by their statuses.
func holding(objects map[engine.ObjectID]string) Standing {
	s := Standing{Records: known{}}
	for id, status := range objects {
		s.Counted = append(s.Counted, id)
		if status != "" {
			s.Records.(known)[id] = cluster.Record{ID: id, Health: engine.ObjectHealth{ID: id, Status: status, Message: "says " + id.Name}}
		}
	}
	return s
}

// TestHealth asks for the health of Applications as objects of others, and for their own status.
func TestHealth(t *testing.T) {
	running := Health{Progressing, "its sync is running"}
	in := Children{family{
		"empty":     holding(nil),
		"elsewhere": {Counted: []engine.ObjectID{object("Service", "a")}},
		"gone":      holding(map[engine.ObjectID]string{object("Service", "a"): ""}),
		"worst":     holding(map[engine.ObjectID]string{object("Service", "a"): Healthy, object("Deployment", "b"): Degraded, object("Pod", "c"): Progressing}),
		"suspended": holding(map[engine.ObjectID]string{object("Service", "a"): Healthy, object("CronJob", "b"): "Suspended"}),
		"syncing":   {Unsettled: &running},
		"parent":    holding(map[engine.ObjectID]string{child("syncing"): Healthy, object("Service", "a"): Healthy}),
		"lenient":   holding(map[engine.ObjectID]string{child("elsewhere"): Healthy, object("Service", "a"): Healthy}),
		"stranger":  holding(map[engine.ObjectID]string{child("unread"): Healthy}),
		"itself":    holding(map[engine.ObjectID]string{child("itself"): Healthy}),
	}}
	for name, want := range map[string]Health{
		"empty":     {Healthy, ""},
		"elsewhere": {Missing, ""},
		"gone":      {Missing, "none of its objects exists"},
		"worst":     {Degraded, object("Deployment", "b").String() + ": says b"},
		"suspended": {"Suspended", object("CronJob", "b").String() + ": says b"},
		"syncing":   running,
		"parent":    {Progressing, child("syncing").String() + ": its sync is running"},
		"lenient":   {Healthy, ""},
		"stranger":  {Progressing, child("unread").String() + ": it has not been read yet"},
		"itself":    {Healthy, ""},
		"unread":    {Progressing, "it has not been read yet"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := in.Health(engine.UnitOf(child(name)), cluster.Record{}); got != want {
				t.Errorf("as the object of another one: got %v, want %v", got, want)
			}
			if s, read := in.Standing(engine.UnitOf(child(name))); read && s.Unsettled == nil {
				if got := in.Worst(s); got != want {
					t.Errorf("for its own status: got %v, want %v", got, want)
				}
			}
		})
	}
}

// TestOverride has a script of the settings say how well an Application is: that counts when nothing worse is known.
func TestOverride(t *testing.T) {
	in := Children{family{
		"well": holding(map[engine.ObjectID]string{object("Service", "a"): Healthy}),
		"ill":  holding(map[engine.ObjectID]string{object("Service", "a"): Degraded}),
	}}
	said := cluster.Record{Health: engine.ObjectHealth{Status: Progressing, Message: "the script says so"}}
	for name, want := range map[string]Health{
		"well": {Progressing, "the script says so"},
		"ill":  {Degraded, object("Service", "a").String() + ": says a"},
	} {
		if got := in.Health(engine.UnitOf(child(name)), said); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
