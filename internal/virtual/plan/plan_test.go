package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

func TestMappings(t *testing.T) {
	for name, c := range map[string]struct {
		reason   string
		byName   map[string]string
		want     []plan.Mapping
		problems []string
	}{
		"Namespace": {
			reason: "all Secrets of a namespace",
			byName: map[string]string{"nextjs/*": "nextjs/*", "backstage/*": "portal/*"},
			want: []plan.Mapping{
				{Host: plan.Name{Namespace: "backstage", Name: "*"}, Virtual: plan.Name{Namespace: "portal", Name: "*"}},
				{Host: plan.Name{Namespace: "nextjs", Name: "*"}, Virtual: plan.Name{Namespace: "nextjs", Name: "*"}},
			},
		},
		"Own": {
			reason: "without a namespace it is that of the virtual cluster",
			byName: map[string]string{"": "all", "/one": "some/other"},
			want: []plan.Mapping{
				{Host: plan.Name{Namespace: "own", Name: "*"}, Virtual: plan.Name{Namespace: "all", Name: "*"}},
				{Host: plan.Name{Namespace: "own", Name: "one"}, Virtual: plan.Name{Namespace: "some", Name: "other"}},
			},
		},
		"OneBad": {
			reason:   "a mapping in error is named, and the others are read",
			byName:   map[string]string{"a/b": "c/d", "nextjs": "nextjs/*"},
			want:     []plan.Mapping{{Host: plan.Name{Namespace: "a", Name: "b"}, Virtual: plan.Name{Namespace: "c", Name: "d"}}},
			problems: []string{`mapping "nextjs": the source "nextjs" is not namespace/name or namespace/*`},
		},
		"HalfAll": {
			reason:   "all Secrets cannot become one",
			byName:   map[string]string{"a/*": "b/c"},
			problems: []string{`mapping "a/*": "a/*" maps to "b/c": either both name all Secrets of a namespace with *, or neither`},
		},
		"AllNamespaces": {
			reason:   "a namespace is named, never matched",
			byName:   map[string]string{"*/*": "a/*"},
			problems: []string{`mapping "*/*": the source has "*" as namespace: `},
		},
		"Path": {
			reason:   "names are names of Secrets",
			byName:   map[string]string{"a/../b": "a/b"},
			problems: []string{`mapping "a/../b": the source has "../b" as name of a Secret: `},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := plan.Mappings(c.byName, "own")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if len(problems) != len(c.problems) {
				t.Fatalf("%s: problems %v, want %v", c.reason, problems, c.problems)
			}
			for i, p := range problems {
				if !strings.HasPrefix(p.Error(), c.problems[i]) {
					t.Errorf("%s: problem %q, want %q", c.reason, p.Error(), c.problems[i])
				}
			}
		})
	}
}

func TestMappingsAreBounded(t *testing.T) {
	many := map[string]string{}
	for _, a := range "abcdefghijklmnopqrst" {
		for _, b := range "abcdefghijklmnopqrst" {
			many["ns/"+string(a)+string(b)] = "ns/x"
		}
	}
	got, problems := plan.Mappings(many, "own")
	if len(got) != plan.MaxMappings || len(problems) != 1 || !strings.Contains(problems[0].Reason, "400 mappings") {
		t.Errorf("%d mappings are read, with problems %v", len(got), problems)
	}
}

func TestCopy(t *testing.T) {
	n := func(text string) plan.Name {
		namespace, name, _ := strings.Cut(text, "/")
		return plan.Name{Namespace: namespace, Name: name}
	}
	for name, c := range map[string]struct {
		reason string
		byName map[string]string
		facts  plan.Facts
		want   plan.Copies
	}{
		"New": {
			reason: "what has no copy gets one",
			byName: map[string]string{"a/*": "b/*"},
			facts:  plan.Facts{Host: map[plan.Name]string{n("a/x"): "1", n("c/y"): "1"}},
			want:   plan.Copies{Write: map[plan.Name]plan.Name{n("b/x"): n("a/x")}},
		},
		"Same": {
			reason: "what did not change is not written",
			byName: map[string]string{"a/*": "a/*"},
			facts:  plan.Facts{Host: map[plan.Name]string{n("a/x"): "1"}, Copied: map[plan.Name]string{n("a/x"): "1"}},
			want:   plan.Copies{Write: map[plan.Name]plan.Name{}},
		},
		"ChangedAndDeleted": {
			reason: "changes and deletions are followed",
			byName: map[string]string{"a/*": "a/*"},
			facts:  plan.Facts{Host: map[plan.Name]string{n("a/x"): "2"}, Copied: map[plan.Name]string{n("a/x"): "1", n("a/y"): "1"}},
			want:   plan.Copies{Write: map[plan.Name]plan.Name{n("a/x"): n("a/x")}, Delete: []plan.Name{n("a/y")}},
		},
		"Foreign": {
			reason: "a Secret of the virtual cluster that is not a copy is never overwritten",
			byName: map[string]string{"a/*": "a/*"},
			facts:  plan.Facts{Host: map[plan.Name]string{n("a/x"): "2"}, Others: map[plan.Name]bool{n("a/x"): true}},
			want: plan.Copies{Write: map[plan.Name]plan.Name{}, Problems: []plan.Problem{
				{Key: "a/x", Reason: "Secret a/x of the virtual cluster is not a copy, and is left as it is"},
			}},
		},
		"Single": {
			reason: "a mapping of one Secret precedes that of a namespace",
			byName: map[string]string{"a/*": "t/*", "b/y": "t/x"},
			facts:  plan.Facts{Host: map[plan.Name]string{n("a/x"): "1", n("b/y"): "2"}},
			want:   plan.Copies{Write: map[plan.Name]plan.Name{n("t/x"): n("b/y")}},
		},
		"NotPermitted": {
			reason: "no Secret of a namespace that is not permitted is copied, and previous copies go",
			byName: map[string]string{"kube-system/*": "a/*", "a/*": "b/*"},
			facts: plan.Facts{
				Host: map[plan.Name]string{n("kube-system/root"): "1", n("a/x"): "1"}, Copied: map[plan.Name]string{n("a/root"): "1", n("b/x"): "1"},
			},
			want: plan.Copies{Write: map[plan.Name]plan.Name{}, Delete: []plan.Name{n("a/root")}, Problems: []plan.Problem{
				{Key: "kube-system/*", Reason: `Secrets of namespace "kube-system" of the host are not permitted in this virtual cluster`},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mappings, problems := plan.Mappings(c.byName, "own")
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			c.facts.Permitted = func(namespace string) bool { return namespace != "kube-system" }
			if diff := cmp.Diff(c.want, plan.Copy(mappings, c.facts)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// FuzzMappings has no mapping reach further than what it names: a single namespace of the host, and one of the virtual cluster.
func FuzzMappings(f *testing.F) {
	for _, seed := range [][2]string{{"nextjs/*", "nextjs/*"}, {"a/b", "c/d"}, {"", "x"}, {"/a", "b/c"}, {"*/*", "*/*"}, {"a", "b"}, {"a/../b", "a/b"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		mappings, problems := plan.Mappings(map[string]string{from: to}, "own")
		if len(mappings)+len(problems) != 1 {
			t.Fatalf("%q to %q is %v with %v", from, to, mappings, problems)
		}
		host := map[plan.Name]string{{Namespace: "own", Name: "s"}: "1", {Namespace: "kube-system", Name: "root"}: "1"}
		got := plan.Copy(mappings, plan.Facts{Host: host, Permitted: func(namespace string) bool { return namespace == "own" }})
		for target, source := range got.Write {
			if source.Namespace != "own" {
				t.Errorf("%q to %q copies %s", from, to, source)
			}
			if target.Namespace == "" || strings.ContainsAny(target.String(), "*") || strings.Count(target.String(), "/") != 1 {
				t.Errorf("%q to %q writes %s", from, to, target)
			}
		}
	})
}
