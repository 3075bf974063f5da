package artifacts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// Upload sends an output to where it is declared to be: a file by PUT, as the upstream does. The errors have neither the query of the URL nor the values of headers.
func (p *Places) Upload(ctx context.Context, a *v1alpha1.HTTPArtifact, secrets Secrets, file string) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r, err := request(ctx, http.MethodPut, a, secrets)
	if err != nil {
		return err
	}
	r.Body, r.ContentLength = f, info.Size()
	answer, err := p.send(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode < http.StatusOK || answer.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("sending to %q: the server returns %q", shown(r.URL), answer.Status)
	}
	return nil
}

// request is one for an artifact, with its headers and logins.
func request(ctx context.Context, method string, a *v1alpha1.HTTPArtifact, secrets Secrets) (*http.Request, error) {
	if a.Auth != nil && (a.Auth.ClientCert != nil || a.Auth.OAuth2 != nil) {
		return nil, errors.New("http.auth: only basicAuth is supported")
	}
	u, err := url.Parse(a.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, errors.New("http.url is not a URL of http or https that names a host")
	}
	r, err := http.NewRequestWithContext(ctx, method, a.URL, nil)
	if err != nil {
		return nil, errors.New("http.url cannot be parsed")
	}
	for _, header := range a.Headers {
		r.Header.Set(header.Name, header.Value)
	}
	if a.Auth == nil || a.Auth.BasicAuth == nil {
		return r, nil
	}
	username, errName := read(ctx, secrets, a.Auth.BasicAuth.UsernameSecret)
	password, errPassword := read(ctx, secrets, a.Auth.BasicAuth.PasswordSecret)
	if err := errors.Join(errName, errPassword); err != nil {
		return nil, fmt.Errorf("http.auth.basicAuth: %w", err)
	}
	r.SetBasicAuth(username, password)
	return r, nil
}

// shown is a URL without what may be secret.
func shown(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

// send sends a request.
func (p *Places) send(r *http.Request) (*http.Response, error) {
	transport := p.Egress.OrAnywhere().Transport()
	transport.ResponseHeaderTimeout, transport.DisableKeepAlives = answerTime, true
	answer, err := (&http.Client{Transport: transport, CheckRedirect: redirect}).Do(r)
	if err == nil {
		return answer, nil
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return nil, fmt.Errorf("requesting %q: %w", shown(r.URL), err)
}
