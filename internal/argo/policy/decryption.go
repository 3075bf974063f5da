package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
)

const (
	// Decryption is the annotation by which an Application requests decryption: "sops", or "sops/" and the name of a
	// Secret in the namespace of the installation.
	Decryption = "headgate.dev/decryption"
	// DecryptionSecrets is the annotation of an AppProject that lists the Secrets which its Applications may decrypt by:
	// patterns as in spec.sourceRepos, separated by commas.
	DecryptionSecrets = "headgate.dev/decryption-secrets"
)

// decryptionSecret is the Secret of an Application that names none.
const decryptionSecret = "sops-age"

// DecryptionSecret is the Secret by which an Application decrypts, empty where it requests no decryption.
func DecryptionSecret(app *v1alpha1.Application) (string, error) {
	text, asked := app.Annotations[Decryption]
	if !asked || text == "" {
		return "", nil
	}
	provider, name, _ := strings.Cut(text, "/")
	if provider != "sops" {
		return "", fmt.Errorf("annotation %s: %q: want sops, or sops/NAME of a Secret in the namespace of Argo CD", Decryption, text)
	}
	return cmp.Or(name, decryptionSecret), nil
}

// PermitsDecryption is an error unless the project lists the Secret by which an Application decrypts: anyone who can write
// Applications of the project can read what is encrypted for that Secret, in any repository.
func (p *Project) PermitsDecryption(app *v1alpha1.Application, installation string) error {
	secret, err := DecryptionSecret(app)
	if err != nil || secret == "" || permitted(p.secrets, secret) {
		return err
	}
	listed := "does not exist"
	if len(p.secrets) > 0 {
		listed = fmt.Sprintf("lists '%s'", strings.Join(p.listed, "', '"))
	}
	return fmt.Errorf("decryption by Secret '%s/%s' is not permitted in project '%s': annotation %s of the AppProject %s",
		installation, secret, p.Name, DecryptionSecrets, listed)
}

// addSecrets takes the Secrets that a project lists.
func (p *Project) addSecrets(of *v1alpha1.AppProject) []error {
	var errs []error
	for text := range strings.SplitSeq(of.Annotations[DecryptionSecrets], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		read, err := newPattern(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("project '%s': annotation %s: %w", of.Name, DecryptionSecrets, err))
		}
		p.secrets, p.listed = append(p.secrets, read), append(p.listed, text)
	}
	return errs
}

// permitted reports whether a pattern lets a text through and none denies it. A pattern with "!" lets through what it does
// not deny.
func permitted(patterns []pattern, text string) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.matches(text) }) && !denied(patterns, text)
}

func denied(patterns []pattern, text string) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool { return p.denies && !p.matches(text) })
}
