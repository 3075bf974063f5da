package wrapper

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Task is what is handed into a pod.
type Task struct {
	// Source is that of a script; nil without one.
	Source *string `json:"source,omitempty"`
	// Inputs are the artifacts to lay out; Contents are those of the ones that are not downloaded, by name.
	Inputs   []v1alpha1.Artifact `json:"inputs,omitempty"`
	Contents map[string][]byte   `json:"contents,omitempty"`
	// Outputs are those that the template declares, Result is set if what the program prints is one.
	Outputs v1alpha1.Outputs `json:"outputs,omitzero"`
	Result  bool             `json:"result,omitempty"`
	// Room is how many bytes the termination message of a container has.
	Room int `json:"room"`
}

// HasOutputs reports whether anything is to be reported besides the exit code.
func (t *Task) HasOutputs() bool {
	return t.Result || len(t.Outputs.Parameters)+len(t.Outputs.Artifacts) > 0
}

// Report is what a pod reports.
type Report struct {
	// Outputs have the values of parameters, and the result.
	Outputs *v1alpha1.Outputs `json:"outputs,omitempty"`
	// Contents are those of the artifacts, by name.
	Contents map[string][]byte `json:"contents,omitempty"`
	// Error is why the program was not started, or its outputs were not collected.
	Error string `json:"error,omitempty"`
}

const (
	// Largest is how many bytes inputs of one pod, or its outputs, may have: compressed, as they are transferred. The object of a pod
	// has to have room for the inputs; logs are rotated by the kubelet when they are ten times as long.
	Largest = 1 << 20
	// largestPlain bounds what is unpacked of it.
	largestPlain = 16 << 20
	// variable begins the names of the environment variables that hold a task. The kernel bounds the length of each to 128 KiB.
	variable = "HEADGATE_TASK_"
	piece    = 96 << 10

	// mark begins a termination message of the command.
	mark = "headgate/1 "
	// inLog follows it if the report is in the log of the container that prints it; the digest of the text follows.
	inLog = "log "
)

// ErrTooLarge is returned for inputs or outputs that have more bytes than a pod can be handed, or can report.
var ErrTooLarge = errors.New("that is too large for a pod: use a volume, such as one of volumeClaimTemplates, or a store outside the cluster")

// Environment is the task as the values of environment variables, by name, in their order.
func (t *Task) Environment() (names, values []string, err error) {
	text, err := pack(t)
	if err != nil {
		return nil, nil, err
	}
	if len(text) > Largest {
		return nil, nil, fmt.Errorf("the inputs have %d bytes of at most %d: %w", len(text), Largest, ErrTooLarge)
	}
	for i := 0; len(text) > 0; i++ {
		n := min(piece, len(text))
		names, values = append(names, variable+strconv.Itoa(i)), append(values, text[:n])
		text = text[n:]
	}
	return names, values, nil
}

// taskOf is the task that an environment holds.
func taskOf(lookup func(string) (string, bool)) (string, error) {
	var all strings.Builder
	for i := 0; ; i++ {
		value, is := lookup(variable + strconv.Itoa(i))
		if !is {
			break
		}
		all.WriteString(value)
	}
	if all.Len() == 0 {
		return "", fmt.Errorf("%s0 is not set: the command runs inside the pods of workflows only", variable)
	}
	return all.String(), nil
}

// Handed is the task that an environment holds.
func Handed(lookup func(string) (string, bool)) (*Task, error) {
	text, err := taskOf(lookup)
	if err != nil {
		return nil, err
	}
	task := &Task{}
	return task, unpack(text, task)
}

// message is the termination message of a report, and what has to be printed if it has no room for it.
func (r *Report) message(room int) (message, printed string, err error) {
	text, err := pack(r)
	if err != nil {
		return "", "", err
	}
	if len(mark)+len(text) <= room {
		return mark + text, "", nil
	}
	if len(text) > Largest {
		return "", "", fmt.Errorf("the outputs have %d bytes of at most %d: %w", len(text), Largest, ErrTooLarge)
	}
	return mark + inLog + digestOf(text), text, nil
}

// Reported is what a termination message says: a report, or the digest of one that is in the log. It is neither for a message of the program.
func Reported(message string) (report *Report, digest string, err error) {
	text, ours := strings.CutPrefix(message, mark)
	if !ours {
		return nil, "", nil
	}
	if digest, logged := strings.CutPrefix(text, inLog); logged {
		return nil, strings.TrimSpace(digest), nil
	}
	report = &Report{}
	if err := unpack(text, report); err != nil {
		return nil, "", err
	}
	return report, "", nil
}

// ParseLog reads a report from a log, whose digest is known.
func ParseLog(log []byte, digest string) (*Report, error) {
	text := string(bytes.Join(bytes.Fields(log), nil))
	if digestOf(text) != digest {
		return nil, fmt.Errorf("the log has other content than the outputs that were reported, or not all of it (%d bytes)", len(text))
	}
	report := &Report{}
	return report, unpack(text, report)
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// pack makes a value a compressed text.
func pack(value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding %T: %w", value, err)
	}
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(data); err != nil {
		return "", fmt.Errorf("compressing: %w", err)
	}
	if err := writer.Close(); err != nil {
		return "", fmt.Errorf("compressing: %w", err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// unpack reads what pack has written. The text may be of anybody who writes to a pod.
func unpack(text string, value any) error {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("reading what the pod reported: %w", err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("reading what the pod reported: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(reader, largestPlain+1))
	if err != nil {
		return fmt.Errorf("reading what the pod reported: %w", err)
	}
	if len(plain) > largestPlain {
		return fmt.Errorf("reading what the pod reported: it has more than %d bytes", largestPlain)
	}
	if err := json.Unmarshal(plain, value); err != nil {
		return fmt.Errorf("reading what the pod reported: %w", err)
	}
	return nil
}
