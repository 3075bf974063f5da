package images

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/headgate-dev/headgate/internal/images"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{messageJob{}} }

// messageJob executes the template of a commit message.
type messageJob struct{}

// messageWork is a template with what it is about.
type messageWork struct {
	Text    string
	By      images.Name
	Changes []fileChange
	Values  map[string]string
}

// fileChange is what changed of an object in a file.
type fileChange struct {
	File    string
	Object  images.ObjectID
	Changes []images.Change
}

// messageMade is a message, or a template that has to be changed.
type messageMade struct{ Message, Removed string }

// Name tells it apart.
func (messageJob) Name() string { return "commit-message" }

// Run makes the message.
func (messageJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var w messageWork
	if err := sandbox.Decode(input, &w); err != nil {
		return nil, err
	}
	about := images.Subject{AutomationObject: w.By, Values: w.Values}
	for _, c := range w.Changes {
		if about.Changed.FileChanges[c.File] == nil {
			about.Changed.Add(c.File, images.ObjectChanges{})
		}
		about.Changed.FileChanges[c.File][c.Object] = c.Changes
	}
	made, err := images.Message(w.Text, about)
	if errors.Is(err, images.ErrRemovedField) {
		return sandbox.Encode(messageMade{Removed: err.Error()})
	}
	if err != nil {
		return nil, err
	}
	return sandbox.Encode(messageMade{Message: made})
}

// message has the sandbox make the message of a commit: its template is a program of a tenant.
func (r *imageRun) message(ctx context.Context) (string, error) {
	text, values := r.automation.Spec.GitSpec.Commit.MessageTemplate, r.automation.Spec.GitSpec.Commit.MessageTemplateValues
	about := images.Subject{AutomationObject: images.Name{Namespace: r.automation.Namespace, Name: r.automation.Name}, Changed: r.result, Values: values}
	if !strings.Contains(text, "{{") {
		return images.Message(text, about)
	}
	w := messageWork{Text: text, By: about.AutomationObject, Values: values}
	for file, objects := range r.result.FileChanges {
		for object, changes := range objects {
			w.Changes = append(w.Changes, fileChange{file, object, changes})
		}
	}
	input, err := sandbox.Encode(w)
	if err != nil {
		return "", err
	}
	output, err := r.keeper.Sandbox.For(r.automation.Namespace, "ImageUpdateAutomation "+about.AutomationObject.String()).Do(ctx, messageJob{}, input, nil)
	if err != nil {
		var limit *sandbox.Death
		if errors.As(err, &limit) {
			err = fmt.Errorf("spec.git.commit.messageTemplate: %w", err)
		}
		return "", err
	}
	var made messageMade
	if err := sandbox.Decode(output, &made); err != nil {
		return "", err
	}
	if made.Removed != "" {
		return "", &removedField{made.Removed}
	}
	return made.Message, nil
}

// removedField is a template that asks for a field that Flux has removed.
type removedField struct{ text string }

// Error says which one.
func (r *removedField) Error() string { return r.text }

// Is is true for the error of the room that executes templates.
func (*removedField) Is(target error) bool { return target == images.ErrRemovedField }
