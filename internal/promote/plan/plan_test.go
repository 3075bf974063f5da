package plan

import (
	"crypto/sha1" //nolint:gosec // the names of Freight are SHA-1 digests
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	origin = v1alpha1.FreightOrigin{Kind: v1alpha1.FreightFromWarehouse, Name: "w"}
)

func sum(text string) string {
	s := sha1.Sum([]byte(text)) //nolint:gosec // see the import
	return hex.EncodeToString(s[:])
}

func TestFreightName(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		in     v1alpha1.Freight
		want   string
	}{
		"Image": {
			reason: "an image counts with its tag and its digest",
			in:     v1alpha1.Freight{Images: []v1alpha1.Image{{RepoURL: "example.org/web", Tag: "1.0.0", Digest: "sha256:aa"}}},
			want:   "6e330df37f7585fb8f559573e60935cd48bf462e",
		},
		"All": {
			reason: "parts are sorted, addresses of Git are compared without login, case and suffix, and a subscription that has a name is in its part",
			in: v1alpha1.Freight{
				Images:  []v1alpha1.Image{{RepoURL: "example.org/web", Tag: "1.0.0", Digest: "sha256:aa", SubscriptionName: "web"}},
				Commits: []v1alpha1.GitCommit{{RepoURL: "https://user:pass@Git.example.org/o/r.git", ID: "c0ffee", Tag: "v1"}},
				Charts:  []v1alpha1.Chart{{RepoURL: "oci://registry.example.org/charts/web", Version: "0.1.0"}},
			},
			want: "4eb26d94605c14acd4a96ae3c7fd2fd49572bca5",
		},
		"Commit": {
			reason: "a commit without a tag is its address and its ID",
			in:     v1alpha1.Freight{Commits: []v1alpha1.GitCommit{{RepoURL: "git@example.org:o/r.git", ID: "c0ffee"}}},
			want:   sum("Warehouse/w:ssh://git@example.org/o/r:c0ffee"),
		},
		"Artifact": {
			reason: "another artifact is its type, its subscription and its version",
			in:     v1alpha1.Freight{Artifacts: []v1alpha1.ArtifactReference{{ArtifactType: "t", SubscriptionName: "s", Version: "1"}}},
			want:   sum("Warehouse/w:t:s:1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Origin = origin
			if got := FreightName(&tc.in); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"https://user:pass@GitHub.com/O/R.git/": "https://github.com/o/r",
		"ssh://git@example.org:22/o/r.git":      "ssh://git@example.org:22/o/r",
		"git@example.org:o/r.git":               "ssh://git@example.org/o/r",
		"example.org":                           "ssh://example.org",
		"https://example.org/o r":               "https://example.org/o r",
		"https://example.org/o%20r":             "https://example.org/o%20r",
		"https://example.org/r?x=1":             "https://example.org/r?x=1",
		"  https://example.org/r ":              "https://example.org/r",
		"":                                      "",
	} {
		if got := NormalizeGit(in); got != want {
			t.Errorf("NormalizeGit(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"docker.io/library/nginx": "nginx", "index.docker.io/a/b": "a/b", "ghcr.io/A b": "ghcr.io/A b", "ghcr.io/a/b": "ghcr.io/a/b",
	} {
		if got := NormalizeImage(in); got != want {
			t.Errorf("NormalizeImage(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzNormalizeGit(f *testing.F) {
	for _, seed := range []string{"https://a:b@c/d.git", "git@h:p", "ssh://x", "%", "a:?b", "http://[::1]/x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := NormalizeGit(text)
		if strings.HasPrefix(got, "https://") && got != text {
			if again := NormalizeGit(got); strings.Contains(again, "@") && !strings.Contains(got, "@") {
				t.Errorf("%q has a login after the second time: %q", text, again)
			}
		}
		f := v1alpha1.Freight{Origin: origin, Commits: []v1alpha1.GitCommit{{RepoURL: text, ID: "1"}, {RepoURL: "x", ID: "2"}}}
		g := v1alpha1.Freight{Origin: origin, Commits: []v1alpha1.GitCommit{f.Commits[1], f.Commits[0]}}
		if FreightName(&f) != FreightName(&g) {
			t.Errorf("the order of commits changes the name, with %q", text)
		}
	})
}

func TestPromotionName(t *testing.T) {
	first, err := PromotionName("Dev", "0123456789", noon, [10]byte{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "dev.01kjmma2g00000000000000000.0123456"; first != want {
		t.Errorf("the name is %q, want %q", first, want)
	}
	later, err := PromotionName("Dev", "0123456789", noon.Add(time.Millisecond), [10]byte{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := PromotionName("Dev", "0123456789", noon, [10]byte{9: 1})
	if err != nil {
		t.Fatal(err)
	}
	if first >= other || other >= later {
		t.Errorf("names do not sort by time, then entropy: %q %q %q", first, other, later)
	}
	long, err := PromotionName(strings.Repeat("a", 300), "01", noon, [10]byte{})
	if err != nil || len(long) > 253 {
		t.Errorf("a long Stage gives a name of %d characters: %v", len(long), err)
	}
	if _, err := PromotionName("", "f", noon, [10]byte{}); err == nil {
		t.Error("a Promotion of no Stage has a name")
	}
}

func stage(change func(*v1alpha1.Stage)) *v1alpha1.Stage {
	s := &v1alpha1.Stage{ObjectMeta: metav1.ObjectMeta{Name: "prod", Namespace: "shop"}}
	s.Spec.RequestedFreight = []v1alpha1.FreightRequest{{Origin: origin, Sources: v1alpha1.FreightSources{Direct: true}}}
	s.Spec.PromotionTemplate = &v1alpha1.PromotionTemplate{Spec: v1alpha1.PromotionTemplateSpec{Steps: []v1alpha1.PromotionStep{{Uses: "copy"}}}}
	if change != nil {
		change(s)
	}
	return s
}

func freight(name string, age time.Duration, change func(*v1alpha1.Freight)) v1alpha1.Freight {
	f := v1alpha1.Freight{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", CreationTimestamp: metav1.NewTime(noon.Add(-age))}, Origin: origin}
	if change != nil {
		change(&f)
	}
	return f
}

func verified(stages ...string) func(*v1alpha1.Freight) {
	return func(f *v1alpha1.Freight) {
		for _, s := range stages {
			f.Status = Verified(f.Status, s, noon.Add(-time.Hour))
		}
	}
}

func TestAvailable(t *testing.T) {
	after := func(strategy v1alpha1.AvailabilityStrategy, soak string, stages ...string) func(*v1alpha1.Stage) {
		return func(s *v1alpha1.Stage) {
			s.Spec.RequestedFreight[0].Sources = v1alpha1.FreightSources{Stages: stages, RequiredSoakTime: soak, AvailabilityStrategy: strategy}
		}
	}
	since := func(ago time.Duration, stages ...string) func(*v1alpha1.Freight) {
		return func(f *v1alpha1.Freight) {
			verified(stages...)(f)
			for _, s := range stages {
				f.Status = Enter(f.Status, s, noon.Add(-ago))
			}
		}
	}
	for name, tc := range map[string]struct {
		reason  string
		stage   func(*v1alpha1.Stage)
		freight func(*v1alpha1.Freight)
		want    bool
		at      time.Duration
	}{
		"Direct":        {reason: "a Stage takes it from its Warehouse", want: true},
		"OtherOrigin":   {reason: "only what is requested", freight: func(f *v1alpha1.Freight) { f.Origin.Name = "other" }},
		"OtherProject":  {reason: "and only of its Project", freight: func(f *v1alpha1.Freight) { f.Namespace = "other" }},
		"NotVerified":   {reason: "an upstream Stage verifies first", stage: after("", "", "dev")},
		"Verified":      {reason: "and then it is available", stage: after("", "", "dev"), freight: verified("dev"), want: true},
		"OneOfIsUsual":  {reason: "one of several Stages is enough", stage: after("", "", "a", "b"), freight: verified("b"), want: true},
		"OneOf":         {reason: "also if that is said", stage: after(v1alpha1.AvailableInOneOf, "", "a", "b"), freight: verified("b"), want: true},
		"AllOfOne":      {reason: "unless all have to", stage: after(v1alpha1.AvailableInAll, "", "a", "b"), freight: verified("b")},
		"All":           {reason: "which they did", stage: after(v1alpha1.AvailableInAll, "", "a", "b"), freight: verified("a", "b"), want: true},
		"Approved":      {reason: "approval replaces verification", stage: after("", "", "dev"), freight: func(f *v1alpha1.Freight) { f.Status = Approve(f.Status, "prod", noon) }, want: true},
		"Soaking":       {reason: "it has to be there for an hour", stage: after("", "1h", "dev"), freight: since(20*time.Minute, "dev"), at: 40 * time.Minute},
		"Soaked":        {reason: "and was", stage: after("", "1h", "dev"), freight: since(time.Hour, "dev"), want: true},
		"SoakedBefore":  {reason: "a time before counts", stage: after("", "1h", "dev"), want: true, freight: func(f *v1alpha1.Freight) { since(2*time.Hour, "dev")(f); f.Status = Leave(f.Status, "dev", noon) }},
		"LeftTooEarly":  {reason: "one that ended too early never will be enough", stage: after("", "1h", "dev"), freight: func(f *v1alpha1.Freight) { since(time.Minute, "dev")(f); f.Status = Leave(f.Status, "dev", noon) }},
		"SoakInAll":     {reason: "the last of them counts", stage: after(v1alpha1.AvailableInAll, "1h", "a", "b"), freight: func(f *v1alpha1.Freight) { since(50*time.Minute, "a")(f); since(10*time.Minute, "b")(f) }, at: 50 * time.Minute},
		"SoakInOne":     {reason: "the first of them counts", stage: after("", "1h", "a", "b"), freight: func(f *v1alpha1.Freight) { since(50*time.Minute, "a")(f); since(10*time.Minute, "b")(f) }, at: 10 * time.Minute},
		"NoDuration":    {reason: "what is no duration permits nothing", stage: after("", "soon", "dev"), freight: since(time.Hour, "dev")},
		"NoSource":      {reason: "a request without sources permits nothing", stage: after("", "")},
		"UnknownInAll":  {reason: "nobody knows when the other verifies it", stage: after(v1alpha1.AvailableInAll, "1h", "a", "b"), freight: since(10*time.Minute, "a")},
		"UnverifiedUse": {reason: "use without verification is no soak", stage: after("", "1h", "dev"), freight: func(f *v1alpha1.Freight) { f.Status = Enter(f.Status, "dev", noon.Add(-2*time.Hour)) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := freight("f", 0, tc.freight)
			got := Available(stage(tc.stage), &f, noon)
			if got.Now != tc.want || got.Now == (got.Why != "") {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			if want := noon.Add(tc.at); tc.at != 0 && !got.At.Equal(want) || tc.at == 0 && !got.At.IsZero() {
				t.Errorf("%s: available at %s, want %s", tc.reason, got.At, want)
			}
		})
	}
}

func TestAutoPromotes(t *testing.T) {
	named := func(name string, enabled bool) v1alpha1.PromotionPolicy {
		return v1alpha1.PromotionPolicy{StageSelector: &v1alpha1.StageSelector{Name: name}, AutoPromotionEnabled: enabled}
	}
	for name, tc := range map[string]struct {
		reason   string
		policies []v1alpha1.PromotionPolicy
		want     bool
		fails    string
	}{
		"None":       {reason: "without a policy, nothing is automatic"},
		"Stage":      {reason: "the old field", policies: []v1alpha1.PromotionPolicy{{Stage: "prod", AutoPromotionEnabled: true}}, want: true},
		"Exact":      {reason: "a name", policies: []v1alpha1.PromotionPolicy{named("prod", true)}, want: true},
		"Glob":       {reason: "a pattern", policies: []v1alpha1.PromotionPolicy{named("glob:p*", true)}, want: true},
		"Regex":      {reason: "a regular expression", policies: []v1alpha1.PromotionPolicy{named("regex:^pr", true)}, want: true},
		"Regexp":     {reason: "its other spelling", policies: []v1alpha1.PromotionPolicy{named("regexp:od$", true)}, want: true},
		"FirstMatch": {reason: "the first that matches counts", policies: []v1alpha1.PromotionPolicy{named("dev", true), named("glob:*", false), named("prod", true)}},
		"Labels":     {reason: "labels and name both have to match", policies: []v1alpha1.PromotionPolicy{{StageSelector: &v1alpha1.StageSelector{Name: "prod", MatchLabels: map[string]string{"tier": "x"}}, AutoPromotionEnabled: true}}},
		"ByLabel":    {reason: "labels alone", policies: []v1alpha1.PromotionPolicy{{StageSelector: &v1alpha1.StageSelector{MatchLabels: map[string]string{"tier": "a"}}, AutoPromotionEnabled: true}}, want: true},
		"BadRegex":   {reason: "what cannot be read permits nothing", policies: []v1alpha1.PromotionPolicy{named("regex:(", true), named("prod", true)}, fails: "promotionPolicies[0]"},
		"BadGlob":    {reason: "nor does this", policies: []v1alpha1.PromotionPolicy{named("glob:[", true)}, fails: "promotionPolicies[0]"},
		"BadPrefix":  {reason: "a prefix is known", policies: []v1alpha1.PromotionPolicy{named("re:x", true)}, fails: "prefix"},
		"BadLabels":  {reason: "so is an operator", policies: []v1alpha1.PromotionPolicy{{StageSelector: &v1alpha1.StageSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}}}, fails: "labels"},
		"LongRegex":  {reason: "patterns are bounded", policies: []v1alpha1.PromotionPolicy{named("regex:"+strings.Repeat("a", 2000), true)}, fails: "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage(func(s *v1alpha1.Stage) { s.Labels = map[string]string{"tier": "a"} })
			got, err := AutoPromotes(tc.policies, s)
			if got != tc.want || (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: %v %v", tc.reason, got, err)
			}
		})
	}
}

func promotion(name, of string, phase v1alpha1.PromotionPhase, change func(*v1alpha1.Promotion)) v1alpha1.Promotion {
	p := v1alpha1.Promotion{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", CreationTimestamp: metav1.NewTime(noon)}}
	p.Spec.Stage, p.Spec.Freight, p.Status.Phase = "prod", of, phase
	p.Annotations = map[string]string{v1alpha1.CreateActorAnnotation: ControllerActor + "headgate"}
	if change != nil {
		change(&p)
	}
	return p
}

func TestNext(t *testing.T) {
	two := []v1alpha1.Freight{freight("old", time.Hour, nil), freight("new", time.Minute, nil)}
	has := func(name string) func(*v1alpha1.Stage) {
		return func(s *v1alpha1.Stage) {
			s.Status.FreightHistory = []*v1alpha1.FreightCollection{{Items: map[string]v1alpha1.FreightReference{OriginKey(origin): {Name: name, Origin: origin}}}}
		}
	}
	match := func(s *v1alpha1.Stage) {
		s.Spec.RequestedFreight[0].Sources = v1alpha1.FreightSources{Stages: []string{"dev"}, AutoPromotionOptions: &v1alpha1.AutoPromotionOptions{SelectionPolicy: v1alpha1.SelectMatchUpstream}}
	}
	for name, tc := range map[string]struct {
		reason     string
		stage      func(*v1alpha1.Stage)
		freight    []v1alpha1.Freight
		promotions []v1alpha1.Promotion
		want, why  string
	}{
		"Newest":       {reason: "the newest is promoted", freight: two, want: "new"},
		"Discovered":   {reason: "the time that a Freight says counts", freight: append(two[:2:2], freight("copy", 0, func(f *v1alpha1.Freight) { f.DiscoveredAt = &metav1.Time{Time: noon.Add(-2 * time.Hour)} })), want: "new"},
		"SameTime":     {reason: "of two of one moment, the greater name", freight: []v1alpha1.Freight{freight("a", 0, nil), freight("b", 0, nil)}, want: "b"},
		"None":         {reason: "there is none", why: "no Freight"},
		"Current":      {reason: "the Stage has it", stage: has("new"), freight: two, why: "has Freight"},
		"Back":         {reason: "it has an older one", stage: has("old"), freight: two, want: "new"},
		"Awaits":       {reason: "a Promotion of it awaits", freight: two, promotions: []v1alpha1.Promotion{promotion("p", "new", "", nil)}, why: "awaits"},
		"Runs":         {reason: "or runs", freight: two, promotions: []v1alpha1.Promotion{promotion("p", "new", v1alpha1.PromotionRunning, nil)}, why: "awaits"},
		"OtherStage":   {reason: "Promotions of other Stages do not count", freight: two, promotions: []v1alpha1.Promotion{promotion("p", "new", "", func(p *v1alpha1.Promotion) { p.Spec.Stage = "dev" })}, want: "new"},
		"Loop":         {reason: "what failed is not repeated without end", freight: two, promotions: []v1alpha1.Promotion{promotion("p", "new", v1alpha1.PromotionFailed, nil)}, why: "ended Failed"},
		"LastCounts":   {reason: "the newest of its Promotions counts", freight: two, promotions: []v1alpha1.Promotion{promotion("p2", "new", v1alpha1.PromotionSucceeded, nil), promotion("p1", "new", v1alpha1.PromotionErrored, nil)}, want: "new"},
		"Upstream":     {reason: "what upstream has, and not what is newer", stage: match, freight: []v1alpha1.Freight{freight("old", time.Hour, func(f *v1alpha1.Freight) { verified("dev")(f); f.Status = Enter(f.Status, "dev", noon) }), freight("new", 0, verified("dev"))}, want: "old"},
		"NoUpstream":   {reason: "upstream has none", stage: match, freight: two, why: "has no Freight"},
		"TwoUpstreams": {reason: "one Stage is matched", stage: func(s *v1alpha1.Stage) { match(s); s.Spec.RequestedFreight[0].Sources.Stages = []string{"a", "b"} }, freight: two, why: "exactly one"},
		"Held": {reason: "a person chose another one", stage: func(s *v1alpha1.Stage) {
			s.Status.AutoPromotionHolds = map[string]v1alpha1.AutoPromotionHold{OriginKey(origin): {FreightName: "old", PromotionName: "p"}}
		}, freight: two, why: "on request"},
		"Unavailable": {reason: "what upstream did not verify", stage: func(s *v1alpha1.Stage) {
			s.Spec.RequestedFreight[0].Sources = v1alpha1.FreightSources{Stages: []string{"dev"}}
		}, freight: two, why: "not verified"},
		"OlderIsAvailable": {
			reason: "the newest that is available", stage: func(s *v1alpha1.Stage) {
				s.Spec.RequestedFreight[0].Sources = v1alpha1.FreightSources{Stages: []string{"dev"}}
			},
			freight: []v1alpha1.Freight{freight("old", time.Hour, verified("dev")), freight("new", 0, nil)}, want: "old",
		},
	} {
		t.Run(name, func(t *testing.T) {
			choices := Next(Pipeline{Stage: stage(tc.stage), Freight: tc.freight, Promotions: tc.promotions}, noon)
			if len(choices) != 1 {
				t.Fatalf("%s: %d choices", tc.reason, len(choices))
			}
			got := ""
			if choices[0].Freight != nil {
				got = choices[0].Freight.Name
			}
			if got != tc.want || !strings.Contains(choices[0].Why, tc.why) || (got == "") == (choices[0].Why == "") {
				t.Errorf("%s: got %q because %q", tc.reason, got, choices[0].Why)
			}
		})
	}
}

// TestLatest has the Freight that its Warehouse made last be the newest of those of one moment.
func TestLatest(t *testing.T) {
	line := Pipeline{Stage: stage(nil), Freight: []v1alpha1.Freight{freight("a", 0, nil), freight("b", 0, nil)}, Latest: map[string]string{OriginKey(origin): "a"}}
	if choices := Next(line, noon); len(choices) != 1 || choices[0].Freight == nil || choices[0].Freight.Name != "a" {
		t.Errorf("the choices are %+v", choices)
	}
	line.Freight[1].CreationTimestamp.Time = noon.Add(time.Second)
	if choices := Next(line, noon); len(choices) != 1 || choices[0].Freight == nil || choices[0].Freight.Name != "b" {
		t.Errorf("with a newer one the choices are %+v", choices)
	}
}

func TestTakeTurns(t *testing.T) {
	by := func(actor string) func(*v1alpha1.Promotion) {
		return func(p *v1alpha1.Promotion) { p.Annotations[v1alpha1.CreateActorAnnotation] = actor }
	}
	abort := func(value string) func(*v1alpha1.Promotion) {
		return func(p *v1alpha1.Promotion) { p.Annotations[v1alpha1.AbortAnnotation] = value }
	}
	within := func(status string) func(*v1alpha1.Promotion) {
		return func(p *v1alpha1.Promotion) {
			p.Status.StepExecutionMetadata = []v1alpha1.StepExecutionMetadata{{StartedAt: &metav1.Time{Time: noon}, Status: status}}
		}
	}
	all := []v1alpha1.Freight{freight("old", time.Hour, nil), freight("new", time.Minute, nil), freight("twin", time.Minute, nil), freight("other", 0, func(f *v1alpha1.Freight) { f.Origin.Name = "other" })}
	for name, tc := range map[string]struct {
		reason     string
		promotions []v1alpha1.Promotion
		run        string
		queue      int
		end        map[string]string
	}{
		"Nothing":     {reason: "nothing to do"},
		"Order":       {reason: "the oldest first, one at a time", promotions: []v1alpha1.Promotion{promotion("p2", "old", "", nil), promotion("p1", "new", "", nil)}, run: "p1", queue: 1},
		"Running":     {reason: "what runs goes first", promotions: []v1alpha1.Promotion{promotion("p1", "other", "", nil), promotion("p2", "new", v1alpha1.PromotionRunning, nil)}, run: "p2", queue: 1},
		"Ended":       {reason: "what ended does not count", promotions: []v1alpha1.Promotion{promotion("p1", "old", v1alpha1.PromotionSucceeded, nil)}},
		"Superseded":  {reason: "newer Freight supersedes one that waits", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", nil), promotion("p2", "new", "", nil)}, run: "p2", end: map[string]string{"p1": `superseded by Promotion "p2" of newer Freight "new"`}},
		"Between":     {reason: "and one that runs, between two steps", promotions: []v1alpha1.Promotion{promotion("p1", "old", v1alpha1.PromotionRunning, nil), promotion("p2", "new", "", nil)}, run: "p2", end: map[string]string{"p1": `superseded by Promotion "p2" of newer Freight "new"`}},
		"SameSecond":  {reason: "of one second, what was chosen later is newer", promotions: []v1alpha1.Promotion{promotion("p1", "new", "", nil), promotion("p2", "twin", "", nil)}, run: "p2", end: map[string]string{"p1": `superseded by Promotion "p2" of newer Freight "twin"`}},
		"Person":      {reason: "but not what a person requested", promotions: []v1alpha1.Promotion{promotion("p1", "new", "", nil), promotion("p2", "twin", "", by("admin"))}, run: "p1", queue: 1},
		"InStep":      {reason: "but not within a step", promotions: []v1alpha1.Promotion{promotion("p1", "old", v1alpha1.PromotionRunning, within(StepRunning)), promotion("p2", "new", "", nil)}, run: "p1", queue: 1},
		"Retry":       {reason: "one that waits to be tried again is between", promotions: []v1alpha1.Promotion{promotion("p1", "old", v1alpha1.PromotionRunning, within(StepErrored)), promotion("p2", "new", "", nil)}, run: "p2", end: map[string]string{"p1": `superseded by Promotion "p2" of newer Freight "new"`}},
		"ByPerson":    {reason: "what a person requested is not superseded", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", by("admin")), promotion("p2", "new", "", nil)}, run: "p1", queue: 1},
		"OtherOrigin": {reason: "only by Freight of the same origin", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", nil), promotion("p2", "other", "", nil)}, run: "p1", queue: 1},
		"Aborted":     {reason: "a person ends it, also within a step", promotions: []v1alpha1.Promotion{promotion("p1", "old", v1alpha1.PromotionRunning, func(p *v1alpha1.Promotion) { within(StepRunning)(p); abort(`{"action":"terminate","actor":"ada"}`)(p) })}, end: map[string]string{"p1": "the Promotion was aborted by ada"}},
		"AbortWord":   {reason: "in the short form", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", abort("terminate"))}, end: map[string]string{"p1": "the Promotion was aborted"}},
		"AbortBad":    {reason: "another action is none", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", abort("{"))}, run: "p1"},
		"AbortedHeir": {reason: "what is aborted supersedes nothing", promotions: []v1alpha1.Promotion{promotion("p1", "old", "", nil), promotion("p2", "new", "", abort("terminate"))}, run: "p1", end: map[string]string{"p2": "the Promotion was aborted"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := TakeTurns(Pipeline{Stage: stage(nil), Freight: all, Promotions: tc.promotions})
			run := ""
			if got.Run != nil {
				run = got.Run.Name
			}
			if run != tc.run || len(got.Queue) != tc.queue {
				t.Errorf("%s: %q runs, %d wait", tc.reason, run, len(got.Queue))
			}
			if tc.end == nil {
				tc.end = map[string]string{}
			}
			if diff := cmp.Diff(tc.end, got.End); diff != "" {
				t.Errorf("%s: what ends (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
