package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/notify"
)

const toldProvider = `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: %[1]s, namespace: flux-system}
spec: {type: generic, address: "%[2]s/%[1]s/s3cret"}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: %[1]s, namespace: flux-system}
spec: {providerRef: {name: %[1]s}, inclusionList: ["ConfigMap/default/"], eventSources: [{kind: Kustomization, name: "*"}]}
---
`

// TestKilledWithNotifications kills a process whose notifications wait for a receiver that is broken, and looks
// whether the next one delivers each of them, once.
func TestKilledWithNotifications(t *testing.T) {
	t.Parallel()
	dir, repo := shortDir(t), t.TempDir()
	broken, well := startSink(), startSink()
	t.Cleanup(broken.Close)
	t.Cleanup(well.Close)
	broken.answer(http.StatusServiceUnavailable)
	writeFile(t, filepath.Join(repo, "cluster", "told.yaml"), fmt.Sprintf(toldProvider, "broken", broken.URL)+fmt.Sprintf(toldProvider, "well", well.URL))
	up := func() *process {
		return run(t, "up", repo, "--path", "cluster", "--state-dir", dir)
	}
	p := up()
	p.says("ready")
	// Each change is a message of its own.
	const changes = 5
	for i := range changes {
		name := fmt.Sprintf("m%d", i)
		writeFile(t, filepath.Join(repo, "cluster", name+".yaml"), fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: default}\n", name))
		created := regexp.MustCompile("POST /well/.*ConfigMap/default/" + name + " created")
		eventually(t, "the receiver that is well is told of "+name, func() (bool, string) {
			return well.matching(created) == 1, strings.Join(well.received(), "\n")
		})
	}
	eventually(t, "the rest is written down", func() (bool, string) {
		return len(waitingFor(t, dir, "broken")) == changes && len(waiting(t, dir)) == changes, fmt.Sprint(waiting(t, dir))
	})
	p.kill()
	broken.answer(http.StatusOK)
	p = up()
	eventually(t, "the queue is empty", func() (bool, string) {
		return len(waiting(t, dir)) == 0, fmt.Sprint(waiting(t, dir))
	})
	var got, want []string
	message := regexp.MustCompile(`ConfigMap/default/m\d created`)
	for _, line := range broken.accepted() {
		got = append(got, message.FindString(line))
	}
	for i := range changes {
		want = append(want, fmt.Sprintf("ConfigMap/default/m%d created", i))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was delivered after all (-want +got):\n%s", diff)
	}
	if n := len(well.received()); n != changes {
		t.Errorf("who was told before was told again: %d messages", n)
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("the process ended with %d", code)
	}
}

// waiting are the notifications that wait in a state directory.
func waiting(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "notifications", "0*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// waitingFor are those that wait for one receiver.
func waitingFor(t *testing.T, dir, provider string) []string {
	t.Helper()
	var names []string
	for _, name := range waiting(t, dir) {
		var d notify.Delivery
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &d) == nil && d.Provider.Name == provider {
			names = append(names, name)
		}
	}
	return names
}
