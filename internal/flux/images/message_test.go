package images

import (
	"errors"
	"strings"
	"testing"
	"time"

	autov1 "github.com/fluxcd/image-automation-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

func TestMain(m *testing.M) {
	if _, is := sandbox.Serve(Jobs()...); !is {
		m.Run()
	}
}

// TestMessage has templates of commit messages see what changed, and end within their limits.
func TestMessage(t *testing.T) {
	limits := sandbox.Limits{Memory: 384 << 20, Time: 5 * time.Second, Output: 16 << 20}
	box := sandbox.New(t.Context(), sandbox.Config{Program: sandbox.Self(), Limits: limits})
	r := &imageRun{
		keeper:     &Keeper{Tools: toolkit.Tools{Host: &dialect.Host{Sandbox: box}}},
		automation: &autov1.ImageUpdateAutomation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "auto"}, Spec: autov1.ImageUpdateAutomationSpec{GitSpec: &autov1.GitSpec{}}},
	}
	web := images.ObjectID{Kind: "Deployment", Name: "web"}
	r.result.Add("a.yaml", images.ObjectChanges{web: {{OldValue: "a:1", NewValue: "a:2", Setter: "ns:a"}}})
	for name, tc := range map[string]struct{ reason, text, want, err string }{
		"Default": {"without a template", "", "Update from image update automation", ""},
		"Changes": {"what changed", `{{ .AutomationObject }} {{ .Values.who }} {{ range $o, $c := .Changed.Objects }}{{ $o.Kind }}/{{ $o.Name }}{{ range $c }} {{ .NewValue }}{{ end }}{{ end }}`, "ns/auto me Deployment/web a:2", ""},
		"Removed": {"what Flux removed", "{{ .Updated.Images }}", "", "removed '.Updated' field"},
		"Spins":   {"one that does not end", `{{ range until 100000 }}{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}{{ end }}`, "", "spec.git.commit.messageTemplate: it took longer than 5s"},
		"Grows":   {"one that takes all memory", `{{ $x := "aaaaaaaa" }}{{ range until 36 }}{{ $x = print $x $x }}{{ end }}{{ len $x }}`, "", "spec.git.commit.messageTemplate: it used more than 384 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r.automation.Spec.GitSpec.Commit.MessageTemplate, r.automation.Spec.GitSpec.Commit.MessageTemplateValues = tc.text, map[string]string{"who": "me"}
			got, err := r.message(t.Context())
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %q, %v; want %q, %q", tc.reason, got, err, tc.want, tc.err)
			}
			if errors.Is(err, images.ErrRemovedField) != (name == "Removed") {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
