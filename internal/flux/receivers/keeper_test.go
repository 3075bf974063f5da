package receivers

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	notifyv1 "github.com/fluxcd/notification-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/flux/policies"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
)

func receiver(kind string, refs ...notifyv1.ReceiverResource) *notifyv1.Receiver {
	return &notifyv1.Receiver{
		ObjectMeta: metav1.ObjectMeta{Name: "hook", Namespace: "apps", Generation: 2},
		Spec:       notifyv1.ReceiverSpec{Type: kind, Resources: refs, SecretRef: &meta.LocalObjectReference{Name: "token"}},
	}
}

func refTo(kind, namespace, name string, labels map[string]string, filter string) notifyv1.ReceiverResource {
	return notifyv1.ReceiverResource{Filter: filter, CrossNamespaceObjectReference: notifyv1.CrossNamespaceObjectReference{
		Kind: kind, Namespace: namespace, Name: name, MatchLabels: labels,
	}}
}

func TestPlanReceiver(t *testing.T) {
	some := map[string]string{"a": "b"}
	old := refTo("OCIRepository", "", "app", nil, "")
	old.APIVersion = "source.toolkit.fluxcd.io/v1beta2"
	filtered := receiver("github", refTo("GitRepository", "", "app", nil, ""))
	filtered.Spec.ResourceFilter = "req.x ="
	number := receiver("github", refTo("GitRepository", "", "app", nil, "1 + 1"))
	unproved := receiver("github", refTo("GitRepository", "", "app", nil, ""))
	unproved.Spec.SecretRef = nil
	cases := map[string]struct {
		reason  string
		o       *notifyv1.Receiver
		targets []string
		invalid string
		denied  string
	}{
		"one":         {"the group is that of the kind", receiver("github", refTo("GitRepository", "", "app", nil, "")), []string{"source.toolkit.fluxcd.io/, Kind=GitRepository apps app "}, "", ""},
		"labels":      {"all that have them", receiver("github", refTo("HelmRelease", "", "*", some, "")), []string{"helm.toolkit.fluxcd.io/, Kind=HelmRelease apps * a=b"}, "", ""},
		"version":     {"an older version stays what it is", receiver("github", old), []string{"source.toolkit.fluxcd.io/v1beta2, Kind=OCIRepository apps app "}, "", ""},
		"foreign":     {"it depends on the cluster", receiver("github", refTo("Kustomization", "other", "app", nil, "")), []string{"kustomize.toolkit.fluxcd.io/, Kind=Kustomization other app "}, "", "AccessDenied: spec.resources[0]: Kustomization/other/app is in another namespace; references across namespaces are blocked on this cluster"},
		"type":        {"it is named", receiver("gcr", refTo("GitRepository", "", "app", nil, "")), nil, `UnsupportedField: spec.type: receivers of type "gcr" are not supported; use one of acr, bitbucket, cdevents, dockerhub, generic, generic-hmac, github, gitlab, harbor, nexus, quay`, ""},
		"all":         {"all of a kind need labels", receiver("github", refTo("GitRepository", "", "*", nil, "")), nil, `ValidationFailed: spec.resources[0].matchLabels: required with name "*"`, ""},
		"named":       {"one object needs none", receiver("github", refTo("GitRepository", "", "app", some, "")), nil, `ValidationFailed: spec.resources[0].matchLabels: requires name "*"`, ""},
		"kind":        {"the group of it is not known", receiver("github", refTo("Other", "", "app", nil, "")), nil, "ValidationFailed: spec.resources[0].apiVersion: required for kind Other", ""},
		"secret":      {"nobody could be verified", unproved, nil, "ValidationFailed: spec.secretRef: required for the token", ""},
		"expression":  {"it cannot be read", filtered, nil, "InvalidCELExpression: spec.resourceFilter: ", ""},
		"expression2": {"it is no condition", number, nil, `InvalidCELExpression: spec.resources[0].filter: failed to parse the CEL expression '1 + 1': it yields int, want bool`, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := planReceiver(c.o)
			var got []string
			for _, target := range p.targets {
				if p.invalid.Message == "" {
					got = append(got, target.kind.String()+" "+target.namespace+" "+target.name+" "+target.labels)
				}
			}
			if diff := cmp.Diff(c.targets, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			said := word(p.invalid)
			if len(said) > len(c.invalid) && name == "expression" {
				said = said[:len(c.invalid)]
			}
			if said != c.invalid {
				t.Errorf("%s: %q, want %q", c.reason, said, c.invalid)
			}
			if denied := word(deniedReceiver(policies.Policy{NoCrossNamespaceRefs: true}, p)); denied != c.denied {
				t.Errorf("%s: denied by %q, want %q", c.reason, denied, c.denied)
			}
			if denied := word(deniedReceiver(policies.Policy{}, p)); denied != "" {
				t.Errorf("%s: denied by %q where nothing is", c.reason, denied)
			}
		})
	}
}

func word(i engine.Invalid) string {
	if i.Message == "" {
		return ""
	}
	return string(i.Reason) + ": " + i.Message
}

func TestReceiverFilters(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "K", "metadata": map[string]any{"name": "app", "labels": map[string]any{"team": "a"}}, "spec": map[string]any{"x": "y"},
	}}
	cases := map[string]struct {
		reason, whole, own string
		want, err          bool
	}{
		"none":      {"nothing is asked", "", "", true, false},
		"whole":     {"the object fits what was sent", "res.metadata.labels.team == req.team", "", true, false},
		"not":       {"it does not", "req.number > 7", "", false, false},
		"numbers":   {"numbers compare, whatever JSON makes of them", "req.number == 7", "", true, false},
		"both":      {"both have to hold", "true", "res.metadata.name == 'other'", false, false},
		"strings":   {"the functions of strings are there", "req.ref.split('/')[2] == 'main'", "res.kind == 'K'", true, false},
		"missing":   {"a field that is not there is a failure", "res.metadata.labels.zone == 'x'", "", false, true},
		"optional":  {"unless it is asked whether it is", "has(res.metadata.labels.zone)", "", false, false},
		"spec":      {"of an object only what says who it is", "has(res.spec)", "", false, false},
		"no answer": {"it yields no condition", "req.team", "", false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := receiver("generic", refTo("GitRepository", "", "app", nil, c.own))
			o.Spec.ResourceFilter = c.whole
			p := planReceiver(o)
			if p.invalid.Message != "" {
				t.Fatal(p.invalid.Message)
			}
			got, err := p.targets[0].wants(u, map[string]any{"team": "a", "number": 7.0, "ref": "refs/heads/main"})
			if got != c.want || (err != nil) != c.err {
				t.Errorf("%s: %v, %v", c.reason, got, err)
			}
		})
	}
}

func TestReceiverStatus(t *testing.T) {
	const path = "/hook/x"
	ready := notifyv1.ReceiverStatus{WebhookPath: path, ObservedGeneration: 1, Conditions: []metav1.Condition{
		{Type: "Ready", Status: "True", Reason: "Succeeded", Message: "Receiver initialized for path: " + path},
	}}
	cases := map[string]struct {
		reason string
		before notifyv1.ReceiverStatus
		found  receiverFinding
		want   []string
		path   string
		seen   int64
	}{
		"path":      {"the words of the upstream", notifyv1.ReceiverStatus{ObservedGeneration: -1}, receiverFinding{path: path}, []string{"Ready True Succeeded Receiver initialized for path: /hook/x"}, path, 2},
		"no token":  {"the path is no longer told", ready, receiverFinding{missing: "no Secret"}, []string{"Ready False TokenNotFound no Secret", "Reconciling True ProgressingWithRetry no Secret"}, "", 1},
		"invalid":   {"only a change helps", ready, receiverFinding{invalid: engine.Invalid{Reason: "InvalidCELExpression", Message: "bad"}}, []string{"Ready False InvalidCELExpression bad", "Stalled True InvalidCELExpression bad"}, path, 2},
		"suspended": {"it stays as it is", ready, receiverFinding{suspended: true}, []string{"Ready True Succeeded Receiver initialized for path: /hook/x"}, path, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := receiver("generic")
			o.Annotations, o.Status = map[string]string{toolkit.RequestedAt: "now"}, c.before
			after := receiverStatus(o, c.found, time.Now())
			var got []string
			for _, condition := range after.Conditions {
				got = append(got, condition.Type+" "+string(condition.Status)+" "+condition.Reason+" "+condition.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if after.WebhookPath != c.path || after.ObservedGeneration != c.seen || after.LastHandledReconcileAt != "now" {
				t.Errorf("%s: path %q, generation %d, handled %q", c.reason, after.WebhookPath, after.ObservedGeneration, after.LastHandledReconcileAt)
			}
		})
	}
}

// TestTurns has a lot done at once: the first is done, the last is done, and hardly anything between them.
func TestTurns(t *testing.T) {
	turns := newTurns(time.Hour)
	var done atomic.Int64
	last := make(chan int, 1)
	failure := errors.New("it failed")
	for i := range 1000 {
		err := turns.do("key", func() error {
			done.Add(1)
			if i > 0 {
				last <- i
				return failure
			}
			return nil
		}, func(err error) {
			if !errors.Is(err, failure) {
				t.Errorf("told of %v", err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if done.Load() != 1 {
		t.Fatalf("%d were done at once", done.Load())
	}
	if err := turns.do("other", func() error { return failure }, nil); !errors.Is(err, failure) {
		t.Errorf("another key has a turn of its own: %v", err)
	}
	turns.end("key")
	if got := <-last; got != 999 || done.Load() != 2 {
		t.Errorf("the last that was done is %d, of %d", got, done.Load())
	}
	turns.end("key")
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if _, taken := turns.taken["key"]; taken {
		t.Error("a key that nothing waits for is not let go")
	}
}
