package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func external(change ...func(*esv1.ExternalSecret)) *esv1.ExternalSecret {
	es := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "es", UID: "u", Generation: 1}}
	for _, c := range change {
		c(es)
	}
	return es
}

// after is an ExternalSecret that was refreshed some time ago.
func after(ago time.Duration, interval string, policy esv1.RefreshPolicy) *esv1.ExternalSecret {
	es := external(func(es *esv1.ExternalSecret) { es.Spec.RefreshInterval, es.Spec.RefreshPolicy = interval, policy })
	es.Status.RefreshTime, es.Status.SyncedResourceVersion = metav1.NewTime(now.Add(-ago)), Version(es)
	return es
}

func written(es *esv1.ExternalSecret, values map[string][]byte) *corev1.Secret {
	step, err := Target(es, nil, Made{Values: values})
	if err != nil {
		panic(err)
	}
	return step.Secret
}

// What the upstream computes: SHA3-224 of the data {"k": "v"} and of ns/es.
const (
	upstreamOfKV   = "a5ed8ea1c1be40fdb1975cb0a6fd52a4803c7f13cc97721399013172"
	upstreamOfNsEs = "473f360fa863099bd839b638c87dd73ea1c481336f7f6b47b7eef4bb"
)

func TestRefresh(t *testing.T) {
	values := map[string][]byte{"k": []byte("v")}
	orphan := func(interval string, policy esv1.RefreshPolicy) *esv1.ExternalSecret {
		es := after(20*time.Minute, interval, policy)
		es.Spec.Target.CreationPolicy = esv1.CreateOrphan
		return es
	}
	edited := func(_ *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { s.Data["k"] = []byte("w"); return s }
	gone := func(*esv1.ExternalSecret, *corev1.Secret) *corev1.Secret { return nil }
	cases := map[string]struct {
		reason string
		es     *esv1.ExternalSecret
		change func(*esv1.ExternalSecret, *corev1.Secret) *corev1.Secret
		due    bool
		after  time.Duration
	}{
		"Never":   {"one that was never refreshed is", external(), nil, true, 0},
		"Default": {"an hour is the default", after(20*time.Minute, "", ""), nil, false, 40 * time.Minute},
		"Elapsed": {"after the interval", after(time.Hour, "1h", esv1.RefreshPeriodic), nil, true, 0},
		"Future":  {"a time in the future is not trusted", after(-time.Hour, "1h", ""), nil, true, 0},
		"Changed": {"a change of the spec", after(0, "1h", ""), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { es.Generation++; return s }, true, 0},
		"Annotated": {"or of an annotation", after(0, "1h", ""), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret {
			es.Annotations = map[string]string{"a": "b"}
			return s
		}, true, 0},
		"Applied": {"but not that of kubectl", after(0, "1h", ""), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret {
			es.Annotations = map[string]string{lastApplied: "b"}
			return s
		}, false, time.Hour},
		"Zero":        {"zero is never again, even after a change of the spec", after(0, "0", ""), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { es.Generation++; return s }, false, 0},
		"ZeroSeconds": {"also as a duration", after(0, "0s", ""), nil, false, 0},
		"Missing":     {"the Secret was deleted", after(0, "0", ""), func(*esv1.ExternalSecret, *corev1.Secret) *corev1.Secret { return nil }, true, 0},
		"Unmarked": {"or lost its label", after(0, "1h", ""), func(_ *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret {
			delete(s.Labels, LabelManaged)
			return s
		}, true, 0},
		"Edited": {"or was edited", after(0, "1h", ""), func(_ *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { s.Data["k"] = []byte("w"); return s }, true, 0},
		"TakenOver": {"what the upstream has written is valid", after(0, "0", ""), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret {
			s.Annotations[AnnotationHash], es.Status.SyncedResourceVersion = upstreamOfKV, "1-of-the-upstream"
			return s
		}, false, 0},
		"TakenOverEdited": {"unless it was edited", after(0, "0", ""), func(_ *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret {
			s.Annotations[AnnotationHash], s.Data["k"] = upstreamOfKV, []byte("w")
			return s
		}, true, 0},
		"OrphanEdited":   {"an edit of an orphan stays", orphan("1h", ""), edited, false, 40 * time.Minute},
		"OrphanGone":     {"and so does its deletion", orphan("1h", ""), gone, false, 40 * time.Minute},
		"OrphanDue":      {"until it is due", orphan("10m", ""), gone, true, 0},
		"OrphanZero":     {"or without an end", orphan("0", ""), gone, false, 0},
		"OrphanOnce":     {"if it is created once", orphan("1h", esv1.RefreshCreatedOnce), gone, false, 0},
		"OrphanOnChange": {"or after a change alone", orphan("1h", esv1.RefreshOnChange), edited, false, 0},
		"Once":           {"CreatedOnce is once", after(time.Hour, "1m", esv1.RefreshCreatedOnce), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { es.Generation++; return s }, false, 0},
		"OnceGone":       {"unless the Secret is gone", after(0, "1m", esv1.RefreshCreatedOnce), func(*esv1.ExternalSecret, *corev1.Secret) *corev1.Secret { return nil }, true, 0},
		"OnChange":       {"OnChange is not after an interval", after(time.Hour, "1m", esv1.RefreshOnChange), nil, false, 0},
		"OnChanged":      {"but after a change", after(0, "1m", esv1.RefreshOnChange), func(es *esv1.ExternalSecret, s *corev1.Secret) *corev1.Secret { es.Generation++; return s }, true, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := written(tc.es, values)
			if tc.change != nil {
				s = tc.change(tc.es, s)
			}
			due, wait, err := Refresh(tc.es, s, now)
			if err != nil || due != tc.due || wait != tc.after {
				t.Errorf("%s: %v after %s (%v), want %v after %s", tc.reason, due, wait, err, tc.due, tc.after)
			}
		})
	}
	for _, bad := range []*esv1.ExternalSecret{after(0, "soon", ""), after(0, "1h", "Sometimes")} {
		if _, _, err := Refresh(bad, nil, now); err == nil {
			t.Errorf("%q, %q: it is taken", bad.Spec.RefreshInterval, bad.Spec.RefreshPolicy)
		}
	}
	forced := after(0, "0", "")
	forced.Annotations = map[string]string{AnnotationForce: "1"}
	if !Forced(forced) || Forced(external()) {
		t.Error("a request that was not answered does not count")
	}
	forced.Status.SyncedResourceVersion = Version(forced)
	forced.Annotations["other"] = "x"
	if Forced(forced) {
		t.Error("a request counts twice")
	}
}

func TestNamed(t *testing.T) {
	value := func(of ...string) map[string][]byte {
		m := map[string][]byte{}
		for i := 0; i < len(of); i += 2 {
			m[of[i]] = []byte(of[i+1])
		}
		return m
	}
	upper := func(_ string, keys []string) ([]string, error) {
		return strings.Split(strings.ToUpper(strings.Join(keys, " ")), " "), nil
	}
	many := make([]string, maxKeys+1)
	re := func(source, target string) esv1.Rewrite {
		return esv1.Rewrite{Regexp: &esv1.RewriteRegexp{Source: source, Target: target}}
	}
	cases := map[string]struct {
		reason string
		from   esv1.DataFrom
		in     map[string][]byte
		want   map[string][]byte
		err    string
	}{
		"Plain":      {"as it is", esv1.DataFrom{Extract: &esv1.RemoteRef{}}, value("a", "1"), value("a", "1"), ""},
		"Convert":    {"what is not permitted becomes _", esv1.DataFrom{Find: &esv1.Find{}}, value("a/b c", "1"), value("a_b_c", "1"), ""},
		"Unicode":    {"or its number", esv1.DataFrom{Extract: &esv1.RemoteRef{ConversionStrategy: esv1.ConversionUnicode}}, value("a/ä", "1"), value("a_U002f__U00e4_", "1"), ""},
		"Clash":      {"two that become one", esv1.DataFrom{Extract: &esv1.RemoteRef{}}, value("a/b", "1", "a b", "2"), nil, "both converted"},
		"Rewrite":    {"groups, in order", esv1.DataFrom{Rewrite: []esv1.Rewrite{re("^x-(.*)$", "y_$1"), re("y", "z")}}, value("x-a", "1"), value("z_a", "1"), ""},
		"NoConvert":  {"with a rewrite nothing is converted", esv1.DataFrom{Extract: &esv1.RemoteRef{}, Rewrite: []esv1.Rewrite{re("x", "y")}}, value("a/b", "1"), nil, "change it with rewrite"},
		"Transform":  {"a template", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Transform: &esv1.RewriteTransform{Template: "t"}}}}, value("a", "1"), value("A", "1"), ""},
		"Regexp":     {"no expression", esv1.DataFrom{Rewrite: []esv1.Rewrite{re("(", "")}}, value("a", "1"), nil, "rewrite[0]: regexp.source"},
		"None":       {"a rewrite says what it does", esv1.DataFrom{Rewrite: []esv1.Rewrite{{}}}, value("a", "1"), nil, "rewrite[0]: it has none"},
		"Merge":      {"sets become one", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{}}}}, value("a", `{"x":"1"}`, "b", `{"y":2}`), value("x", "1", "y", "2"), ""},
		"Conflict":   {"not where they differ", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{}}}}, value("a", `{"x":"s3cret"}`, "b", `{"x":"2"}`), nil, `both have "x"`},
		"Priority":   {"unless one has priority", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Priority: []string{"a"}}}}}, value("a", `{"x":"1"}`, "b", `{"x":"2"}`), value("x", "1"), ""},
		"Ignored":    {"or the last one wins", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{ConflictPolicy: "Ignore"}}}}, value("a", `{"x":"1"}`, "b", `{"x":"2"}`), value("x", "2"), ""},
		"Absent":     {"priorities are there", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Priority: []string{"z"}}}}}, value("a", `{}`), nil, `no key "z"`},
		"Lenient":    {"unless they need not", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Priority: []string{"z"}, PriorityPolicy: "IgnoreNotFound"}}}}, value("a", `{"x":"1"}`), value("x", "1"), ""},
		"JSON":       {"or one value", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Strategy: "JSON", Into: "all"}}}}, value("a", `{"x":"1"}`), value("all", `{"x":"1"}`), ""},
		"Into":       {"with a key", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Strategy: "JSON"}}}}, value("a", `{}`), nil, "merge.into"},
		"NoObject":   {"of objects", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{}}}}, value("a", "s3cret"), nil, "not a JSON object"},
		"Base64":     {"decoded", esv1.DataFrom{Extract: &esv1.RemoteRef{DecodingStrategy: esv1.DecodeBase64}}, value("a", "YQ=="), value("a", "a"), ""},
		"URL":        {"decoded", esv1.DataFrom{Extract: &esv1.RemoteRef{DecodingStrategy: esv1.DecodeBase64URL}}, value("a", "-_8="), value("a", "\xfb\xff"), ""},
		"Auto":       {"decoded where it can be", esv1.DataFrom{Extract: &esv1.RemoteRef{DecodingStrategy: esv1.DecodeAuto}}, value("a", "YQ==", "b", "!"), value("a", "a", "b", "!"), ""},
		"Undecoded":  {"an error without the value", esv1.DataFrom{Extract: &esv1.RemoteRef{DecodingStrategy: esv1.DecodeBase64}}, value("a", "s3cret!"), nil, "not Base64"},
		"Strategy":   {"an unknown strategy", esv1.DataFrom{Extract: &esv1.RemoteRef{DecodingStrategy: "rot13"}}, value("a", "s3cret"), nil, `"rot13" is not one of`},
		"Large":      {"values have a size together", esv1.DataFrom{}, value("a", strings.Repeat("s3cret", 2<<20), "b", strings.Repeat("s3cret", 1<<20)), nil, "more than 16 MiB together"},
		"LongKey":    {"keys have a length before they are rewritten", esv1.DataFrom{Rewrite: []esv1.Rewrite{re(".", "x")}}, value(strings.Repeat("a", maxPattern+1), "1"), nil, "at most 4096"},
		"Priorities": {"so many keys there are not", esv1.DataFrom{Rewrite: []esv1.Rewrite{{Merge: &esv1.RewriteMerge{Priority: many, PriorityPolicy: "IgnoreNotFound"}}}}, value("a", `{}`), nil, "merge.priority: there are 1001"},
		"Null":       {"a null byte", esv1.DataFrom{Find: &esv1.Find{NullBytePolicy: esv1.NullBytesFail}}, value("a", "x\x00"), nil, "null byte"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Named(tc.from, tc.in, upper)
			switch {
			case tc.err == "" && err != nil, tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.err)
			case err != nil && strings.Contains(err.Error(), "s3cret"):
				t.Errorf("the value is shown: %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := Revert(Convert(esv1.ConversionUnicode, "a/ä:b")); got != "a/ä:b" {
		t.Errorf("a conversion is not reverted: %q", got)
	}
	if _, err := Single(esv1.Data{SecretKey: "a/b"}, nil); err == nil {
		t.Error("a key that is none is taken")
	}
}

func TestTarget(t *testing.T) {
	values := map[string][]byte{"k": []byte("v")}
	policy := func(c esv1.CreationPolicy, d esv1.DeletionPolicy) *esv1.ExternalSecret {
		return external(func(es *esv1.ExternalSecret) { es.Spec.Target.CreationPolicy, es.Spec.Target.DeletionPolicy = c, d })
	}
	templated := func(m esv1.MergePolicy) *esv1.ExternalSecret {
		return external(func(es *esv1.ExternalSecret) {
			es.Spec.Target.Template = &esv1.Template{MergePolicy: m, Type: corev1.SecretTypeDockerConfigJson}
		})
	}
	plain := func(data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "es"}, Type: corev1.SecretTypeOpaque, Data: data}
	}
	yes := true
	other := func(kind string) *corev1.Secret {
		s := plain(nil)
		s.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "other", UID: "x", Controller: &yes}}
		return s
	}
	immutable := written(external(), map[string][]byte{"k": []byte("old")})
	immutable.Immutable = &yes
	managedKeys := plain(map[string][]byte{"old": []byte("1"), "theirs": []byte("2")})
	managedKeys.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: Manager("es"), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{".":{},"f:old":{}}}`)}}}
	cases := map[string]struct {
		reason string
		es     *esv1.ExternalSecret
		have   *corev1.Secret
		made   Made
		action Action
		data   map[string][]byte
		says   string
		err    string
	}{
		"Create":        {"a Secret that is not there", external(), nil, Made{Values: values}, Create, values, "SecretSynced: secret synced", ""},
		"Alike":         {"one that is as it is to be", external(), written(external(), values), Made{Values: values}, Keep, nil, "SecretSynced: secret synced", ""},
		"Update":        {"Owner clears other keys", external(), plain(map[string][]byte{"old": []byte("1")}), Made{Values: values}, Update, values, "SecretSynced: secret synced", ""},
		"Orphan":        {"so does Orphan", policy(esv1.CreateOrphan, ""), plain(map[string][]byte{"old": []byte("1")}), Made{Values: values}, Update, values, "SecretSynced: secret synced", ""},
		"Merge":         {"Merge keeps them", policy(esv1.CreateMerge, ""), plain(map[string][]byte{"old": []byte("1")}), Made{Values: values}, Update, map[string][]byte{"old": []byte("1"), "k": []byte("v")}, "SecretSynced: secret synced", ""},
		"MergeWaits":    {"and waits for the Secret", policy(esv1.CreateMerge, ""), nil, Made{Values: values}, Keep, nil, "SecretMissing: " + TextMissing, ""},
		"MergeKeys":     {"keys of ours go with deletionPolicy Merge", policy(esv1.CreateMerge, esv1.DeleteKeys), managedKeys, Made{Values: map[string][]byte{}}, Update, map[string][]byte{"theirs": []byte("2")}, "SecretSynced: secret synced", ""},
		"OrMerge":       {"CreateOrMerge creates", policy(esv1.CreateOrMerge, ""), nil, Made{Values: values}, Create, values, "SecretSynced: secret synced", ""},
		"None":          {"None writes nothing", policy(esv1.CreateNone, ""), nil, Made{Values: values}, Keep, nil, "SecretSynced: secret synced", ""},
		"Retain":        {"nothing fetched: kept", external(), plain(values), Made{}, Keep, nil, "SecretSynced: " + TextRetained, ""},
		"Delete":        {"nothing fetched: deleted", policy("", esv1.DeleteSecret), written(external(), values), Made{}, Delete, values, "SecretDeleted: " + TextDeleted, ""},
		"DeleteGone":    {"once", policy("", esv1.DeleteSecret), nil, Made{}, Keep, nil, "SecretDeleted: " + TextDeleted, ""},
		"DeleteOthers":  {"not that of another owner", policy("", esv1.DeleteSecret), plain(values), Made{}, "", nil, "", TextDelete},
		"DeleteOrphan":  {"Delete is for Owner", policy(esv1.CreateOrphan, esv1.DeleteSecret), nil, Made{}, "", nil, "", "must not be used"},
		"MergeNone":     {"Merge is not for None", policy(esv1.CreateNone, esv1.DeleteKeys), nil, Made{}, "", nil, "", "must not be used"},
		"Owned":         {"one of another ExternalSecret", external(), other("ExternalSecret"), Made{Values: values}, "", nil, "", TextOwned},
		"MergeOwned":    {"whatever the policy: both would write without end", policy(esv1.CreateMerge, ""), other("ExternalSecret"), Made{Values: values}, "", nil, "", TextOwned},
		"OrMergeOwned":  {"also one that would create it", policy(esv1.CreateOrMerge, ""), other("ExternalSecret"), Made{Values: values}, "", nil, "", TextOwned},
		"OrphanOwned":   {"or give it up", policy(esv1.CreateOrphan, ""), other("ExternalSecret"), Made{Values: values}, "", nil, "", TextOwned},
		"MergeOthers":   {"what others control is merged into", policy(esv1.CreateMerge, ""), other("Certificate"), Made{Values: values}, Update, values, "SecretSynced: secret synced", ""},
		"Controlled":    {"one of another controller", external(), other("Certificate"), Made{Values: values}, "", nil, "", TextBecome},
		"Immutable":     {"one that cannot be changed", external(), immutable, Made{Values: values}, "", nil, "", TextImmutable},
		"Replace":       {"templates replace", templated(esv1.TemplateReplace), nil, Made{Values: values, Data: map[string][]byte{"t": []byte("x")}, Templated: true}, Create, map[string][]byte{"t": []byte("x")}, "SecretSynced: secret synced", ""},
		"Overlay":       {"or overlay", templated(esv1.TemplateMerge), nil, Made{Values: values, Data: map[string][]byte{"t": []byte("x")}, Templated: true}, Create, map[string][]byte{"t": []byte("x"), "k": []byte("v")}, "SecretSynced: secret synced", ""},
		"MetadataAlone": {"without templates of data, data are copied", templated(""), nil, Made{Values: values}, Create, values, "SecretSynced: secret synced", ""},
		"Manifest": {"other kinds are refused", external(func(es *esv1.ExternalSecret) {
			es.Spec.Target.Manifest = &esv1.ManifestReference{APIVersion: "v1", Kind: "ConfigMap"}
		}), nil, Made{Values: values}, "", nil, "", "only Secrets"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			step, err := Target(tc.es, tc.have, tc.made)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got := step.Reason + ": " + step.Text; step.Action != tc.action || got != tc.says {
				t.Errorf("%s: %s, %q; want %s, %q", tc.reason, step.Action, got, tc.action, tc.says)
			}
			if step.Secret != nil {
				if diff := cmp.Diff(tc.data, step.Secret.Data); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestComposed(t *testing.T) {
	es := external(func(es *esv1.ExternalSecret) {
		es.Labels, es.Annotations = map[string]string{"l": "1"}, map[string]string{"a": "1", lastApplied: "x"}
		es.Spec.Target.Name, es.Spec.Target.Immutable = "named", true
	})
	s := written(es, map[string][]byte{"k": []byte("v")})
	if s.Name != "named" || s.Labels["l"] != "1" || s.Annotations["a"] != "1" || s.Annotations[lastApplied] != "" || s.Immutable == nil || !*s.Immutable {
		t.Errorf("what an ExternalSecret says of the Secret is not there: %v", s.ObjectMeta)
	}
	if s.Labels[LabelOwner] != OwnerLabel("ns", "es") || s.Labels[LabelManaged] != "true" || !metav1.IsControlledBy(s, es) || !Valid(s, "u") {
		t.Errorf("the Secret does not belong to the ExternalSecret: %v", s.ObjectMeta)
	}
	es.Spec.Target.Template = &esv1.Template{}
	step, err := Target(es, nil, Made{Values: map[string][]byte{"k": nil}, Labels: map[string]string{"t": "2"}})
	if err != nil || step.Secret.Labels["t"] != "2" || step.Secret.Labels["l"] != "" {
		t.Errorf("a template has labels of its own: %v, %v", step.Secret, err)
	}
	if Hash(map[string][]byte{"a": []byte("bc")}, "") == Hash(map[string][]byte{"ab": []byte("c")}, "") || Hash(nil, "1") == Hash(nil, "2") {
		t.Error("different data have the same hash")
	}
	var refusal *Refusal
	if _, err := Target(external(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "X", UID: "x", Controller: new(true)}}}}, Made{Values: map[string][]byte{"k": nil}}); !errors.As(err, &refusal) {
		t.Errorf("%v is no refusal", err)
	}
}

func TestOwnerLabel(t *testing.T) {
	if got := OwnerLabel("ns", "es"); got != upstreamOfNsEs {
		t.Errorf("the label of ns/es is %s, want %s", got, upstreamOfNsEs)
	}
}

func TestCondition(t *testing.T) {
	all := Condition(nil, Ready, false, "A", strings.Repeat("x", 2000), now)
	all = Condition(all, Ready, false, "B", "b", now.Add(time.Hour))
	if len(all) != 1 || !all[0].LastTransitionTime.Time.Equal(now) || all[0].Reason != "B" {
		t.Errorf("the time is that of the last change of the status: %v", all)
	}
	if all = Condition(all, Ready, true, "C", "c", now.Add(time.Hour)); all[0].LastTransitionTime.Time.Equal(now) || all[0].Status != corev1.ConditionTrue {
		t.Errorf("the status changed: %v", all)
	}
}

func FuzzNamed(f *testing.F) {
	f.Add("^(.*)$", "x_$1", "a/b", `{"x":"s3cretvalue"}`)
	f.Fuzz(func(t *testing.T, source, target, key, value string) {
		for _, r := range [][]esv1.Rewrite{nil, {{Regexp: &esv1.RewriteRegexp{Source: source, Target: target}}}, {{Merge: &esv1.RewriteMerge{}}}} {
			got, err := Named(esv1.DataFrom{Extract: &esv1.RemoteRef{}, Rewrite: r}, map[string][]byte{key: []byte(value)}, nil)
			if err != nil {
				continue
			}
			for key := range got {
				if Key(key) != nil {
					t.Errorf("%q is no key of a Secret", key)
				}
			}
		}
	})
}

// TestSettle has several ExternalSecrets write one Secret: they do so once each, whichever comes first.
func TestSettle(t *testing.T) {
	one := func(name string, policy esv1.CreationPolicy) *esv1.ExternalSecret {
		return external(func(es *esv1.ExternalSecret) {
			es.Name, es.UID = name, types.UID(name)
			es.Spec.Target.Name, es.Spec.Target.CreationPolicy = "two", policy
		})
	}
	for name, tc := range map[string]struct {
		reason  string
		all     []*esv1.ExternalSecret
		keys    []string
		writes  int
		contest string
	}{
		"Merges":    {"two merge into one", []*esv1.ExternalSecret{one("m1", esv1.CreateMerge), one("m2", esv1.CreateMerge)}, []string{"k1", "k2"}, 2, ""},
		"Three":     {"and a third", []*esv1.ExternalSecret{one("m1", esv1.CreateMerge), one("m2", esv1.CreateOrMerge), one("m3", esv1.CreateMerge)}, []string{"k1", "k2", "k3"}, 3, ""},
		"Contested": {"the same key, too", []*esv1.ExternalSecret{one("m1", esv1.CreateMerge), one("m2", esv1.CreateMerge)}, []string{"k", "k"}, 2, `"m2" and "m1" both write key k of Secret "two"`},
		"Orphan":    {"an orphan clears what another merges, and it comes back once", []*esv1.ExternalSecret{one("o", esv1.CreateOrphan), one("m", esv1.CreateMerge)}, []string{"k1", "k2"}, 2, ""},
		"Reverse":   {"also if it comes last", []*esv1.ExternalSecret{one("m", esv1.CreateMerge), one("o", esv1.CreateOrphan)}, []string{"k1", "k2"}, 3, `"o" and "m" both write key k1`},
	} {
		t.Run(name, func(t *testing.T) {
			have := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "two"}, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"orig": nil}}
			writes, contest := 0, ""
			for range 10 {
				for i, es := range tc.all {
					if due, _, err := Refresh(es, have, now); err != nil || !due {
						continue
					}
					step, err := Target(es, have, Made{Values: map[string][]byte{tc.keys[i]: []byte(es.Name)}})
					if err != nil {
						t.Fatal(err)
					}
					es.Status.RefreshTime, es.Status.SyncedResourceVersion = metav1.NewTime(now), Version(es)
					if step.Action == Keep {
						continue
					}
					writes++
					contest += step.Contest
					have = step.Secret
					have.ManagedFields = append(have.ManagedFields, metav1.ManagedFieldsEntry{Manager: Manager(es.Name), FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{"f:` + tc.keys[i] + `":{}}}`)}})
				}
			}
			if writes != tc.writes || !strings.Contains(contest, tc.contest) || tc.contest == "" && contest != "" {
				t.Errorf("%s: %d writes, %q", tc.reason, writes, contest)
			}
		})
	}
}
