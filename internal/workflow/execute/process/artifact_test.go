package process

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

func login(key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: key}
}

// bucket keeps what is sent to it, from who logs in.
type bucket struct {
	mu   sync.Mutex
	kept map[string]string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	user, password, _ := r.BasicAuth()
	if user != "ann" || password != secretValue || r.Header.Get("X-Kind") != "image" {
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	}
	switch r.Method {
	case http.MethodPut:
		data, _ := io.ReadAll(r.Body)
		b.kept[r.URL.Path] = string(data)
	case http.MethodGet:
		_, _ = io.WriteString(w, b.kept[r.URL.Path])
	}
}

// TestArtifacts has artifacts of one step be those of the next, however they are stored.
func TestArtifacts(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	b := &bucket{kept: map[string]string{}}
	server := httptest.NewServer(b)
	defer server.Close()
	none, zip := &v1alpha1.ArchiveStrategy{None: &v1alpha1.NoneStrategy{}}, &v1alpha1.ArchiveStrategy{Zip: &v1alpha1.ZipStrategy{}}
	elsewhere := v1alpha1.ArtifactLocation{HTTP: &v1alpha1.HTTPArtifact{
		URL: server.URL + "/image", Headers: []v1alpha1.HTTPArtifactHeader{{Name: "X-Kind", Value: "image"}},
		Auth: &v1alpha1.HTTPAuth{BasicAuth: &v1alpha1.BasicAuth{UsernameSecret: login("user"), PasswordSecret: login("password")}},
	}}
	first := shell(`mkdir -p /out/dir/deep; echo file > /out/file; echo one > /out/dir/one; echo two > /out/dir/deep/two; chmod 700 /out/dir/one; ln -s one /out/dir/link`)
	first.Outputs.Artifacts = []v1alpha1.Artifact{
		{Name: "file", Path: "/out/file"},
		{Name: "file-none", Path: "/out/file", Archive: none},
		{Name: "file-zip", Path: "/out/file", Archive: zip},
		{Name: "dir", Path: "/out/dir"},
		{Name: "dir-none", Path: "/out/dir", Archive: none},
		{Name: "dir-zip", Path: "/out/dir", Archive: zip},
		{Name: "absent", Path: "/out/absent", Optional: true},
		{Name: "image", Path: "/out/file", Archive: none, ArtifactLocation: elsewhere},
	}
	leaf := w.outcome("first", first)
	succeeded(t, w, "first", leaf)
	second := shell(`cd /in; for f in file file-none file-zip image; do cat $f; done; for d in dir dir-none dir-zip; do ls $d/link && cat $d/link $d/deep/two && [ -x $d/one ]; done
cat part raw tool; [ -x tool ]; echo changed > dir/one; cat packed | head -c 2 | od -An -tx1`)
	for _, a := range leaf.Outputs.Artifacts {
		a.Path = "/in/" + a.Name
		second.Inputs.Artifacts = append(second.Inputs.Artifacts, a)
	}
	if n := len(second.Inputs.Artifacts); n != 7 {
		t.Fatalf("the step has %d artifacts: %+v", n, leaf.Outputs.Artifacts)
	}
	part, packed := second.Inputs.Artifacts[3], second.Inputs.Artifacts[0]
	part.Name, part.Path, part.SubPath = "part", "/in/part", "deep/two"
	packed.Name, packed.Path, packed.Archive = "packed", "/in/packed", none
	second.Inputs.Artifacts = append(second.Inputs.Artifacts, part, packed,
		v1alpha1.Artifact{Name: "raw", Path: "/in/raw", ArtifactLocation: v1alpha1.ArtifactLocation{Raw: &v1alpha1.RawArtifact{Data: "raw\n"}}},
		v1alpha1.Artifact{Name: "tool", Path: "/in/tool", Mode: ptr.To(int32(0o755)), ArtifactLocation: v1alpha1.ArtifactLocation{Raw: &v1alpha1.RawArtifact{Data: "tool\n"}}})
	got := w.outcome("second", second)
	succeeded(t, w, "second", got)
	dirs := ""
	for _, dir := range []string{"dir", "dir-none", "dir-zip"} {
		dirs += dir + "/link\none\ntwo\n"
	}
	if diff := cmp.Diff("file\nfile\nfile\nfile\n"+dirs+"two\nraw\ntool\n 1f 8b", *got.Outputs.Result); diff != "" {
		t.Errorf("what the second step got (-want +got):\n%s", diff)
	}
	if b.kept["/image"] != "file\n" {
		t.Errorf("sent elsewhere: %q", b.kept["/image"])
	}
	t.Run("Again", func(t *testing.T) {
		leaf := w.outcome("again", first)
		succeeded(t, w, "again", leaf)
		for i, a := range leaf.Outputs.Artifacts {
			if a.Local != nil && *a.Local != *second.Inputs.Artifacts[i].Local {
				t.Errorf("%s has another digest: %+v", a.Name, a.Local)
			}
		}
	})
	t.Run("OfOthers", func(t *testing.T) {
		w.wf = workflow()
		w.wf.UID = "33-44"
		w.of.UID = "33-44"
		thief := shell("cat /in")
		thief.Inputs.Artifacts = []v1alpha1.Artifact{{Name: "a", Path: "/in", ArtifactLocation: leaf.Outputs.Artifacts[0].ArtifactLocation}}
		if got := w.outcome("thief", thief); got.Phase != v1alpha1.NodeError || !got.Final || !strings.Contains(got.Message, "does not have it for this workflow") {
			t.Errorf("another workflow gets it: %s %s", got.Phase, got.Message)
		}
	})
	t.Run("Unauthorized", func(t *testing.T) {
		one := shell("echo x > /tmp/x")
		one.Outputs.Artifacts = []v1alpha1.Artifact{{Name: "image", Path: "/tmp/x", ArtifactLocation: v1alpha1.ArtifactLocation{HTTP: &v1alpha1.HTTPArtifact{URL: server.URL + "/other?sig=hush"}}}}
		got := w.outcome("denied", one)
		if got.Phase != v1alpha1.NodeError || !strings.Contains(got.Message, "outputs.artifacts.image: sending to") || strings.Contains(got.Message, "hush") {
			t.Errorf("it is %s: %s", got.Phase, got.Message)
		}
	})
}

// TestClaims has a claim of the workflow keep its content from one step to the next.
func TestClaims(t *testing.T) {
	w := newWorld(t)
	w.needsPaths()
	mounted := func(source string) *v1alpha1.Template {
		template := shell(source)
		template.Script.VolumeMounts = []corev1.VolumeMount{{Name: "work", MountPath: "/work"}}
		return template
	}
	claims := func(r *plan.Run) {
		claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "work"}}
		r.Settings.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim}
		r.Settings.Volumes = []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "wf-work"}}}}
	}
	// A link in a claim leads nowhere else: a path below it is on the machine as that step sees it.
	succeeded(t, w, "first", w.outcome("first", mounted("echo kept > /work/file; ln -s /usr /work/way"), claims))
	second := mounted("cat /work/file")
	second.Inputs.Artifacts = []v1alpha1.Artifact{{Name: "a", Path: "/work/way/out", ArtifactLocation: v1alpha1.ArtifactLocation{Raw: &v1alpha1.RawArtifact{Data: "x"}}}}
	if leaf := w.outcome("way", second, claims); leaf.Phase != v1alpha1.NodeError || !strings.Contains(leaf.Message, "/work/way/out") {
		t.Errorf("a link in a claim leads out: %s %s", leaf.Phase, leaf.Message)
	}
	leaf := w.outcome("second", mounted("cat /work/file"), claims)
	succeeded(t, w, "second", leaf)
	if *leaf.Outputs.Result != "kept" {
		t.Errorf("the claim has %q", *leaf.Outputs.Result)
	}
}
