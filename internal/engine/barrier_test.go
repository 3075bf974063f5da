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
		"read":          {"it has read the same revision, as its source words it", func(*Reader) {}, none},
		"behind":        {"its source still has an older one", behind, held(unread, Hold{Late: late})},
		"ahead":         {"a fetch that began later gave another one: it is newer", func(x *Reader) { x.Reads[0] = read("r3", 40, 39) }, none},
		"at once":       {"a fetch that began before the revision was known may have missed it", func(x *Reader) { x.Reads[0] = read("r1", 5, 19) }, held(unread, Hold{Late: late})},
		"looked since":  {"that it has an older one is no longer so", func(x *Reader) { x.Reads[0] = read("r1", 5, 21) }, none},
		"cannot fetch":  {"the cause is told", func(x *Reader) { behind(x); x.Reads[0].Failure = "401" }, held(unread+": 401", Hold{Late: late, Failing: true, Stuck: true})},
		"first fetch":   {"what it is about to read is awaited", func(x *Reader) { x.Reads[0] = Reading{Repository: line} }, held(unread, Hold{Late: late})},
		"never fetched": {"nobody holds others by a source that never gave anything", func(x *Reader) { x.Reads[0] = Reading{Repository: line, Failure: "401"} }, none},
		"fixed":         {"nothing newer comes of a suspended source", func(x *Reader) { behind(x); x.Reads[0].Fixed = true }, none},
		"other branch":  {"another line", func(x *Reader) { behind(x); x.Reads[0].Ref = "next" }, none},
		"other repo":    {"another repository", func(x *Reader) { behind(x); x.Reads[0].Address = "other" }, none},
		"HEAD":          {"that HEAD is another branch is not known before it is fetched", func(x *Reader) { behind(x); x.Reads[0].Ref = "" }, held(unread, Hold{Late: late})},
		"other HEAD":    {"it is another branch", func(x *Reader) { x.Reads[0], x.Broken = read("r9", 5, 40), "bad"; x.Reads[0].Ref = "" }, none},
		"same HEAD": {
			"it is this branch", func(x *Reader) { x.Reads[0].Ref, x.Broken = "", "bad" },
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: bad", Hold{Stuck: true}),
		},
		"one of two": {"it reads several repositories", func(x *Reader) {
			x.Reads = append([]Reading{{Repository: Repository{Address: "other"}}}, read("r1", 5, 4))
		}, held(unread, Hold{Late: late})},
		"not rendered": {"its source has read it, and it has not been rendered", func(x *Reader) { x.Current, x.Moving = false, true }, held(`Application//b has not read revision "r2" yet`, Hold{})},
		"not moving":   {"nothing is under way", func(x *Reader) { x.Current, x.Message = false, "waiting\nfor c" }, held(`Application//b has not read revision "r2" yet: waiting for c`, Hold{Stuck: true})},
		"declared":     {"a unit without a source", func(x *Reader) { x.Current, x.Sourceless, x.Moving = false, true, true }, held("Application//b has not been rendered yet as declared", Hold{})},
		"broken": {
			"what it claims is not known", func(x *Reader) { x.Broken = "no such file" },
			held("Application//b cannot be rendered at this revision and may claim what would be deleted: no such file", Hold{Stuck: true}),
		},
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
			if diff := cmp.Diff(tc.want, Barrier(u, []Reader{b(tc.change)})); diff != "" {
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
	others := []Reader{
		{ID: UnitID{Kind: "K", Name: "c"}, Reads: r, Revision: "r2", Moving: true},
		{ID: UnitID{Kind: "K", Name: "b"}, Reads: r, Current: true, Broken: "bad"},
	}
	got := Barrier(u, others)
	want := Hold{Waits: []Wait{
		{On: UnitID{Kind: "K", Name: "a"}, Reason: "K//a has not applied K//set yet"},
		{On: UnitID{Kind: "K", Name: "b"}, Reason: "K//b cannot be rendered at this revision and may claim what would be deleted: bad"},
		{On: UnitID{Kind: "K", Name: "c"}, Reason: `K//c has not read revision "r2" yet`},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all are named, and one moves: %s", diff)
	}
	if u.Idle = true; len(Barrier(u, others).Waits) != 2 {
		t.Error("a unit that is deleted waits for nothing of its own")
	}
	const text = `deletions wait: K//a has not applied K//set yet; K//b cannot be rendered at this revision and may claim what would be deleted: bad; K//c has not read revision "r2" yet`
	if diff := cmp.Diff(text, got.String()); diff != "" {
		t.Error(diff)
	}
}
