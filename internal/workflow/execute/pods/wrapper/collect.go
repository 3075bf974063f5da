package wrapper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
)

// longestParameter is how long the value of a parameter may be: it has to have room in the status of the workflow.
const longestParameter = 256 << 10

// collect reads the outputs of a program. What one that failed did not write is left out.
func collect(dir string, task *Task, printed []byte, succeeded bool) (*Report, error) {
	report := &Report{Outputs: &v1alpha1.Outputs{}}
	if task.Result {
		result := strings.TrimSuffix(strings.ToValidUTF8(string(printed), "\uFFFD"), "\n")
		report.Outputs.Result = &result
	}
	for _, parameter := range task.Outputs.Parameters {
		value, err := parameterOf(parameter)
		switch {
		case err == nil:
			parameter.Value = value
			report.Outputs.Parameters = append(report.Outputs.Parameters, parameter)
		case succeeded:
			return nil, fmt.Errorf("output parameter %q: %w", parameter.Name, err)
		}
	}
	for _, artifact := range task.Outputs.Artifacts {
		err := report.take(dir, artifact)
		switch {
		case err == nil:
			report.Outputs.Artifacts = append(report.Outputs.Artifacts, artifact)
		case artifact.Optional && errors.Is(err, fs.ErrNotExist):
		case succeeded:
			return nil, fmt.Errorf("output artifact %q: %w", artifact.Name, err)
		}
	}
	return report, nil
}

// take has an artifact in the report, or at the URL that is its place.
func (r *Report) take(dir string, artifact v1alpha1.Artifact) error {
	if artifact.HTTP != nil {
		return upload(dir, artifact)
	}
	var packed bytes.Buffer
	if err := artifacts.Pack(&limited{&packed, Largest}, artifact.Path, artifact.Archive); err != nil {
		return err
	}
	if r.Contents == nil {
		r.Contents = map[string][]byte{}
	}
	r.Contents[artifact.Name] = packed.Bytes()
	return nil
}

// parameterOf is the value of a parameter, from its file.
func parameterOf(parameter v1alpha1.Parameter) (*v1alpha1.AnyString, error) {
	from := parameter.ValueFrom
	if from == nil || from.Path == "" {
		return parameter.Value, nil
	}
	file, err := os.Open(from.Path)
	if errors.Is(err, fs.ErrNotExist) && from.Default != nil {
		return from.Default, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, longestParameter+1))
	if err != nil {
		return nil, err
	}
	if len(data) > longestParameter {
		return nil, fmt.Errorf("%s has more than %d bytes; use an artifact", from.Path, longestParameter)
	}
	return v1alpha1.Any(strings.TrimSuffix(string(data), "\n")), nil
}

// limited writes up to a number of bytes.
type limited struct {
	to    io.Writer
	bytes int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.bytes -= len(p); l.bytes < 0 {
		return 0, ErrTooLarge
	}
	return l.to.Write(p)
}
