package images

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/headgate-dev/headgate/internal/resourceset"
)

// ErrRemovedField is a template that asks for a field that Flux has removed.
var ErrRemovedField = errors.New("removed field")

// defaultMessage is the message of a commit without a template.
const defaultMessage = "Update from image update automation"

// Subject is what a template of a commit message is about.
type Subject struct {
	// AutomationObject is the object that commits.
	AutomationObject Name
	Changed          Result
	// Values are spec.git.commit.messageTemplateValues.
	Values map[string]string
}

// Name is that of an object.
type Name struct{ Namespace, Name string }

// String is "namespace/name".
func (n Name) String() string { return n.Namespace + "/" + n.Name }

// Message makes the message of a commit.
func Message(text string, about Subject) (string, error) {
	if text == "" {
		text = defaultMessage
	}
	const field = "spec.git.commit.messageTemplate"
	parsed, err := template.New("commit message").Funcs(resourceset.Hermetic()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("%s: unable to create commit message template from spec: %w", field, err)
	}
	out := &bounded{}
	err = parsed.Execute(out, about)
	switch {
	case err == nil:
		return out.text.String(), nil
	case strings.Contains(err.Error(), "can't evaluate field Updated in"):
		return "", fmt.Errorf("%s: %w: template uses removed '.Updated' field. Please use '.Changed' instead", field, ErrRemovedField)
	case strings.Contains(err.Error(), "can't evaluate field ImageResult in"):
		return "", fmt.Errorf("%s: %w: template uses removed '.Changed.ImageResult' field. Please use '.Changed.FileChanges' or '.Changed.Objects' instead", field, ErrRemovedField)
	default:
		return "", fmt.Errorf("%s: failed to run template from spec: %w", field, err)
	}
}

// maxMessage bounds what a template makes.
const maxMessage = 64 << 10

// bounded takes text until there is too much of it.
type bounded struct{ text strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxMessage {
		return 0, fmt.Errorf("the message exceeds %d bytes", maxMessage)
	}
	return b.text.Write(p)
}
