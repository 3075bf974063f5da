package wrapper

import (
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// random is a text that cannot be compressed to less than half.
func random(n int) string {
	data := make([]byte, n/2)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(data)
	return hex.EncodeToString(data)
}

func reportOf(value string) *Report {
	return &Report{Outputs: &v1alpha1.Outputs{Parameters: []v1alpha1.Parameter{{Name: "a", Value: v1alpha1.Any(value)}}}}
}

func TestMessage(t *testing.T) {
	const room = 4096
	for name, tc := range map[string]struct {
		reason string
		value  string
		logged bool
		fails  bool
	}{
		"Small":      {reason: "it has room in the termination message", value: "small"},
		"Repetitive": {reason: "so has what can be compressed", value: strings.Repeat("a", 100<<10)},
		"Large":      {reason: "what has none is printed", value: random(100 << 10), logged: true},
		"TooLarge":   {reason: "there is a limit", value: random(4 << 20), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			want := reportOf(tc.value)
			message, printed, err := want.message(room)
			if tc.fails {
				if err == nil {
					t.Fatalf("%s: it was accepted", tc.reason)
				}
				return
			}
			if err != nil || len(message) > room {
				t.Fatalf("%s: a message of %d bytes, %v", tc.reason, len(message), err)
			}
			got, digest, err := Reported(message)
			if err != nil || (digest != "") != tc.logged {
				t.Fatalf("%s: digest %q, %v", tc.reason, digest, err)
			}
			if tc.logged {
				// The kubelet breaks lines, and rotates logs.
				lines := strings.ReplaceAll(printed, printed[:40], printed[:40]+"\n")
				if _, err := ParseLog([]byte(lines[100:]), digest); err == nil {
					t.Error("a log without its beginning was accepted")
				}
				if got, err = ParseLog([]byte(lines), digest); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// What a pod reports is of anybody who writes to it.
func TestReportedRefuses(t *testing.T) {
	bomb, err := pack(map[string]string{"error": strings.Repeat("a", 2*largestPlain)})
	if err != nil {
		t.Fatal(err)
	}
	if len(bomb) > Largest {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	for name, tc := range map[string]struct{ reason, message, want string }{
		"Bomb":   {"it takes all memory", mark + bomb, "it has more than 16777216 bytes"},
		"Text":   {"it is no report", mark + "aGFsbG8=", "unexpected EOF"},
		"Base64": {"it is not encoded", mark + "?", "illegal base64"},
	} {
		if _, _, err := Reported(tc.message); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: %v, want %q", name, tc.reason, err, tc.want)
		}
	}
	if report, digest, err := Reported("of the program"); report != nil || digest != "" || err != nil {
		t.Errorf("a message of the program is no report: %v, %q, %v", report, digest, err)
	}
}

func TestEnvironment(t *testing.T) {
	source := random(300 << 10)
	task := &Task{Source: &source, Room: 1}
	names, values, err := task.Environment()
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for i, value := range values {
		if len(value) > 128<<10-100 {
			t.Errorf("%s has %d bytes, which the kernel refuses", names[i], len(value))
		}
		variables[names[i]] = value
	}
	text, err := taskOf(func(name string) (string, bool) {
		value, is := variables[name]
		return value, is
	})
	if err != nil {
		t.Fatal(err)
	}
	got := &Task{}
	if err := unpack(text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(task, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCollect(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"line": "text\n", "lines": "a\n\n", "long": strings.Repeat("a", longestParameter+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		reason, outputs, printed string
		failed                   bool
		want                     []string
		err                      string
	}{
		"Line":     {reason: "the end of the last line is not part of a value", outputs: "parameters: [{name: a, valueFrom: {path: DIR/line}}, {name: b, valueFrom: {path: DIR/lines}}]", want: []string{"a=text", "b=a\n"}},
		"Default":  {reason: "a file that is not there has a default", outputs: "parameters: [{name: a, valueFrom: {path: DIR/none, default: x}}]", want: []string{"a=x"}},
		"Missing":  {reason: "or is a failure", outputs: "parameters: [{name: a, valueFrom: {path: DIR/none}}]", err: `output parameter "a": open DIR/none: no such file or directory`},
		"Failed":   {reason: "a program that failed need not have written it", outputs: "parameters: [{name: a, valueFrom: {path: DIR/none}}, {name: b, valueFrom: {path: DIR/line}}]", failed: true, want: []string{"b=text"}},
		"Long":     {reason: "a value has to have room in a status", outputs: "parameters: [{name: a, valueFrom: {path: DIR/long}}]", err: `output parameter "a": DIR/long has more than 262144 bytes; use an artifact`},
		"Result":   {reason: "what is printed may be a result", outputs: "{}", printed: "x\ny\n", want: []string{"=x\ny"}},
		"Artifact": {reason: "an artifact is packed", outputs: "artifacts: [{name: a, path: DIR/line, archive: {none: {}}}, {name: b, path: DIR/none, optional: true}]", want: []string{"a:text\n"}},
		"NoFile":   {reason: "it has to be there", outputs: "artifacts: [{name: a, path: DIR/none}]", err: `output artifact "a": stat DIR/none: no such file or directory`},
	} {
		t.Run(name, func(t *testing.T) {
			task := &Task{Result: tc.printed != ""}
			if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(tc.outputs, "DIR", dir)), &task.Outputs); err != nil {
				t.Fatal(err)
			}
			report, err := collect(dir, task, []byte(tc.printed), !tc.failed)
			if tc.err != "" {
				if want := strings.ReplaceAll(tc.err, "DIR", dir); err == nil || err.Error() != want {
					t.Errorf("%s: %v, want %q", tc.reason, err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			if report.Outputs.Result != nil {
				got = append(got, "="+*report.Outputs.Result)
			}
			for _, p := range report.Outputs.Parameters {
				got = append(got, p.Name+"="+p.Value.String())
			}
			for _, a := range report.Outputs.Artifacts {
				got = append(got, a.Name+":"+string(report.Contents[a.Name]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// Two keys of Secrets never have one variable.
func TestSecretVariable(t *testing.T) {
	if SecretVariable("a", "b-c") == SecretVariable("a-b", "c") {
		t.Error("two keys have one variable")
	}
}

// A result has a limit, and the program prints on.
func TestBeginning(t *testing.T) {
	keeps := &beginning{limit: 3}
	for _, text := range []string{"ab", "cd", "ef"} {
		if n, err := keeps.Write([]byte(text)); n != 2 || err != nil {
			t.Errorf("writing %q: %d, %v", text, n, err)
		}
	}
	if got := keeps.data.String(); got != "abc" {
		t.Errorf("the beginning of what was printed is %q", got)
	}
}
