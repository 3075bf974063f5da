package cron

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// scheduled is a CronWorkflow that was created on March 1, 2026, and seen since.
func scheduled(t *testing.T, spec, last string) *v1alpha1.CronWorkflow {
	t.Helper()
	c := &v1alpha1.CronWorkflow{}
	if err := yaml.UnmarshalStrict([]byte("{workflowSpec: {entrypoint: main}, "+spec+"}"), &c.Spec); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Namespace, c.UID = "nightly", "ns", "cron-uid"
	c.Labels = map[string]string{"team": "a"}
	c.CreationTimestamp = metav1.NewTime(at(t, "2026-03-01 00:00:30"))
	if schedules, err := ParseSchedules(&c.Spec); err == nil {
		c.Annotations = map[string]string{annotationSchedule: schedules.String(), "note": "b"}
	}
	if last != "" {
		when := metav1.NewTime(at(t, last))
		c.Status.LastScheduledTime = &when
	}
	return c
}

// created are the times at which the runs of a decision were due, by their names.
func created(t *testing.T, d Decision) []string {
	t.Helper()
	var times []string
	for _, run := range d.Create {
		due, err := scheduledTime("nightly", run.Name)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, due.Format("02 15:04:05"))
	}
	return times
}

// TestManySchedules bounds what a pass over one object takes.
func TestManySchedules(t *testing.T) {
	_, err := ParseSchedules(&v1alpha1.CronWorkflowSpec{Schedules: slices.Repeat([]string{"* * * * *"}, 101)})
	if err == nil || err.Error() != "cron workflow has 101 schedules of at most 100" {
		t.Error(err)
	}
}

func TestDue(t *testing.T) {
	running := Run{Name: "nightly-1", UID: "u", Phase: v1alpha1.WorkflowRunning}
	for name, tc := range map[string]struct {
		reason, spec, last, now string
		runs                    []Run
		want, terminated        []string
		wake                    string
	}{
		"NotYet":     {"nothing is due yet", "schedules: ['0 2 * * *']", "", "2026-03-01 01:00:00", nil, nil, nil, "01 02:00:00"},
		"First":      {"the first run needs none before it", "schedules: ['0 2 * * *']", "", "2026-03-01 02:00:00", nil, []string{"01 02:00:00"}, nil, "02 02:00:00"},
		"Older":      {"the older spelling", "schedule: '0 2 * * *'", "", "2026-03-01 02:00:00", nil, []string{"01 02:00:00"}, nil, "02 02:00:00"},
		"Several":    {"several schedules", "schedules: ['0 2 * * *', '@hourly']", "2026-03-01 02:00:00", "2026-03-01 03:00:00", nil, []string{"01 03:00:00"}, nil, "01 04:00:00"},
		"Every":      {"an interval", "schedules: ['@every 10m']", "2026-03-01 02:00:00", "2026-03-01 02:10:00", nil, []string{"01 02:10:00"}, nil, "01 02:20:00"},
		"Late":       {"a process that takes over in the same minute creates it", "schedules: ['0 2 * * *']", "2026-03-01 02:00:00", "2026-03-02 02:00:50", nil, []string{"02 02:00:00"}, nil, "03 02:00:00"},
		"Missed":     {"a later one does not", "schedules: ['0 2 * * *']", "2026-03-01 02:00:00", "2026-03-02 02:10:00", nil, nil, nil, "03 02:00:00"},
		"Deadline":   {"unless a deadline says so", "schedules: ['0 2 * * *'], startingDeadlineSeconds: 900", "2026-03-01 02:00:00", "2026-03-02 02:10:00", nil, []string{"02 02:00:00"}, nil, "03 02:00:00"},
		"LastMissed": {"only the last one of several", "schedules: ['*/5 * * * *'], startingDeadlineSeconds: 900", "2026-03-01 02:00:00", "2026-03-01 02:18:30", nil, []string{"01 02:15:00"}, nil, "01 02:20:00"},
		"FirstLate":  {"a deadline is for those that had a run before", "schedules: ['0 2 * * *'], startingDeadlineSeconds: 900", "", "2026-03-01 02:10:00", nil, nil, nil, "02 02:00:00"},
		"Years":      {"after years, without counting them all", "schedules: ['* * * * *']", "2016-03-01 02:00:00", "2026-03-02 02:00:00", nil, []string{"02 02:00:00"}, nil, "02 02:01:00"},
		"Suspended":  {"a suspended schedule creates nothing", "schedules: ['0 2 * * *'], suspend: true", "", "2026-03-01 02:00:00", nil, nil, nil, ""},
		"Allow":      {"beside one that runs", "schedules: ['0 2 * * *']", "2026-02-28 02:00:00", "2026-03-01 02:00:00", []Run{running}, []string{"01 02:00:00"}, nil, "02 02:00:00"},
		"Forbid":     {"not beside one that runs", "schedules: ['0 2 * * *'], concurrencyPolicy: Forbid", "2026-02-28 02:00:00", "2026-03-01 02:00:00", []Run{running}, nil, nil, "02 02:00:00"},
		"Replace":    {"instead of one that runs, which is terminated", "schedules: ['0 2 * * *'], concurrencyPolicy: Replace", "2026-02-28 02:00:00", "2026-03-01 02:00:00", []Run{running}, []string{"01 02:00:00"}, []string{"nightly-1"}, "02 02:00:00"},
		"When":       {"a condition that is met", `schedules: ['0 2 * * *'], when: "{{= cronworkflow.lastScheduledTime == nil || (now() - cronworkflow.lastScheduledTime).Hours() > 30 }}"`, "", "2026-03-01 02:00:00", nil, []string{"01 02:00:00"}, nil, "02 02:00:00"},
		"WhenNot":    {"one that is not", `schedules: ['0 2 * * *'], when: "{{= (now() - cronworkflow.lastScheduledTime).Hours() > 30 }}"`, "2026-02-28 02:00:00", "2026-03-01 02:00:00", nil, nil, nil, "02 02:00:00"},
		"WhenTag":    {"one with tags", `schedules: ['0 2 * * *'], when: "{{cronworkflow.failed}} < 1 && '{{cronworkflow.labels.team}}' == 'a' && '{{cronworkflow.annotations.note}}' == 'b'"`, "", "2026-03-01 02:00:00", nil, []string{"01 02:00:00"}, nil, "02 02:00:00"},
		"Zone":       {"a time zone", "schedules: ['0 2 * * *'], timezone: Asia/Tokyo", "", "2026-03-01 17:00:00", nil, []string{"01 17:00:00"}, nil, "02 17:00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Next(scheduled(t, tc.spec, tc.last), Facts{Now: at(t, tc.now), Runs: tc.runs})
			if diff := cmp.Diff(tc.want, created(t, d)); diff != "" {
				t.Errorf("%s: runs (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.terminated, d.Terminate); diff != "" {
				t.Errorf("%s: terminated (-want +got):\n%s", tc.reason, diff)
			}
			wake := ""
			if !d.Wake.IsZero() {
				wake = d.Wake.UTC().Format("02 15:04:05")
			}
			if wake != tc.wake {
				t.Errorf("%s: wakes at %q, want %q", tc.reason, wake, tc.wake)
			}
			// What was decided is not decided again.
			again := Next(d.Cron, Facts{Now: at(t, tc.now), Runs: append(slices.Clone(tc.runs), seen(d)...)})
			if len(again.Create) != 0 {
				t.Errorf("%s: it was created again: %v", tc.reason, created(t, again))
			}
		})
	}
}

// seen are the runs of a decision once they exist.
func seen(d Decision) []Run {
	var runs []Run
	for _, run := range d.Create {
		runs = append(runs, Run{Name: run.Name, UID: types.UID("uid-of-" + run.Name), Phase: v1alpha1.WorkflowRunning})
	}
	return runs
}

func TestRun(t *testing.T) {
	c := scheduled(t, "schedules: ['0 2 * * *'], workflowMetadata: {labels: {x: z}, annotations: {a: b}}", "")
	run := Next(c, Facts{Now: at(t, "2026-03-01 02:00:00")}).Create[0]
	want := map[string]string{"x": "z", v1alpha1.LabelCronWorkflow: "nightly"}
	if diff := cmp.Diff(want, run.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if run.Name != "nightly-1772330400" || run.Annotations[v1alpha1.AnnotationScheduledTime] != "2026-03-01T02:00:00Z" || run.Annotations["a"] != "b" {
		t.Errorf("name %q, annotations %v", run.Name, run.Annotations)
	}
	if len(run.OwnerReferences) != 1 || run.OwnerReferences[0].UID != "cron-uid" || run.Spec.Entrypoint != "main" {
		t.Errorf("owner %v, spec %+v", run.OwnerReferences, run.Spec)
	}
}

// TestCrash creates a run that was recorded and never seen, and not one that was seen and deleted.
func TestCrash(t *testing.T) {
	now := at(t, "2026-03-01 02:00:00")
	recorded := Next(scheduled(t, "schedules: ['0 2 * * *']", ""), Facts{Now: now})
	later := Facts{Now: now.Add(10 * time.Minute)}
	if again := Next(recorded.Cron, later); len(again.Create) != 1 || again.Create[0].Name != recorded.Create[0].Name {
		t.Fatalf("the run that was recorded is created: %v", created(t, again))
	}
	observed := Next(recorded.Cron, Facts{Now: now.Add(time.Minute), Runs: seen(recorded)})
	if again := Next(observed.Cron, later); len(again.Create) != 0 || len(again.Cron.Status.Active) != 0 {
		t.Errorf("a run that was deleted is not created again: %v", created(t, again))
	}
}

func TestChangedSchedule(t *testing.T) {
	c := scheduled(t, "schedules: ['0 2 * * *'], startingDeadlineSeconds: 86400", "2026-03-01 02:00:00")
	c.Spec.Schedules = []string{"0 3 * * *"}
	d := Next(c, Facts{Now: at(t, "2026-03-01 12:00:00")})
	if len(d.Create) != 0 {
		t.Errorf("what would have been due by the new schedule before it was there is not: %v", created(t, d))
	}
	if d = Next(d.Cron, Facts{Now: at(t, "2026-03-02 03:00:00")}); len(d.Create) != 1 {
		t.Errorf("the next one is: %v", created(t, d))
	}
}

func TestHistory(t *testing.T) {
	now := at(t, "2026-03-05 12:00:00")
	var runs []Run
	for i, phase := range []v1alpha1.WorkflowPhase{"Succeeded", "Failed", "Succeeded", "Error", "Succeeded", "Succeeded", "Succeeded", "Running"} {
		run := Run{Name: "nightly-" + string(rune('a'+i)), UID: "u", Phase: phase}
		if phase.Completed() {
			run.FinishedAt = now.Add(-time.Duration(i) * time.Hour)
		}
		runs = append(runs, run)
	}
	d := Next(scheduled(t, "schedules: ['0 2 1 1 *']", "2026-01-01 02:00:00"), Facts{Now: now, Runs: runs})
	slices.Sort(d.Delete)
	if diff := cmp.Diff([]string{"nightly-d", "nightly-f", "nightly-g"}, d.Delete); diff != "" {
		t.Errorf("all but the newest three and one (-want +got):\n%s", diff)
	}
	if len(d.Cron.Status.Active) != 1 || d.Cron.Status.Active[0].Name != "nightly-h" {
		t.Errorf("the one that runs is active: %v", d.Cron.Status.Active)
	}
	d = Next(scheduled(t, "schedules: ['0 2 1 1 *'], successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 5", ""), Facts{Now: now, Runs: runs})
	if len(d.Delete) != 5 {
		t.Errorf("limits of the user: %v", d.Delete)
	}
}

func TestStopStrategy(t *testing.T) {
	for _, field := range []string{"expression", "condition"} {
		c := scheduled(t, "schedules: ['0 2 * * *'], stopStrategy: {"+field+": 'cronworkflow.failed >= 2'}", "2026-02-28 02:00:00")
		c.Status.Failed = 1
		c.Status.Active = append(c.Status.Active, (&pass{cron: c}).reference(Run{Name: "nightly-1", UID: "u"}))
		d := Next(c, Facts{Now: at(t, "2026-03-01 02:00:00"), Runs: []Run{{Name: "nightly-1", UID: "u", Phase: v1alpha1.WorkflowError}}})
		if d.Cron.Status.Failed != 2 || d.Cron.Status.Phase != v1alpha1.CronStopped || d.Cron.Labels[labelStopped] != "true" || len(d.Create) != 0 {
			t.Errorf("%s: the second failure ends the schedule: %+v", field, d.Cron.Status)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	for name, tc := range map[string]struct{ reason, spec, want string }{
		"None":      {"no schedule", "schedules: []", "at least one schedule"},
		"Malformed": {"a schedule with a mistake", "schedules: ['0 2 * *']", `cron schedule "0 2 * *" is malformed`},
		"InText":    {"a zone in the schedule", "schedules: ['TZ=']", "set the zone as timezone"},
		"Zone":      {"a zone that there is not", "schedules: ['0 2 * * *'], timezone: Nowhere/City", `timezone "Nowhere/City" is unknown`},
		"When":      {"a condition with a mistake", "schedules: ['0 2 * * *'], when: 'a =='", "when: "},
		"Stop":      {"an expression with a mistake", "schedules: ['0 2 * * *'], stopStrategy: {expression: 'x'}", "stopStrategy.expression"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Next(scheduled(t, tc.spec, ""), Facts{Now: at(t, "2026-03-01 02:00:00")})
			conditions := d.Cron.Status.Conditions
			if len(d.Create) != 0 || len(conditions) != 1 || conditions[0].Type != v1alpha1.ConditionSpecError || !strings.Contains(conditions[0].Message, tc.want) {
				t.Fatalf("%s: %v does not say %q", tc.reason, conditions, tc.want)
			}
		})
	}
	d := Next(scheduled(t, "schedules: ['0 2 * *']", ""), Facts{Now: at(t, "2026-03-01 02:00:00")})
	d.Cron.Spec.Schedules = []string{"0 2 * * *"}
	if d = Next(d.Cron, Facts{Now: at(t, "2026-03-01 03:00:00")}); d.Cron.Status.Conditions[0].Status != metav1.ConditionFalse {
		t.Errorf("a mistake that was corrected is taken back: %v", d.Cron.Status.Conditions)
	}
}

// TestSummerTime goes by the clock of Berlin, which skips an hour on March 29 and repeats one on October 25, 2026.
func TestSummerTime(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, schedule, from, to string
		want                       []string
	}{
		"Skipped":  {"a time that does not exist comes with the next one that does, or not at all", "30 2 * * *", "2026-03-28 00:00:00", "2026-03-31 00:00:00", []string{"28 01:30:00", "30 00:30:00"}},
		"Repeated": {"a time that comes twice is due once", "30 2 * * *", "2026-10-24 12:00:00", "2026-10-26 12:00:00", []string{"25 00:30:00", "26 01:30:00"}},
		"Hourly":   {"every hour is every hour", "0 * * * *", "2026-10-24 23:30:00", "2026-10-25 03:30:00", []string{"25 00:00:00", "25 01:00:00", "25 02:00:00", "25 03:00:00"}},
		"Noon":     {"other times move with the clock", "0 12 * * *", "2026-03-28 00:00:00", "2026-03-30 00:00:00", []string{"28 11:00:00", "29 10:00:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseSchedules(&v1alpha1.CronWorkflowSpec{Schedules: []string{tc.schedule}, Timezone: "Europe/Berlin"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for next := s.Next(at(t, tc.from)); !next.After(at(t, tc.to)); next = s.Next(next) {
				got = append(got, next.Format("02 15:04:05"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func FuzzSchedules(f *testing.F) {
	for _, seed := range []string{"0 2 * * *", "@every 1s", "@daily", "TZ=", "*/0 * * * *", "1-70 * * * *", "CRON_TZ=x"} {
		f.Add(seed, "Europe/Berlin")
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, schedule, zone string) {
		s, err := ParseSchedules(&v1alpha1.CronWorkflowSpec{Schedules: []string{schedule}, Timezone: zone})
		if err != nil {
			return
		}
		if next := s.Next(now); !next.IsZero() && !next.After(now) {
			t.Errorf("%q is due next at %s, which is not after %s", schedule, next, now)
		}
	})
}
