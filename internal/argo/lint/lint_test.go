package lint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/headgate-dev/headgate/internal/engine"
)

func unit(name string) engine.UnitID {
	return engine.UnitID{Group: "argoproj.io", Kind: "Application", Namespace: "argocd", Name: name}
}

func member(parent, name string, wave int, objects ...Object) App {
	a := App{ID: unit(name), Wave: wave, Objects: objects}
	if parent != "" {
		a.Parent = unit(parent)
	}
	return a
}

func dependent(a App, on ...string) App {
	for _, name := range on {
		a.Depends = append(a.Depends, engine.Dependency{Unit: unit(name)})
	}
	return a
}

var (
	widgets = schema.GroupKind{Group: "example.com", Kind: "Widget"}
	crd     = Object{ID: engine.ObjectID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "widgets.example.com"}, Defines: widgets}
	widget  = Object{ID: engine.ObjectID{Group: "example.com", Kind: "Widget", Namespace: "ns", Name: "w"}}
	space   = Object{ID: engine.ObjectID{Kind: "Namespace", Name: "apps"}, Phase: 2}
	inSpace = Object{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "apps", Name: "c"}, Phase: 2, Needs: space.ID}
	config  = Object{ID: engine.ObjectID{Kind: "ConfigMap", Namespace: "ns", Name: "c"}}
)

// there is an object in another cluster.
func there(o Object) Object {
	o.ID = o.ID.In("there")
	return o
}

func TestCheck(t *testing.T) {
	const inWaves = "Widget/ns/w, in Application/argocd/user, needs the definition of its kind in Application/argocd/operator, which comes later: "
	cases := map[string]struct {
		reason string
		apps   []App
		want   []Finding
	}{
		"nothing": {reason: "an empty repository has nothing wrong with it"},
		"right order": {
			reason: "a definition in an earlier wave is as it should be",
			apps:   []App{member("", "root", 0), member("root", "operator", 0, crd), member("root", "user", 1, widget)},
		},
		"same wave": {
			reason: "members of one wave go at the same time, and a kind that is not there yet is waited for",
			apps:   []App{member("", "root", 0), member("root", "operator", 1, crd), member("root", "user", 1, widget)},
		},
		"own definition": {
			reason: "within an Application a definition is moved before its objects",
			apps:   []App{member("", "root", 0), member("root", "both", 0, widget, crd)},
		},
		"definition too late": {
			reason: "an object in an earlier wave than the definition of its kind is not waited for",
			apps:   []App{member("", "root", 0), member("root", "operator", 2, crd), member("root", "user", -1, widget)},
			want: []Finding{{App: unit("user"), About: widget.ID, Perhaps: true, Text: inWaves +
				"in the sync of Application/argocd/root, Application/argocd/user is in wave -1 and Application/argocd/operator in wave 2; " +
				"the sync continues without waiting for that, which Argo CD may not; move the definition to an earlier wave, or Application/argocd/user to a later one"}},
		},
		"definition too late, deeper": {
			reason: "waves count where the ways part: the wave within the other parent does not",
			apps: []App{
				member("", "root", 0), member("root", "infra", 3), member("infra", "operator", -5, crd),
				member("root", "apps", 2), member("apps", "user", 9, widget),
			},
			want: []Finding{{App: unit("user"), About: widget.ID, Perhaps: true, Text: inWaves +
				"in the sync of Application/argocd/root, Application/argocd/apps is in wave 2 and Application/argocd/infra in wave 3; " +
				"the sync continues without waiting for that, which Argo CD may not; move the definition to an earlier wave, or Application/argocd/user to a later one"}},
		},
		"several define": {
			reason: "one definition that comes early enough will do",
			apps: []App{
				member("", "root", 0), member("root", "early", 0, crd), member("root", "operator", 2, crd), member("root", "user", 1, widget),
			},
			want: []Finding{{App: unit("early"), About: crd.ID, Text: "CustomResourceDefinition/widgets.example.com is declared by Application/argocd/early and by Application/argocd/operator: remove it from all but one"}},
		},
		"namespace too late": {
			reason: "an object in an earlier wave than its namespace is not waited for",
			apps:   []App{member("", "root", 0), member("root", "spaces", 3, space), member("root", "user", 1, inSpace)},
			want: []Finding{{App: unit("user"), About: inSpace.ID, Perhaps: true, Text: "ConfigMap/apps/c, in Application/argocd/user, needs Namespace/apps of Application/argocd/spaces, which comes later: " +
				"in the sync of Application/argocd/root, Application/argocd/user is in wave 1 and Application/argocd/spaces in wave 3; " +
				"the sync continues without waiting for that, which Argo CD may not; move the namespace to an earlier wave, or Application/argocd/user to a later one"}},
		},
		"namespace in time": {
			reason: "a namespace of the same wave is waited for",
			apps:   []App{member("", "root", 0), member("root", "spaces", 1, space), member("root", "user", 1, inSpace)},
		},
		"namespace too late, within": {
			reason: "waves count within an Application too",
			apps:   []App{member("", "a", 0, inSpace, Object{ID: space.ID, Phase: 2, Wave: 1})},
			want: []Finding{{App: unit("a"), About: inSpace.ID, Never: true, Text: "ConfigMap/apps/c, in Application/argocd/a, needs Namespace/apps, which comes later in the same sync; " +
				"move the namespace to an earlier wave, or create it with the sync option CreateNamespace=true"}},
		},
		"namespace for a hook": {
			reason: "a hook before the sync comes before all of it",
			apps:   []App{member("", "a", 0, space, Object{ID: engine.ObjectID{Kind: "Job", Namespace: "apps", Name: "h"}, Hook: true, Phase: 1, Needs: space.ID})},
			want: []Finding{{App: unit("a"), About: engine.ObjectID{Kind: "Job", Namespace: "apps", Name: "h"}, Never: true, Text: "Job/apps/h, in Application/argocd/a, needs Namespace/apps, which comes later in the same sync; " +
				"move the namespace to an earlier wave, or create it with the sync option CreateNamespace=true"}},
		},
		"namespace of the sync": {
			reason: "the sync option makes it before anything else, and one who makes it in time will do",
			apps: []App{
				member("", "root", 0), {ID: unit("user"), Parent: unit("root"), Objects: []Object{inSpace}, Namespace: space.ID}, member("root", "spaces", 3, space),
			},
		},
		"elsewhere": {
			reason: "another cluster has kinds, namespaces and objects of its own",
			apps: []App{
				member("", "root", 0), member("root", "operator", 2, there(crd), there(space), there(config)), member("root", "user", -1, widget, inSpace, config),
			},
		},
		"namespace of nobody": {
			reason: "what nothing makes may be there", apps: []App{member("", "a", 0, inSpace)},
		},
		"two roots": {
			reason: "roots do not wait for each other",
			apps:   []App{member("", "operator", 5, crd), member("", "user", 0, widget)},
		},
		"later wave": {
			reason: "a member that depends on one of a later wave keeps that wave from beginning",
			apps:   []App{member("", "root", 0), dependent(member("root", "a", 1), "b"), member("root", "b", 2)},
			want: []Finding{{App: unit("a"), Never: true, Text: "Application/argocd/a depends on Application/argocd/b; " +
				"Application/argocd/b, in wave 2, waits for Application/argocd/a, in wave 1"}},
		},
		"cycle": {
			reason: "two that depend on each other wait forever",
			apps:   []App{dependent(member("", "a", 0), "b"), dependent(member("", "b", 0), "a")},
			want: []Finding{{
				App: unit("a"), Never: true, Declared: true,
				Text: "Application/argocd/a depends on Application/argocd/b; Application/argocd/b depends on Application/argocd/a",
			}},
		},
		"itself": {
			reason: "an Application that depends on itself is a cycle of one",
			apps:   []App{dependent(member("", "a", 0), "a")},
			want:   []Finding{{App: unit("a"), Never: true, Declared: true, Text: "Application/argocd/a depends on Application/argocd/a"}},
		},
		"parent": {
			reason: "a parent waits for its members, so that these cannot wait for it",
			apps:   []App{member("", "root", 0), dependent(member("root", "a", 0), "root")},
			want: []Finding{{App: unit("a"), Never: true, Text: "Application/argocd/a depends on Application/argocd/root; " +
				"Application/argocd/root waits for its member Application/argocd/a"}},
		},
		"unknown": {
			reason: "a dependency that nothing declares never becomes ready; one of another dialect is not for us to judge",
			apps: []App{dependent(member("", "a", 0), "nobody"), {ID: unit("b"), Depends: []engine.Dependency{
				{Unit: engine.UnitID{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization", Namespace: "flux-system", Name: "x"}},
			}}},
			want: []Finding{{App: unit("a"), Never: true, Text: "Application/argocd/a depends on Application/argocd/nobody, which the repository does not declare; " +
				"name one that it does in headgate.dev/depends-on"}},
		},
		"doubles": {
			reason: "an object belongs to one Application; hooks come and go",
			apps: []App{
				member("", "b", 0, config, Object{ID: engine.ObjectID{Kind: "Job", Name: "h"}, Hook: true}),
				member("", "a", 0, config, config, Object{ID: engine.ObjectID{Kind: "Job", Name: "h"}, Hook: true}),
			},
			want: []Finding{{App: unit("a"), About: config.ID, Text: "ConfigMap/ns/c is declared by Application/argocd/a and by Application/argocd/b: remove it from all but one"}},
		},
		"orphan of nobody": {
			reason: "a parent that is not there is none",
			apps:   []App{member("gone", "a", 1, crd), member("gone", "b", 0, widget)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Check(tc.apps)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLoops ends with parents that lead to each other.
func TestLoops(t *testing.T) {
	a, b := member("b", "a", 0, crd), member("a", "b", 1, widget)
	if got := Check([]App{a, b}); len(got) != 1 || !got[0].Never {
		t.Errorf("parents that declare each other: %v", got)
	}
}
