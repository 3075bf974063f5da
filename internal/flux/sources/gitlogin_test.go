package sources

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/source"
)

func TestProviders(t *testing.T) {
	app := map[string][]byte{"githubAppID": []byte("1"), "githubAppPrivateKey": []byte("SECRET")}
	token := map[string][]byte{"password": []byte("SECRET")}
	cases := map[string]struct {
		reason            string
		provider, account string
		secret            map[string][]byte
		says              string
		why               string
		terminal          bool
	}{
		"none":            {reason: "no provider is named", secret: token},
		"generic":         {reason: "the provider that logs in by a Secret", provider: "generic", secret: token},
		"github":          {reason: "an App logs in", provider: "github", secret: app},
		"azure":           {reason: "a cloud has to know us", provider: "azure", says: `spec.provider is not supported: "azure" requires a cloud identity; use spec.secretRef`, why: "UnsupportedField", terminal: true},
		"aws":             {reason: "so has another", provider: "aws", says: `spec.provider is not supported: "aws"`, why: "UnsupportedField", terminal: true},
		"service account": {reason: "an account that a cloud knows", provider: "azure", account: "x", says: "spec.serviceAccountName is not supported", why: "UnsupportedField", terminal: true},
		"no secret":       {reason: "an App without a Secret", provider: "github", says: "secretRef with github app data must be specified when provider is set to github", why: "InvalidProviderConfiguration", terminal: true},
		"no app":          {reason: "a Secret without an App", provider: "github", secret: token, says: `provider is set to github; Secret "ns/git" has no githubAppID`, why: "InvalidProviderConfiguration"},
		"no provider":     {reason: "an App that nobody asked for", secret: app, says: "secretRef 'ns/git' has github app data but provider is not set to github", why: "InvalidProviderConfiguration"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			repo := &sourcev1.GitRepository{}
			repo.Namespace, repo.Name = "ns", "app"
			repo.Spec.Provider, repo.Spec.ServiceAccountName = c.provider, c.account
			err := UnsupportedGit(repo)
			if err == nil && c.secret == nil {
				err = (&Keeper{}).login(t.Context(), repo, &source.GitOptions{})
			}
			if err == nil && c.secret != nil {
				repo.Spec.SecretRef = &meta.LocalObjectReference{Name: "git"}
				err = checkProvider(repo, c.secret)
			}
			if c.says == "" {
				if err != nil {
					t.Errorf("%s: %v", c.reason, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "SECRET") {
				t.Fatalf("%s: error %v, want one with %q", c.reason, err, c.says)
			}
			if f := access.FailureOf(err, sourcev1.GitOperationFailedReason); f.Reason != c.why || f.Terminal != c.terminal || f.Condition != sourcev1.FetchFailedCondition {
				t.Errorf("%s: the failure is %+v", c.reason, f)
			}
		})
	}
}

func TestAppIsKeptWhileItsSecretIs(t *testing.T) {
	s, key := &Keeper{}, source.Key{Name: "a"}
	config := appConfig(map[string][]byte{"githubAppID": []byte("1"), "githubAppInstallationOwner": []byte("o")})
	first := s.app(key, config)
	if first.ID != "1" || first.InstallationOwner != "o" || s.app(key, config) != first {
		t.Errorf("the App is %+v, or not kept", first.AppConfig)
	}
	config.PrivateKey = "other"
	if s.app(key, config) == first {
		t.Error("an App with another key has the token of the one before")
	}
}

func TestFailureOf(t *testing.T) {
	cases := map[string]struct {
		err             error
		condition, why  string
		terminal, woken bool
	}{
		"any":         {err: errors.New("x"), condition: "FetchFailed", why: "GitOperationFailed"},
		"auth":        {err: fmt.Errorf("x: %w", source.ErrAuth), condition: "FetchFailed", why: "AuthenticationFailed"},
		"URL":         {err: fmt.Errorf("x: %w", source.ErrURL), condition: "FetchFailed", why: "URLInvalid", terminal: true},
		"copy":        {err: fmt.Errorf("x: %w", source.ErrInclude), condition: "StorageOperationFailed", why: "CopyFailure"},
		"unavailable": {err: access.Unavailable(reasonNoArtifact, errors.New("x")), condition: "IncludeUnavailable", why: "NoArtifact", woken: true},
		"commit":      {err: fmt.Errorf("x: %w", source.ErrCommitSignature), condition: "FetchFailed", why: "InvalidCommitSignature"},
		"tag":         {err: fmt.Errorf("x: %w", source.ErrTagSignature), condition: "FetchFailed", why: "InvalidTagSignature"},
		"no keys":     {err: &access.Failure{Reason: access.ReasonVerification, Err: errors.New("x")}, condition: "FetchFailed", why: "VerificationError"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := access.FailureOf(fmt.Errorf("more: %w", c.err), sourcev1.GitOperationFailedReason)
			if f.Condition != c.condition || f.Reason != c.why || f.Terminal != c.terminal || f.Woken != c.woken {
				t.Errorf("the failure is %+v", f)
			}
		})
	}
}
