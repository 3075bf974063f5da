package sources

import (
	"context"
	"errors"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/flux/access"
	"github.com/headgate-dev/headgate/internal/flux/toolkit"
	"github.com/headgate-dev/headgate/internal/source"
)

// KeyAppID is the entry of a Secret by which it holds a GitHub App.
const KeyAppID = "githubAppID"

// UnsupportedGit is an error that names a field of a GitRepository that is not supported.
func UnsupportedGit(repo *sourcev1.GitRepository) error {
	const instead = `use spec.secretRef with provider "generic", or "github" for a GitHub App`
	switch {
	case repo.Spec.ServiceAccountName != "":
		return &access.UnsupportedError{Field: "spec.serviceAccountName", Hint: "it requires a cloud identity; " + instead}
	case repo.Spec.Provider == sourcev1.GitProviderAzure, repo.Spec.Provider == sourcev1.GitProviderAWS:
		return &access.UnsupportedError{Field: "spec.provider", Hint: fmt.Sprintf("%q requires a cloud identity; %s", repo.Spec.Provider, instead)}
	default:
		return nil
	}
}

// login reads the credentials of a GitRepository into its options.
func (s *Keeper) login(ctx context.Context, repo *sourcev1.GitRepository, o *source.GitOptions) error {
	byApp := repo.Spec.Provider == sourcev1.GitProviderGitHub
	if repo.Spec.SecretRef == nil {
		if byApp {
			return &access.Failure{
				Reason: sourcev1.InvalidProviderConfigurationReason, Terminal: true,
				Err: errors.New("secretRef with github app data must be specified when provider is set to github"),
			}
		}
		return nil
	}
	data, err := s.Secret(ctx, repo.Namespace, "spec.secretRef", repo.Spec.SecretRef.Name)
	if err != nil {
		return &access.Failure{Reason: sourcev1.AuthenticationFailedReason, Err: err}
	}
	if err := checkProvider(repo, data); err != nil {
		return err
	}
	o.CAFile = access.OrBytes(data["ca.crt"], data["caFile"])
	o.ClientCert, o.ClientKey = access.OrBytes(data["tls.crt"], data["certFile"]), access.OrBytes(data["tls.key"], data["keyFile"])
	if byApp {
		o.App = s.app(toolkit.SourceKey(sourcev1.GitRepositoryKind, repo.Namespace, repo.Name), appConfig(data))
		return nil
	}
	o.Username, o.Password = string(data["username"]), string(data["password"])
	o.BearerToken = string(data["bearerToken"])
	o.Identity, o.KnownHosts = data["identity"], data["known_hosts"]
	return nil
}

// checkProvider refuses a Secret that does not fit spec.provider, in the words of Flux.
func checkProvider(repo *sourcev1.GitRepository, data map[string][]byte) error {
	byApp, holdsApp := repo.Spec.Provider == sourcev1.GitProviderGitHub, len(data[KeyAppID]) > 0
	name := repo.Namespace + "/" + repo.Spec.SecretRef.Name
	var err error
	switch {
	case byApp && !holdsApp:
		err = fmt.Errorf("secretRef with github app data must be specified when provider is set to github; Secret %q has no %s", name, KeyAppID)
	case !byApp && holdsApp:
		err = fmt.Errorf("secretRef '%s' has github app data but provider is not set to github", name)
	default:
		return nil
	}
	return &access.Failure{Reason: sourcev1.InvalidProviderConfigurationReason, Err: err}
}

func appConfig(data map[string][]byte) source.AppConfig {
	return source.AppConfig{
		ID: string(data[KeyAppID]), InstallationID: string(data["githubAppInstallationID"]),
		InstallationOwner: string(data["githubAppInstallationOwner"]),
		PrivateKey:        string(data["githubAppPrivateKey"]), BaseURL: string(data["githubAppBaseURL"]),
	}
}

// app returns the App of a source, with the token that it has, unless its Secret was changed.
func (s *Keeper) app(key source.Key, config source.AppConfig) *source.App {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.apps[key]; ok && a.AppConfig == config {
		return a
	}
	if s.apps == nil {
		s.apps = map[source.Key]*source.App{}
	}
	s.apps[key] = &source.App{AppConfig: config}
	return s.apps[key]
}
