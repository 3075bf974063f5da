package workload_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/chart/workload"
)

func TestConfigMapOfFiles(t *testing.T) {
	files := fstest.MapFS{
		"scripts/run.sh": {Data: []byte("#!/bin/sh\n")}, "scripts/stop.sh": {Data: []byte("exit")}, "scripts/logo.png": {Data: []byte{0xff, 0x00}},
		"scripts/below/other.sh": {Data: []byte("x")}, "scripts/notes~": {Data: []byte("x")}, "empty/below/x": {Data: []byte("x")},
	}
	for name, tc := range map[string]struct {
		reason  string
		props   workload.ConfigMapProps
		text    map[string]string
		binary  map[string][]byte
		mistake string
	}{
		"All": {
			"text, bytes, and no directories",
			workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "scripts", Exclude: []string{"*~"}}}},
			map[string]string{"run.sh": "#!/bin/sh\n", "stop.sh": "exit"},
			map[string][]byte{"logo.png": {0xff, 0x00}},
			"",
		},
		"Chosen": {"patterns, a prefix and entries beside them", workload.ConfigMapProps{
			Data: map[string]string{"run.sh": "own"}, Files: []workload.Files{{FS: files, Dir: "scripts", Include: []string{"*.sh"}, Exclude: []string{"stop*"}, KeyPrefix: "bin-"}},
		}, map[string]string{"run.sh": "own", "bin-run.sh": "#!/bin/sh\n"}, nil, ""},
		"Missing":  {"a directory that is not there", workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "scirpts"}}}, nil, nil, "reading the files of a ConfigMap: open scirpts"},
		"Nothing":  {"a directory without files", workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "empty"}}}, nil, nil, "empty: there are no files in it"},
		"Unused":   {"a pattern that matches nothing is probably wrong", workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "scripts", Include: []string{"*.bash"}}}}, nil, nil, `scripts: "*.bash" matches no file; there are: [below logo.png notes~ run.sh stop.sh]`},
		"Pattern":  {"a pattern that is none", workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "scripts", Include: []string{"["}}}}, nil, nil, `the pattern "["`},
		"Twice":    {"one key for two", workload.ConfigMapProps{Data: map[string]string{"run.sh": "own"}, Files: []workload.Files{{FS: files, Dir: "scripts", Include: []string{"run.sh"}}}}, map[string]string{"run.sh": "own"}, nil, `scripts/run.sh: the key "run.sh" is there already; use a KeyPrefix`},
		"Key":      {"a name that is no key", workload.ConfigMapProps{Files: []workload.Files{{FS: files, Dir: "scripts", Include: []string{"notes~"}}}}, nil, nil, `"notes~" is not a valid key`},
		"TooLarge": {"more than the API takes", workload.ConfigMapProps{Data: map[string]string{"a": strings.Repeat("x", 1<<20)}}, map[string]string{"a": strings.Repeat("x", 1<<20)}, nil, "a ConfigMap holds 1048576 bytes at most, and the files have 1048577"},
	} {
		t.Run(name, func(t *testing.T) {
			app, c := scope()
			config := workload.ConfigMap(c, "config", tc.props)
			expect(t, app, tc.mistake)
			if diff := cmp.Diff(tc.text, config.Value.Data); diff != "" {
				t.Errorf("%s: data (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.binary, config.Value.BinaryData); diff != "" {
				t.Errorf("%s: binaryData (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestConfigMapOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.conf"), []byte("x=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	app, c := scope()
	config := workload.ConfigMap(c, "config", workload.ConfigMapProps{Files: []workload.Files{{Dir: dir}}})
	expect(t, app, "")
	if config.Value.Data["a.conf"] != "x=1\n" {
		t.Errorf("data %v", config.Value.Data)
	}
}

func TestEnvAndMounts(t *testing.T) {
	got := append(workload.Env(map[string]string{"B": "2", "A": "1"}), workload.ConfigMapEnv("C", "config", "c"), workload.FieldEnv("D", "metadata.name"))
	want := []corev1.EnvVar{
		{Name: "A", Value: "1"},
		{Name: "B", Value: "2"},
		{Name: "C", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "config"}, Key: "c"}}},
		{Name: "D", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	from := append(workload.FromConfigMaps("a"), workload.FromSecrets("b", "c")...)
	if len(from) != 3 || from[0].ConfigMapRef.Name != "a" || from[2].SecretRef.Name != "c" {
		t.Errorf("sources %+v", from)
	}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "one"}, {Name: "two"}}}
	volume := corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	workload.Mount(&pod, 0, volume, "/a")
	workload.Mount(&pod, 1, volume, "/b")
	if len(pod.Volumes) != 1 || pod.Containers[0].VolumeMounts[0].MountPath != "/a" || pod.Containers[1].VolumeMounts[0].Name != "data" {
		t.Errorf("a volume for both containers: %+v", pod)
	}
}
