package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

// settle takes over what a keeper has recorded.
func (e *Executor) settle(x *execution) (next, error) {
	var o outcome
	if err := x.read(outcomeFile, &o); err != nil {
		return again, err
	}
	run := &x.intent.Run
	leaf := plan.Leaf{StartedAt: o.StartedAt, FinishedAt: o.FinishedAt, Host: e.ability.Host}
	verdict(&leaf, &o)
	if o.Setup == "" && !o.Lost {
		code := strconv.Itoa(o.Code)
		leaf.Outputs = &v1alpha1.Outputs{ExitCode: &code}
		if run.Result {
			leaf.Outputs.Result = &o.Result
		}
		leaf.Outputs.Parameters = parametersOf(run.Template, o.Parameters)
		var err error
		if leaf.Outputs.Artifacts, err = e.store(x, &o); err != nil {
			return again, err
		}
		if err := e.upload(x, leaf.Outputs.Artifacts); err != nil && leaf.Phase == v1alpha1.NodeSucceeded {
			leaf.Phase, leaf.Message, leaf.Transient = v1alpha1.NodeError, err.Error(), true
		}
	}
	return done, x.finish(leaf)
}

// verdict is the phase of an execution that has ended, and why.
func verdict(leaf *plan.Leaf, o *outcome) {
	switch {
	case o.Stopped != "":
		leaf.Phase, leaf.Message = v1alpha1.NodeFailed, o.Stopped
	case o.Lost:
		leaf.Phase, leaf.Transient = v1alpha1.NodeError, true
		leaf.Message = "it is unknown how the process ended: what started it was killed, perhaps because the machine had no memory left"
	case o.Setup != "":
		leaf.Phase, leaf.Message, leaf.Final = v1alpha1.NodeError, o.Setup, o.Missing
	case o.Signal != 0:
		leaf.Phase, leaf.Message = v1alpha1.NodeFailed, fmt.Sprintf("Error (exit code %d)", o.Code)
	case o.Code != 0:
		leaf.Phase, leaf.Message = v1alpha1.NodeFailed, fmt.Sprintf("Error (exit code %d)", o.Code)
	case o.Problem != "":
		leaf.Phase, leaf.Message = v1alpha1.NodeError, o.Problem
	default:
		leaf.Phase = v1alpha1.NodeSucceeded
	}
}

// parametersOf are those of a template that have values.
func parametersOf(t *v1alpha1.Template, values map[string]string) []v1alpha1.Parameter {
	var all []v1alpha1.Parameter
	for _, p := range t.Outputs.Parameters {
		if value, has := values[p.Name]; has {
			p.Value = v1alpha1.Any(value)
			all = append(all, p)
		}
	}
	return all
}

// store puts the artifacts that were packed into the store. It does so again after a crash, with the same result.
func (e *Executor) store(x *execution, o *outcome) ([]v1alpha1.Artifact, error) {
	packed := map[string]bool{}
	for _, name := range o.Artifacts {
		packed[name] = true
	}
	var all []v1alpha1.Artifact
	for i, a := range x.intent.Run.Template.Outputs.Artifacts {
		if !packed[a.Name] {
			continue
		}
		if a.HTTP != nil {
			all = append(all, a)
			continue
		}
		f, err := os.Open(filepath.Join(x.file(outDir), strconv.Itoa(i)))
		if err != nil {
			return nil, fmt.Errorf("artifact %q: %w", a.Name, err)
		}
		local, err := e.options.Places.Store.Put(x.intent.UID, f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("artifact %q: %w", a.Name, err)
		}
		a.ArtifactLocation = v1alpha1.ArtifactLocation{Local: local}
		all = append(all, a)
	}
	return all, nil
}

// lost is the end of an execution that nothing is known of: its keeper was killed, or the machine was.
func (e *Executor) lost(x *execution) (next, error) {
	var at begun
	if err := x.read(begunFile, &at); err != nil {
		return again, err
	}
	// It may have ended since we saw no outcome.
	if x.has(outcomeFile) {
		return again, nil
	}
	return done, x.finish(plan.Leaf{
		Phase: v1alpha1.NodeError, Transient: true, Host: e.ability.Host, StartedAt: at.At, FinishedAt: time.Now(),
		Message: "it is unknown how the process ended: it was killed with what kept it, or the machine was restarted",
	})
}

// upload sends the artifacts that are elsewhere. It does so again after a crash, with the same result.
func (e *Executor) upload(x *execution, packed []v1alpha1.Artifact) error {
	account := e.account(x.intent.Namespace, accountOf(&x.intent.Run))
	for i, a := range x.intent.Run.Template.Outputs.Artifacts {
		if a.HTTP == nil || !slices.ContainsFunc(packed, func(p v1alpha1.Artifact) bool { return p.Name == a.Name }) {
			continue
		}
		if err := e.options.Places.Upload(e.running, a.HTTP, account, filepath.Join(x.file(outDir), strconv.Itoa(i))); err != nil {
			return fmt.Errorf("outputs.artifacts.%s: %w", a.Name, err)
		}
	}
	return nil
}

// gone reports whether there is no such file.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
