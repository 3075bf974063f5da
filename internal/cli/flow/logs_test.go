package flow

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
)

// printedLogs are logs by the IDs of nodes.
type printedLogs map[string]string

func (p printedLogs) Logs(_ context.Context, _ execute.Workflow, node string, _ bool) (io.ReadCloser, error) {
	text, has := p[node]
	if !has {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func node(id, name string, second int64) v1alpha1.NodeStatus {
	return v1alpha1.NodeStatus{
		ID: id, Name: name, DisplayName: name[strings.LastIndex(name, ".")+1:], Type: v1alpha1.NodeTypePod, TemplateName: "work",
		Phase: v1alpha1.NodeSucceeded, StartedAt: metav1.Unix(second, 0),
	}
}

// TestLogs prints nodes in the order in which they started, from the first place that has a log, each line with the name of its pod unless
// one node was requested.
func TestLogs(t *testing.T) {
	again := node("wf-b1", "wf.b(1)", 3)
	again.NodeFlag = &v1alpha1.NodeFlag{Retried: true}
	wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "wf", Namespace: "ns"}}
	wf.Status.Nodes = v1alpha1.Nodes{
		"wf-a": node("wf-a", "wf.a", 5), "wf-b": node("wf-b", "wf.b", 1), "wf-b1": again, "wf-c": node("wf-c", "wf.c", 2),
		"wf-s": {ID: "wf-s", Name: "wf.s", Type: v1alpha1.NodeTypeSuspend},
	}
	from := places{printedLogs{"wf-a": "last"}, printedLogs{"wf-b": "one\ntwo\r\n", "wf-b1": "again\n", "wf-a": "shadowed"}}
	cases := map[string]struct{ reason, node, want string }{
		"All":     {"all that executed something", "", "wf-work-2911782600: one\nwf-work-2911782600: two\nwf-work-777549022: again\nwf-work-2962115457: last\n"},
		"Display": {"a node and its attempts", "b", "one\ntwo\nagain\n"},
		"Pod":     {"a pod", "wf-work-2962115457", "last\n"},
		"ID":      {"an ID", "wf-b1", "again\n"},
		"Unknown": {"a node that executed nothing", "s", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l := &logReader{place: place{Globals: &console.Globals{IO: console.IO{Out: &out}}}, node: tc.node, from: from}
			for _, one := range executed(wf, tc.node) {
				if err := l.print(t.Context(), wf, one, false); err != nil && one.ID != "wf-c" {
					t.Fatal(err)
				}
			}
			if out.String() != tc.want {
				t.Errorf("%s: printed\n%s\nwant\n%s", tc.reason, out.String(), tc.want)
			}
		})
	}
}

// TestReader finds what a process of this machine printed in the state directory of an embedded cluster, and reads no other workflow's of the
// same name.
func TestReader(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for file, text := range map[string]string{
		"cluster/kubeconfig":                    `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c, namespace: team}}], current-context: c}`,
		"cluster/workflows/logs/uid-1/wf-a":     "printed\n",
		"ephemeral/workflows/logs/uid-2/wf-a":   "of another one\n",
		"engines/other/workflows/logs/uid-1/wf": "elsewhere\n",
	} {
		name := filepath.Join(state, "headgate", file)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	p := &place{Globals: &console.Globals{IO: console.IO{Out: &out}}}
	if err := p.open(); err != nil || p.namespace != "team" {
		t.Fatalf("the namespace is that of the context: %q, %v", p.namespace, err)
	}
	l, err := p.reader("wf-a")
	if err != nil {
		t.Fatal(err)
	}
	wf := &v1alpha1.Workflow{ObjectMeta: metav1.ObjectMeta{Name: "wf", Namespace: "team", UID: "uid-1"}}
	a := node("wf-a", "wf.a", 1)
	if err := l.print(t.Context(), wf, &a, false); err != nil || out.String() != "printed\n" {
		t.Errorf("it printed %q: %v", out.String(), err)
	}
}
