package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRepositoryOf(t *testing.T) {
	main := Repository{Address: "git.example/org/repo", Ref: "main"}
	for name, tc := range map[string]struct {
		reason, address, ref string
		want                 Repository
	}{
		"plain":       {"as most write it", "https://git.example/org/repo", "main", main},
		"suffix":      {"a server takes both", "https://git.example/org/repo.git", "main", main},
		"slash":       {"a slash at the end says nothing", "https://git.example/org/repo/", "main", main},
		"credentials": {"who reads is not what is read", "https://user:token@git.example/org/repo.git", "main", main},
		"case":        {"hosts know no case, and most servers neither", "HTTPS://Git.Example/Org/Repo.git", "main", main},
		"port":        {"the port that is meant anyway", "https://git.example:443/org/repo", "main", main},
		"ssh":         {"the same by another protocol", "ssh://git@git.example:22/org/repo.git", "main", main},
		"scp":         {"as git writes SSH", "git@git.example:org/repo.git", "main", main},
		"branch":      {"the whole name of a branch", "https://git.example/org/repo", "refs/heads/main", main},
		"tag":         {"the whole name of a tag", "https://git.example/org/repo", "refs/tags/v1", Repository{"git.example/org/repo", "v1"}},
		"HEAD":        {"the branch that the repository begins with", "https://git.example/org/repo", "HEAD", Repository{"git.example/org/repo", ""}},
		"other port":  {"it may be another server", "http://git.example:3000/org/repo", "main", Repository{"git.example:3000/org/repo", "main"}},
		"registry":    {"an artifact", "oci://registry.example/org/app", "1.0", Repository{"registry.example/org/app", "1.0"}},
		"no address":  {"it is taken as it is", "%zz://", "", Repository{"%zz://", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, RepositoryOf(tc.address, tc.ref)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestBarrier(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1000+int64(seconds), 0) }
	line := RepositoryOf("https://git.example/repo", "main")
	// The deleting unit came to know revision r2 at 20.
	read := func(revision string, known, fetched int) Reading {
		return Reading{Repository: line, Revision: revision, Known: at(known), Fetched: at(fetched)}
	}
	u := Reader{ID: UnitID{Kind: "Kustomization", Name: "a"}, Reads: []Reading{read("main@sha1:r2", 20, 19)}, Current: true}
	b := func(change func(x *Reader)) Reader {
		x := Reader{
			ID: UnitID{Kind: "Application", Name: "b"}, Reads: []Reading{read("r2", 30, 29)}, Current: true, Revision: "r2",
		}
		change(&x)
		return x
	}
	behind := func(x *Reader) { x.Reads[0], x.Revision = read("r1", 5, 4), "r1" }
	object := ObjectID{Kind: "ConfigMap", Name: "x"}
	has := map[ObjectID]bool{object: true}
	none := Hold{}
	held := func(why string, rest Hold) Hold {
		rest.Waits = []Wait{{On: UnitID{Kind: "Application", Name: "b"}, Reason: why}}
		return rest
	}
	late := []UnitID{{Kind: "Application", Name: "b"}}
	const unread = `Application//b has not read revision "main@sha1:r2" yet`
	for name, tc := range map[string]struct {
		reason string
		change func(x *Reader)
		want   Hold
	}{
		"read":         {"it has read the same revision, as its source words it", func(*Reader) {}, none},
		"behind":       {"its source still has an older one", behind, held(unread, Hold{Late: late})},
		"ahead":        {"a fetch that began later gave another one: it is newer", func(x *Reader) { x.Reads[0] = read("r3", 40, 39) }, none},
		"at once":      {"a fetch that began before the revision was known may have missed it", func(x *Reader) { x.Reads[0] = read("r1", 5, 19) }, held(unread, Hold{Late: late})},
		"looked since": {"that it has an older one is no longer so", func(x *Reader) { x.Reads[0] = read("r1", 5, 21) }, none},
		"cannot fetch": {
			"the cause is told", func(x *Reader) { behind(x); x.Reads[0].Failure, x.Had = "401", has },
			held(unread+": 401 (ConfigMap/x, which it has had)", Hold{Late: late, Failing: true, Stuck: true}),
		},
		"cannot fetch, others": {"it has nothing to do with the object, and neither has the revision", func(x *Reader) { behind(x); x.Reads[0].Failure = "401" }, none},
		"first fetch":          {"what it is about to read is awaited", func(x *Reader) { x.Reads[0] = Reading{Repository: line} }, held(unread, Hold{Late: late})},
		"never fetched":        {"nobody holds others by a source that never gave anything", func(x *Reader) { x.Reads[0] = Reading{Repository: line, Failure: "401"} }, none},
		"fixed":                {"nothing newer comes of a suspended source", func(x *Reader) { behind(x); x.Reads[0].Fixed = true }, none},
		"other branch":         {"another line", func(x *Reader) { behind(x); x.Reads[0].Ref = "next" }, none},
		"other repo":           {"another repository", func(x *Reader) { behind(x); x.Reads[0].Address = "other" }, none},
		"HEAD":                 {"that HEAD is another branch is not known before it is fetched", func(x *Reader) { behind(x); x.Reads[0].Ref = "" }, held(unread, Hold{Late: late})},
		"other HEAD":           {"it is another branch", func(x *Reader) { x.Reads[0], x.Broken = read("r9", 5, 40), "bad"; x.Reads[0].Ref = "" }, none},
		"same HEAD": {
			"it is this branch", func(x *Reader) { x.Reads[0].Ref, x.Broken, x.Stands, x.Had = "", "bad", true, has },
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: bad (ConfigMap/x, which it has had)", Hold{Stuck: true}),
		},
		"one of two": {"it reads several repositories", func(x *Reader) {
			x.Reads = append([]Reading{{Repository: Repository{Address: "other"}}}, read("r1", 5, 4))
		}, held(unread, Hold{Late: late})},
		"not rendered": {"its source has read it, and it has not been rendered", func(x *Reader) { x.Current, x.Moving = false, true }, held(`Application//b has not read revision "r2" yet`, Hold{})},
		"not moving":   {"nothing is under way", func(x *Reader) { x.Current, x.Message = false, "waiting\nfor c" }, held(`Application//b has not read revision "r2" yet: waiting for c`, Hold{Stuck: true})},
		"declared":     {"a unit without a source", func(x *Reader) { x.Current, x.Sourceless, x.Moving = false, true, true }, held("Application//b has not been rendered yet as declared", Hold{})},
		"broken": {
			"what it claims is not known", func(x *Reader) { x.Broken, x.Stands, x.Had = "no such file", true, has },
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: no such file (ConfigMap/x, which it has had)", Hold{Stuck: true}),
		},
		"broken, named": {
			"its files name the object", func(x *Reader) {
				x.Broken, x.Stands = "no such file", true
				x.Mentions.Read("kind: ConfigMap\nmetadata: {name: x}")
			},
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: no such file (ConfigMap/x, which its files name)", Hold{Stuck: true}),
		},
		"broken, generated": {
			"a template may give the object its name", func(x *Reader) {
				x.Broken, x.Stands = "no values", true
				x.Mentions.Read("kind: ConfigMap\nmetadata:\n  name: ${NAME}")
			},
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: no values (ConfigMap/x, which its templates may generate)", Hold{Stuck: true}),
		},
		"broken, others": {"it has nothing to do with the object", func(x *Reader) {
			x.Broken, x.Stands, x.Had = "no such file", true, map[ObjectID]bool{{Kind: "ConfigMap", Name: "y"}: true}
			x.Mentions.Read("kind: ConfigMap\nmetadata: {name: y}")
		}, none},
		"never came":       {"nothing comes of it, and it has nothing to do with the object", func(x *Reader) { x.Current, x.Revision, x.Stands = false, "", true }, none},
		"absent":           {"its path is not in the revision", func(x *Reader) { x.Broken, x.Absent = "no such path", true }, none},
		"absent before":    {"that its path was not in an older one says nothing", func(x *Reader) { behind(x); x.Broken, x.Absent = "no such path", true }, held(unread, Hold{Late: late})},
		"condemned":        {"it is about to go", func(x *Reader) { behind(x); x.Condemned = true }, none},
		"suspended":        {"it claims nothing", func(x *Reader) { behind(x); x.Idle = true }, none},
		"condemned broken": {"it is about to go, whatever it declares", func(x *Reader) { x.Broken, x.Condemned = "bad", true }, none},
		"expects":          {"what it declares is not there yet", func(x *Reader) { x.Expects, x.Moving = "b declares c, which has not begun yet", true }, held("b declares c, which has not begun yet", Hold{})},
		"follows":          {"both would wait for ever", func(x *Reader) { x.Expects, x.Follows = "b declares c, which has not begun yet", true }, none},
		"follows unread":   {"it is rendered while it waits", func(x *Reader) { behind(x); x.Follows = true }, held(unread, Hold{Late: late})},
		"elsewhere":        {"it works in another cluster", func(x *Reader) { behind(x); x.Cluster = "far" }, none},
		"itself":           {"a unit does not wait for itself", func(x *Reader) { behind(x); x.ID = u.ID }, none},
	} {
		t.Run(name, func(t *testing.T) {
			got := Barrier(u, []Reader{b(tc.change)}, Doomed{Objects: []ObjectID{object}, Now: at(50), Bound: time.Hour, Files: &Mentions{}})
			if held := len(tc.want.Waits) > 0; got.Objects[object] != held || held != (got.Ends != "") || held == got.Until.IsZero() {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			got.Objects, got.Since, got.Until, got.Ends = nil, nil, time.Time{}, ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestBarrierOfAWhole(t *testing.T) {
	line, now := RepositoryOf("https://git.example/repo", "main"), time.Unix(1000, 0)
	reads := func(revision, failure string) []Reading {
		return []Reading{{Repository: line, Revision: revision, Known: now, Fetched: now.Add(-time.Second), Failure: failure}}
	}
	u := Reader{ID: UnitID{Kind: "Application", Name: "a"}, Reads: reads("r2", ""), Current: true, Whole: true}
	for name, tc := range map[string]struct {
		reason string
		other  Reader
		waits  bool
	}{
		"behind":       {"it is fetched, and comes", Reader{Reads: reads("r1", "")}, true},
		"not rendered": {"it is about to be", Reader{Reads: reads("r2", ""), Moving: true}, true},
		"cannot fetch": {"that may last for ever", Reader{Reads: reads("r1", "401"), Current: true}, false},
		"broken":       {"that may last for ever", Reader{Reads: reads("r2", ""), Current: true, Broken: "bad"}, false},
		"stands":       {"that may last for ever", Reader{Reads: reads("r2", ""), Stands: true}, false},
	} {
		tc.other.ID = UnitID{Kind: "Application", Name: "b"}
		if waits := u.Awaits(tc.other) != ""; waits != tc.waits {
			t.Errorf("%s: %s: it waits: %t", name, tc.reason, waits)
		}
	}
}

func TestBarrierOfSeveral(t *testing.T) {
	r := []Reading{{Repository: Repository{Address: "repo"}, Revision: "r2"}}
	u := Reader{ID: UnitID{Kind: "K", Name: "a"}, Reads: r, Current: true, Expects: "K//a has not applied K//set yet"}
	x, y := ObjectID{Kind: "C", Name: "x"}, ObjectID{Kind: "C", Name: "y"}
	others := []Reader{
		{ID: UnitID{Kind: "K", Name: "c"}, Reads: r, Revision: "r2", Moving: true},
		{ID: UnitID{Kind: "K", Name: "b"}, Reads: r, Current: true, Broken: "bad", Stands: true, Had: map[ObjectID]bool{x: true, y: true}},
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	doomed := Doomed{Objects: []ObjectID{y, x, {Kind: "C", Name: "z"}}, Now: now, Bound: time.Hour, Since: map[ObjectID]time.Time{y: now.Add(-time.Minute)}}
	got := Barrier(u, others, doomed)
	want := Hold{Waits: []Wait{
		{On: UnitID{Kind: "K", Name: "a"}, Reason: "K//a has not applied K//set yet"},
		{On: UnitID{Kind: "K", Name: "b"}, Reason: "K//b cannot be rendered at this revision and may claim what would be deleted: bad (C/x, which it has had, and 1 more)"},
		{On: UnitID{Kind: "K", Name: "c"}, Reason: `K//c has not read revision "r2" yet`},
	}}
	if diff := cmp.Diff(want.Waits, got.Waits); diff != "" || got.Stuck {
		t.Errorf("all are named, and one moves: %s", diff)
	}
	if u.Idle = true; len(Barrier(u, others, doomed).Waits) != 2 {
		t.Error("a unit that is deleted waits for nothing of its own")
	}
	const text = `deletions wait: K//a has not applied K//set yet; K//b cannot be rendered at this revision and may claim what would be deleted: bad (C/x, which it has had, and 1 more); K//c has not read revision "r2" yet; to delete at once, annotate K//a with headgate.dev/deletion-hold: "0s"; otherwise they wait until 2026-01-02T04:03:05Z at most`
	if diff := cmp.Diff(text, got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestHoldBound(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, annotation string
		want               time.Duration
		wrong              bool
	}{
		"none":     {"nothing is said", "", time.Hour, false},
		"at once":  {"nothing is held", "0s", 0, false},
		"longer":   {"a week", "168h", 168 * time.Hour, false},
		"negative": {"no such time", "-1s", time.Hour, true},
		"text":     {"no time", "never", time.Hour, true},
	} {
		if got, err := HoldBound(tc.annotation, time.Hour); got != tc.want || (err != nil) != tc.wrong {
			t.Errorf("%s: %s: got %s, %v", name, tc.reason, got, err)
		}
	}
}

// TestBarrierEnds has every hold end, each object in its time, and stay over.
func TestBarrierEnds(t *testing.T) {
	r := []Reading{{Repository: Repository{Address: "repo"}, Revision: "r2"}}
	x, y, now := ObjectID{Kind: "C", Name: "x"}, ObjectID{Kind: "C", Name: "y"}, time.Unix(1000, 0)
	u := Reader{ID: UnitID{Kind: "K", Name: "a"}, Reads: r, Current: true}
	broken := Reader{ID: UnitID{Kind: "K", Name: "b"}, Reads: r, Current: true, Broken: "bad", Stands: true, Had: map[ObjectID]bool{x: true, y: true}}
	doomed := Doomed{Objects: []ObjectID{x, y}, Now: now, Bound: time.Hour}
	barrier := func() Hold { return Barrier(u, []Reader{broken}, doomed) }
	first := barrier()
	if diff := cmp.Diff(map[ObjectID]bool{x: true, y: true}, first.Objects); diff != "" || !first.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("both are held for the whole time: %s", diff)
	}
	doomed.Since = map[ObjectID]time.Time{x: first.Since[x], y: now.Add(time.Minute)}
	doomed.Now = now.Add(time.Hour)
	second := barrier()
	if diff := cmp.Diff(map[ObjectID]bool{y: true}, second.Objects); diff != "" || !second.Until.Equal(now.Add(time.Hour+time.Minute)) {
		t.Errorf("the first one is held no longer: %s", diff)
	}
	doomed.Since, doomed.Now = second.Since, now.Add(2*time.Hour)
	if third := barrier(); len(third.Objects)+len(third.Waits) > 0 || len(third.Since) != 2 {
		t.Errorf("nothing is held, and that is remembered: got %+v", third)
	}
	doomed.Objects, doomed.Along = []ObjectID{{Kind: "K", Name: "set"}}, map[ObjectID][]ObjectID{{Kind: "K", Name: "set"}: {{Kind: "C", Name: "z"}, y}}
	const text = `K//b cannot be rendered at this revision and may claim what would be deleted: bad (C/y, which it has had)`
	if along := barrier(); len(along.Objects) != 1 || along.Waits[0].Reason != text {
		t.Errorf("what goes with an object holds it: got %+v", along)
	}
	doomed.Since, doomed.Bound = nil, 0
	if none := barrier(); len(none.Objects)+len(none.Waits) > 0 {
		t.Errorf("nothing is held at all: got %+v", none)
	}
}

// TestBarrierOfTenants has nothing of another tenant hold anything, and what may be one for a moment.
func TestBarrierOfTenants(t *testing.T) {
	r := []Reading{{Repository: Repository{Address: "repo"}, Revision: "r2"}}
	x, now := ObjectID{Kind: "C", Name: "x"}, time.Unix(1000, 0)
	const none, long = time.Duration(0), 24 * time.Hour
	for name, tc := range map[string]struct {
		reason      string
		mine, other Tenant
		// reading is how long one holds that has not read the revision, and broken one that cannot be rendered.
		reading, broken time.Duration
	}{
		"same":            {"one tenant", Tenant{Namespace: "a"}, Tenant{Namespace: "a"}, long, long},
		"account":         {"another account", Tenant{Namespace: "a", Account: "x"}, Tenant{Namespace: "a", Account: "y"}, neighbourly, none},
		"namespace":       {"another namespace", Tenant{Namespace: "a"}, Tenant{Namespace: "b"}, neighbourly, none},
		"both":            {"another account and namespace", Tenant{Namespace: "a", Account: "x"}, Tenant{Namespace: "b", Account: "y"}, none, none},
		"platform":        {"the account of the engine is another one", Tenant{Namespace: "a"}, Tenant{Namespace: "b", Account: "y"}, none, none},
		"confined":        {"no namespace refers to another one", Tenant{Namespace: "a", Confined: true}, Tenant{Namespace: "b", Confined: true}, none, none},
		"source":          {"it reads a source of the other namespace", Tenant{Namespace: "a", Refers: []string{"b"}}, Tenant{Namespace: "b"}, long, long},
		"read":            {"the other one reads a source of this namespace", Tenant{Namespace: "a"}, Tenant{Namespace: "b", Refers: []string{"a"}}, long, long},
		"common source":   {"both read a source of a third namespace", Tenant{Namespace: "a", Refers: []string{"c"}}, Tenant{Namespace: "b", Refers: []string{"c"}}, neighbourly, none},
		"child":           {"it declares the other one", Tenant{Namespace: "a"}, Tenant{Namespace: "b", Refers: []string{"b", "a"}}, long, long},
		"siblings":        {"one unit declares both", Tenant{Namespace: "a", Refers: []string{"a", "c"}}, Tenant{Namespace: "b", Refers: []string{"b", "c"}}, neighbourly, none},
		"project":         {"another project", Tenant{Namespace: "a", Project: "x"}, Tenant{Namespace: "a", Project: "y"}, neighbourly, none},
		"no project":      {"only one of the two has a project", Tenant{Namespace: "a", Project: "x"}, Tenant{Namespace: "a"}, long, long},
		"child, accounts": {"a child that acts as another account", Tenant{Namespace: "a"}, Tenant{Namespace: "b", Account: "y", Refers: []string{"a"}}, none, none},
	} {
		u := Reader{ID: UnitID{Kind: "K", Name: "a"}, Tenant: tc.mine, Reads: r, Current: true}
		holds := func(other Reader) time.Duration {
			other.ID, other.Tenant, other.Reads = UnitID{Kind: "K", Name: "b"}, tc.other, r
			h := Barrier(u, []Reader{other}, Doomed{Objects: []ObjectID{x}, Now: now, Bound: long})
			if len(h.Objects) == 0 {
				return none
			}
			return h.Until.Sub(now)
		}
		if got := holds(Reader{Revision: "r2", Moving: true}); got != tc.reading {
			t.Errorf("%s: %s: one that reads holds for %s, want %s", name, tc.reason, got, tc.reading)
		}
		if got := holds(Reader{Current: true, Broken: "bad", Stands: true, Had: map[ObjectID]bool{x: true}}); got != tc.broken {
			t.Errorf("%s: %s: one that is broken holds for %s, want %s", name, tc.reason, got, tc.broken)
		}
	}
}

// TestBarrierOfALostSource has a source that cannot be fetched hold what the revision names, and everything while that is unknown.
func TestBarrierOfALostSource(t *testing.T) {
	x, y, now := ObjectID{Kind: "C", Name: "x"}, ObjectID{Kind: "C", Name: "y"}, time.Unix(1000, 0)
	at := Repository{Address: "repo"}
	u := Reader{ID: UnitID{Kind: "K", Name: "a"}, Reads: []Reading{{Repository: at, Revision: "r2", Known: now}}, Current: true}
	other := Reader{ID: UnitID{Kind: "K", Name: "b"}, Reads: []Reading{{Repository: at, Revision: "r1", Failure: "401"}}, Current: true}
	doomed := Doomed{Objects: []ObjectID{x, y}, Now: now, Bound: time.Hour}
	if h := Barrier(u, []Reader{other}, doomed); !h.Objects[x] || !h.Objects[y] {
		t.Errorf("what the revision names is not known: got %+v", h)
	}
	doomed.Files = &Mentions{}
	doomed.Files.Read("kind: C\nmetadata: {name: x}")
	h := Barrier(u, []Reader{other}, doomed)
	want := []Wait{{On: other.ID, Reason: `K//b has not read revision "r2" yet: 401 (C/x, which the revision names)`}}
	if diff := cmp.Diff(want, h.Waits); diff != "" || h.Objects[y] {
		t.Errorf("the revision names one of them: %s", diff)
	}
}
