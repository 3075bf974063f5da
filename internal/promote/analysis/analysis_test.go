package analysis

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func spec(t *testing.T, text string) Spec {
	t.Helper()
	var s Spec
	if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNext follows analyses through the measurements that are made of them.
func TestNext(t *testing.T) {
	const web = "provider: {web: {url: 'https://example.com'}}"
	for name, c := range map[string]struct {
		metrics string
		// phases are those of the measurements, in their order.
		phases string
		want   string
		count  int
		says   string
	}{
		"Once":               {"[{name: a, " + web + "}]", "Successful", Successful, 1, ""},
		"Failed":             {"[{name: a, " + web + "}]", "Failed", Failed, 1, `metric "a" assessed Failed: failed (1) > failureLimit (0)`},
		"Several":            {"[{name: a, count: 3, interval: 10s, " + web + "}]", "Successful Successful Successful", Successful, 3, ""},
		"A failure is fine":  {"[{name: a, count: 3, interval: 10s, failureLimit: 1, " + web + "}]", "Successful Failed Successful", Successful, 3, ""},
		"Two are not":        {"[{name: a, count: 3, interval: 10s, failureLimit: 1, " + web + "}]", "Failed Failed", Failed, 2, "failed (2)"},
		"Inconclusive":       {"[{name: a, " + web + "}]", "Inconclusive", Inconclusive, 1, "inconclusive (1)"},
		"Errors are tried":   {"[{name: a, " + web + "}]", "Error Error Successful", Successful, 3, ""},
		"Five are too many":  {"[{name: a, " + web + "}]", "Error Error Error Error Error", Error, 5, "no answer"},
		"A limit of its own": {"[{name: a, consecutiveErrorLimit: 0, " + web + "}]", "Error", Error, 1, "no answer"},
		"Goes on":            {"[{name: a, count: 2, interval: 10s, " + web + "}]", "Successful", Running, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, "metrics: "+c.metrics)
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			now, made := noon, 0
			status := Begin(s, Status{}, now)
			for phase := range strings.FieldsSeq(c.phases) {
				due, next := Due(s, status, now)
				for len(due) == 0 {
					if next.IsZero() || !next.After(now) {
						t.Fatalf("nothing is due at %s, and next is %s", now, next)
					}
					now = next
					due, next = Due(s, status, now)
				}
				made++
				one := Measurement{Phase: phase, StartedAt: &metav1.Time{Time: now}, FinishedAt: &metav1.Time{Time: now}}
				if phase == Error {
					one.Message = "no answer"
				}
				status = Measured(s, status, due[0].Name, one)
			}
			if status.Phase != c.want || made != c.count || !strings.Contains(status.Message, c.says) {
				t.Errorf("after %d measurements it is %s: %s", made, status.Phase, status.Message)
			}
			if due, next := Due(s, status, now.Add(time.Hour)); Ended(status.Phase) && (len(due) > 0 || !next.IsZero()) {
				t.Errorf("it has ended, and %v is due", due)
			}
		})
	}
}

// TestDelay has a metric wait before its first measurement.
func TestDelay(t *testing.T) {
	s := spec(t, "metrics: [{name: a, initialDelay: 1m, provider: {web: {url: u}}}]")
	status := Begin(s, Status{}, noon)
	if due, next := Due(s, status, noon); len(due) != 0 || !next.Equal(noon.Add(time.Minute)) {
		t.Errorf("due are %v, next is %s", due, next)
	}
}

// TestMerge puts templates together, with arguments from where they are said first.
func TestMerge(t *testing.T) {
	one := spec(t, "{metrics: [{name: a, provider: {web: {url: u}}}], args: [{name: host}, {name: path, value: /}]}")
	two := spec(t, "{metrics: [{name: b, provider: {web: {url: u}}}], args: [{name: host, value: default}, {name: token, valueFrom: {secretKeyRef: {name: s, key: k}}}]}")
	merged, err := Merge([]Spec{one, two}, map[string]string{"path": "/health"})
	if err != nil {
		t.Fatal(err)
	}
	if len(merged.Metrics) != 2 || len(merged.Args) != 3 || *merged.Args[0].Value != "default" || *merged.Args[1].Value != "/health" || merged.Args[2].ValueFrom == nil {
		t.Errorf("merged is %+v", merged)
	}
	if _, err := Merge([]Spec{one}, nil); err == nil || !strings.Contains(err.Error(), `"host" has no value`) {
		t.Errorf("without a value the error is %v", err)
	}
	if _, err := Merge([]Spec{two, two}, nil); err == nil || !strings.Contains(err.Error(), `two metrics are named "b"`) {
		t.Errorf("of two of a name the error is %v", err)
	}
}

// TestCheck refuses what is not carried out, or would have no end.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"metrics: []": "there are 0",
		"metrics: [{name: a, provider: {prometheus: {address: x}}}]":                    `metric "a": provider: one of web, job and plugin`,
		"metrics: [{name: a, provider: {plugin: {other/thing: {}}}}]":                   "provider.plugin: only",
		"metrics: [{name: a, provider: {plugin: {headgate.dev/workflow: {}}}}]":         "workflowTemplateRef.name: it is missing",
		"metrics: [{name: a, provider: {job: {}}}]":                                     "provider.job.spec: it is missing",
		"metrics: [{name: a, interval: 10s, provider: {web: {url: u}}}]":                "count: it is needed",
		"metrics: [{name: a, initialDelay: soon, provider: {web: {url: u}}}]":           `initialDelay: "soon"`,
		"metrics: [{name: a, count: '{{args.n}}', provider: {web: {url: u}}}]":          "count: want a number",
		"metrics: [{name: a, provider: {web: {url: u, authentication: {oauth2: {}}}}}]": "authentication",
	} {
		if err := spec(t, text).Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
}

// TestJudge has conditions decide about what was measured.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		success, failure string
		body, path       string
		want, fails      string
	}{
		"No condition":     {body: "anything", want: Successful},
		"Success":          {success: "result.ok", body: `{"ok": true}`, want: Successful},
		"No success":       {success: "result.ok", body: `{"ok": false}`, want: Failed},
		"Failure":          {failure: "result == 'bad'", body: `"bad"`, want: Failed},
		"No failure":       {failure: "result == 'bad'", body: `"good"`, want: Successful},
		"Neither":          {success: "asInt(result) > 10", failure: "asInt(result) < 5", body: `7`, want: Inconclusive},
		"Of a path":        {success: "asFloat(result) >= 0.95", body: `{"data": {"rate": "0.97"}}`, path: "{$.data.rate}", want: Successful},
		"Nothing there":    {success: "true", body: `{}`, path: "{$.data.rate}", fails: "is not in the response"},
		"Not JSON":         {success: "true", body: `<p>`, path: "{$.data}", fails: "is not JSON"},
		"Not a condition":  {success: "result", body: `"x"`, fails: "successCondition"},
		"Another function": {success: "env('HOME') == ''", body: `1`, fails: "successCondition"},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := Web{JSONPath: c.path}.Value([]byte(c.body), Select)
			got := ""
			if err == nil {
				got, err = Metric{SuccessCondition: c.success, FailureCondition: c.failure}.Judge(value, noon)
			}
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("it is %s (%v), want %s", got, err, c.want)
			}
		})
	}
}

// TestFill replaces arguments in texts, and nothing else.
func TestFill(t *testing.T) {
	values := map[string]string{"host": "example.com", "x": "{{args.host}}"}
	for text, want := range map[string]string{
		"https://{{args.host}}/{{ args.host }}": "https://example.com/example.com", "plain": "plain", "{{args.x}}": "{{args.host}}",
	} {
		if got, err := Fill(text, values); err != nil || got != want {
			t.Errorf("%s: %q (%v)", text, got, err)
		}
	}
	for _, text := range []string{"{{args.none}}", "{{host}}", "{{args.host"} {
		if got, err := Fill(text, values); err == nil {
			t.Errorf("%s: %q, want an error", text, got)
		}
	}
}

// TestResume continues a measurement in progress when it is due, under the same name, and counts it once.
func TestResume(t *testing.T) {
	s := spec(t, "metrics: [{name: a, count: 2, interval: 1h, provider: {job: {spec: {backoffLimit: 0}}}}]")
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	status := Begin(s, Status{}, noon)
	one := Next(status, "a", noon)
	one.Phase, one.ResumeAt, one.Metadata = Running, &metav1.Time{Time: noon.Add(time.Second)}, map[string]string{"job-name": "x"}
	status = Measured(s, status, "a", one)
	if due, next := Due(s, status, noon); len(due) != 0 || !next.Equal(noon.Add(time.Second)) {
		t.Errorf("due are %v, next is %s", due, next)
	}
	if due, _ := Due(s, status, noon.Add(time.Second)); len(due) != 1 || Number(status, "a") != 0 {
		t.Errorf("due are %v, number %d", due, Number(status, "a"))
	}
	one = Next(status, "a", noon.Add(time.Minute))
	if one.Metadata["job-name"] != "x" || one.ResumeAt != nil || !one.StartedAt.Time.Equal(noon) {
		t.Errorf("the measurement is not the one in progress: %+v", one)
	}
	one.Phase, one.FinishedAt = Successful, &metav1.Time{Time: noon.Add(time.Minute)}
	status = Measured(s, status, "a", one)
	if r := status.MetricResults[0]; len(r.Measurements) != 1 || r.Count != 1 || Number(status, "a") != 1 || status.Phase != Running {
		t.Errorf("the status is %+v", status)
	}
	if again := Next(status, "a", noon); len(again.Metadata) != 0 {
		t.Errorf("the next one continues what has ended: %+v", again)
	}
}

// TestObject makes the Jobs and the Workflows that measure.
func TestObject(t *testing.T) {
	values := map[string]string{"image": "i:1"}
	for name, c := range map[string]struct{ provider, kind, want, fails string }{
		"Job":         {provider: "{job: {metadata: {labels: {a: b}}, spec: {template: {spec: {containers: [{image: '{{args.image}}'}]}}}}}", kind: "Job", want: `{"template":{"spec":{"containers":[{"image":"i:1"}]}}}`},
		"Workflow":    {provider: "{plugin: {headgate.dev/workflow: {workflowTemplateRef: {name: w}, arguments: {parameters: [{name: p, value: '{{args.image}}'}]}}}}", kind: "Workflow", want: `{"arguments":{"parameters":[{"name":"p","value":"i:1"}]},"workflowTemplateRef":{"name":"w"}}`},
		"No argument": {provider: "{job: {spec: {x: ['{{args.token}}']}}}", fails: `provider.job: there is no argument "token"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, "metrics: [{name: a, provider: "+c.provider+"}]")
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			u, err := s.Metrics[0].Object(values)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(u.Object["spec"])
			if err != nil || string(got) != c.want || u.GetKind() != c.kind {
				t.Errorf("%s %s (%v), want %s", u.GetKind(), got, err, c.want)
			}
		})
	}
}

// TestOutcome reads how far a Job and a Workflow are.
func TestOutcome(t *testing.T) {
	for text, want := range map[string]string{
		"{kind: Job}": Running,
		"{kind: Job, status: {conditions: [{type: Complete, status: 'True'}]}}":                                                             Successful,
		"{kind: Job, status: {conditions: [{type: Complete, status: 'False'}, {type: Failed, status: 'True', message: DeadlineExceeded}]}}": Failed + " DeadlineExceeded",
		"{kind: Workflow, status: {phase: Running}}":                                                                                        Running,
		"{kind: Workflow, status: {phase: Succeeded, message: fine}}":                                                                       Successful,
		"{kind: Workflow, status: {phase: Failed, message: child failed}}":                                                                  Failed + " child failed",
		"{kind: Workflow, status: {phase: Error, message: no pods}}":                                                                        Error + " no pods",
	} {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		phase, message := Outcome(u)
		if got := strings.TrimSpace(phase + " " + message); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
