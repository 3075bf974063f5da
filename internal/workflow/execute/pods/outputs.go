package pods

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/execute"
	"github.com/headgate-dev/headgate/internal/workflow/execute/pods/wrapper"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

const (
	// patience is how long the log of a pod that has ended may be unavailable, as while its machine restarts.
	patience = 5 * time.Minute
	// longestLog is more than any report has, with the ends of its lines.
	longestLog = 2 * wrapper.Largest
	// longestOutputs is how long all values may be: they are stored in the object of the workflow.
	longestOutputs = 768 << 10
)

// settled is the leaf of a pod, with its outputs once it has ended. An error means that they are unknown, and can be read later.
func (p *Pods) settled(ctx context.Context, of execute.Workflow, node string, one record) (plan.Leaf, error) {
	if one.settled != nil {
		return *one.settled, nil
	}
	leaf, report := one.seen.leaf, one.seen.report
	if !one.ended {
		return leaf, nil
	}
	if one.seen.digest != "" {
		var err error
		if report, err = p.readReport(ctx, of.Namespace, one); err != nil {
			if time.Since(leaf.FinishedAt) < patience && !isOther(err) {
				return leaf, err
			}
			return p.settle(of, node, one, lost(leaf, err)), nil
		}
	}
	if report == nil || report.Outputs == nil {
		return p.settle(of, node, one, leaf), nil
	}
	if one.seen.declared == nil {
		return p.settle(of, node, one, lost(leaf, errors.New("the pod does not say which ones it has"))), nil
	}
	outputs, err := p.outputsOf(of, one.seen.declared, report)
	if err != nil {
		return leaf, err
	}
	if size := sizeOf(outputs); size > longestOutputs {
		return p.settle(of, node, one, lost(leaf, fmt.Errorf("parameters and result have %d bytes of at most %d; use artifacts", size, longestOutputs))), nil
	}
	if leaf.Outputs != nil {
		outputs.ExitCode = leaf.Outputs.ExitCode
	}
	leaf.Outputs = outputs
	return p.settle(of, node, one, leaf), nil
}

func (p *Pods) settle(of execute.Workflow, node string, one record, leaf plan.Leaf) plan.Leaf {
	p.records.settle(of, node, one.uid, leaf)
	return leaf
}

// lost is a leaf whose outputs are unknown: one that succeeded has not.
func lost(leaf plan.Leaf, err error) plan.Leaf {
	if leaf.Phase == v1alpha1.NodeSucceeded {
		leaf.Phase, leaf.Message = v1alpha1.NodeError, "the outputs are lost: "+err.Error()
	}
	return leaf
}

// otherError is a log that has been read and has not the outputs: it will not have them later either.
type otherError struct{ error }

func isOther(err error) bool {
	_, is := err.(otherError) //nolint:errorlint // it is never wrapped
	return is
}

// readReport reads what did not fit into a termination message.
func (p *Pods) readReport(ctx context.Context, namespace string, one record) (*wrapper.Report, error) {
	limit := int64(longestLog)
	options := &corev1.PodLogOptions{Container: waitContainer, LimitBytes: &limit}
	log, err := p.client.CoreV1().Pods(namespace).GetLogs(one.name, options).Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the log of container %s: %w", waitContainer, err)
	}
	defer log.Close()
	text, err := io.ReadAll(io.LimitReader(log, longestLog))
	if err != nil {
		return nil, fmt.Errorf("reading the log of container %s: %w", waitContainer, err)
	}
	report, err := wrapper.ParseLog(text, one.seen.digest)
	if err != nil {
		return nil, otherError{err}
	}
	return report, nil
}

// outputsOf are those of the declared outputs that a pod reported, with its artifacts in the store. Nothing else is taken from a report: a program may write it
// itself, and would name outputs, places and Secrets of its own.
func (p *Pods) outputsOf(of execute.Workflow, declared *wrapper.Task, report *wrapper.Report) (*v1alpha1.Outputs, error) {
	outputs := &v1alpha1.Outputs{}
	if declared.Result {
		outputs.Result = report.Outputs.Result
	}
	for _, parameter := range declared.Outputs.Parameters {
		at := slices.IndexFunc(report.Outputs.Parameters, func(r v1alpha1.Parameter) bool { return r.Name == parameter.Name })
		if at >= 0 && report.Outputs.Parameters[at].Value != nil {
			parameter.Value = report.Outputs.Parameters[at].Value
			outputs.Parameters = append(outputs.Parameters, parameter)
		}
	}
	for _, artifact := range declared.Outputs.Artifacts {
		if !slices.ContainsFunc(report.Outputs.Artifacts, func(r v1alpha1.Artifact) bool { return r.Name == artifact.Name }) {
			continue
		}
		if artifact.HTTP == nil { // else the pod has put it there
			local, err := p.Store.Put(of.UID, bytes.NewReader(report.Contents[artifact.Name]))
			if err != nil {
				return nil, fmt.Errorf("output artifact %q: %w", artifact.Name, err)
			}
			artifact.ArtifactLocation = v1alpha1.ArtifactLocation{Local: local}
		}
		outputs.Artifacts = append(outputs.Artifacts, artifact)
	}
	return outputs, nil
}

func sizeOf(outputs *v1alpha1.Outputs) int {
	size := 0
	if outputs.Result != nil {
		size += len(*outputs.Result)
	}
	for _, parameter := range outputs.Parameters {
		size += len(parameter.Value.String())
	}
	return size
}
