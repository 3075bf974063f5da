package plan_test

import (
	"encoding/base64"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/api/build/v1alpha1"
	"github.com/headgate-dev/headgate/internal/builds/plan"
)

// world is a cluster with one Build: decisions are carried out, runs end as the test says.
type world struct {
	build   *v1alpha1.Build
	now     time.Time
	rev     string
	missing string
	unread  string
	runs    map[string]plan.Run
	secrets map[string]plan.Secret
	images  map[string]plan.Image
	users   map[string]string
	// created counts what was created, by name; uids numbers objects.
	created map[string]int
	uids    int
	// budget is how many effects there are before the process is killed; negative for no end.
	budget int
}

const epochDay = "2026-11-20T10:00:00Z"

func newWorld(t *testing.T, spec v1alpha1.BuildSpec) *world {
	t.Helper()
	now, err := time.Parse(time.RFC3339, epochDay)
	if err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.Build{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "nixos", UID: "b", Generation: 1, CreationTimestamp: metav1.NewTime(now)}, Spec: spec}
	if b.Spec.WorkflowTemplateRef == nil && b.Spec.Workflow == nil {
		b.Spec.WorkflowTemplateRef = &workflow.WorkflowTemplateRef{Name: "builder"}
	}
	return &world{
		build: b, now: now, rev: "abc1234567", runs: map[string]plan.Run{}, secrets: map[string]plan.Secret{}, images: map[string]plan.Image{},
		users: map[string]string{}, created: map[string]int{}, budget: -1,
	}
}

// secretSpec has one Secret with the number of an image.
func secretSpec() v1alpha1.BuildSpec {
	return v1alpha1.BuildSpec{
		Inputs:  v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{{Name: "rev"}}},
		Outputs: []v1alpha1.Output{{Secret: v1alpha1.SecretOutput{Name: "nixos-image", Keys: map[string]string{"image": "{{outputs.parameters.image-id}}"}, Public: []string{"image"}}}},
	}
}

func imageSpec() v1alpha1.BuildSpec {
	return v1alpha1.BuildSpec{
		Inputs:  v1alpha1.Inputs{Parameters: []v1alpha1.Parameter{{Name: "rev"}}},
		Outputs: []v1alpha1.Output{{Secret: v1alpha1.SecretOutput{Name: "nixos-image"}}},
		Image:   &v1alpha1.ImageOutput{URL: "{{outputs.parameters.url}}", Regions: []string{"nyc3"}, Revision: "{{inputs.parameters.rev}}"},
	}
}

func (w *world) facts() plan.Facts {
	f := plan.Facts{
		Now: w.now, Workflow: map[string]any{"entrypoint": "main"}, Inputs: []plan.Input{{Name: "rev", Value: w.rev}},
		Missing: w.missing, Secrets: w.secrets, Users: w.users, Unread: w.unread,
	}
	if f.Missing != "" {
		f.Workflow, f.Inputs = nil, nil
	}
	for _, r := range w.runs {
		f.Runs = append(f.Runs, r)
	}
	for _, i := range w.images {
		f.Images = append(f.Images, i)
	}
	return f
}

// spend reports whether the process still lives after another effect.
func (w *world) spend() bool {
	if w.budget == 0 {
		return false
	}
	w.budget--
	return true
}

// pass decides once, and carries that out: the status first. It reports whether anything happened.
func (w *world) pass() (moved bool) {
	d := plan.Next(w.build, w.facts())
	if !equality.Semantic.DeepEqual(w.build.Status, d.Build.Status) {
		if !w.spend() {
			return false
		}
		w.build = d.Build
		moved = true
	}
	for _, a := range d.Actions {
		if !w.spend() {
			return false
		}
		w.carryOut(a)
		moved = true
	}
	return moved
}

// settle decides until nothing happens.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for range 50 {
		if !w.pass() {
			return
		}
	}
	t.Fatalf("it does not settle: %+v", w.build.Status)
}

func (w *world) uid() types.UID {
	w.uids++
	return types.UID(strconv.Itoa(w.uids))
}

func (w *world) carryOut(a plan.Action) {
	switch a.Do {
	case plan.CreateRun:
		if _, exists := w.runs[a.Name]; exists {
			return
		}
		w.created[a.Name]++
		w.runs[a.Name] = w.runOf(a.Object)
	case plan.CancelRun:
		w.end("Failed", "terminated")
	case plan.DeleteRun:
		if w.runs[a.Name].UID == a.UID {
			delete(w.runs, a.Name)
		}
	case plan.CreateImage:
		if _, exists := w.images[a.Name]; exists {
			return
		}
		w.created[a.Name+" image"]++
		name, _, _ := unstructured.NestedString(a.Object.Object, "spec", "forProvider", "name")
		w.images[a.Name] = plan.Image{Resource: a.Name, Name: name, UID: w.uid(), Digest: a.Object.GetAnnotations()[v1alpha1.AnnotationDigest], Created: w.now}
	case plan.DeleteImage:
		delete(w.images, a.Name)
	case plan.WriteSecret:
		w.write(a.Object)
	}
}

func (w *world) runOf(u *unstructured.Unstructured) plan.Run {
	notes := u.GetAnnotations()
	attempt, _ := strconv.ParseInt(notes[v1alpha1.AnnotationAttempt], 10, 64)
	epoch, _ := strconv.ParseInt(notes[v1alpha1.AnnotationEpoch], 10, 64)
	r := plan.Run{Name: u.GetName(), UID: w.uid(), Owned: true, Digest: notes[v1alpha1.AnnotationDigest], Attempt: attempt, Epoch: epoch, Phase: "Running", Arguments: map[string]string{}}
	parameters, _, _ := unstructured.NestedSlice(u.Object, "spec", "arguments", "parameters")
	for _, item := range parameters {
		one := item.(map[string]any)
		r.Arguments[one["name"].(string)] = one["value"].(string)
	}
	return r
}

func (w *world) write(u *unstructured.Unstructured) {
	s, exists := w.secrets[u.GetName()]
	if !exists {
		s.UID, s.Empty, s.Values = w.uid(), true, map[string]string{}
	}
	s.Of = u.GetNamespace() + "/" + u.GetLabels()[v1alpha1.LabelBuild]
	s.Annotations = u.GetAnnotations()
	data, _, _ := unstructured.NestedMap(u.Object, "data")
	for key, value := range data {
		text, _ := base64.StdEncoding.DecodeString(value.(string))
		s.Values[key], s.Empty = string(text), false
	}
	w.secrets[u.GetName()] = s
}

// end ends the runs that are running.
func (w *world) end(phase, message string) {
	for name, r := range w.runs {
		if r.Phase == "Running" {
			r.Phase, r.Message, r.FinishedAt = phase, message, w.now
			r.Outputs = map[string]string{"image-id": "1000" + string(r.UID), "url": "http://images/" + r.Name}
			w.runs[name] = r
		}
	}
}

// available ends the import of images.
func (w *world) available() {
	for name, i := range w.images {
		if !i.Ready && i.Failed == "" {
			i.Ready, i.ID, i.URL = true, "7"+string(i.UID), "http://images"
			w.images[name] = i
		}
	}
}

// built settles with everything that takes time ending well.
func (w *world) built(t *testing.T) {
	t.Helper()
	for range 4 {
		w.settle(t)
		w.end("Succeeded", "")
		w.settle(t)
		w.available()
	}
	w.settle(t)
}

func (w *world) condition(kind string) (status, reason, message string) {
	for _, c := range w.build.Status.Conditions {
		if c.Type == kind {
			return string(c.Status), c.Reason, c.Message
		}
	}
	return "", "", ""
}

// runsCreated is how many runs were created in all, and whether any was created twice.
func (w *world) runsCreated(t *testing.T) int {
	t.Helper()
	n := 0
	for name, times := range w.created {
		if times > 1 {
			t.Errorf("%s was created %d times", name, times)
		}
		n += times
	}
	return n
}
