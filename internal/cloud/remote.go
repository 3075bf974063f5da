package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Account asks a cloud in another process what its account has.
func (e Endpoint) Account(ctx context.Context) (Shown, error) {
	var shown Shown
	return shown, e.request(ctx, http.MethodGet, "state", &shown)
}

// Audit asks a cloud in another process for its audit log so far.
func (e Endpoint) Audit(ctx context.Context) (Log, error) {
	var answer struct {
		Entries Log `json:"entries"`
	}
	err := e.request(ctx, http.MethodGet, "audit", &answer)
	return answer.Entries, err
}

// Delete deletes an object in another process at once, as Cloud.Delete does.
func (e Endpoint) Delete(ctx context.Context, kind, name string) error {
	return e.request(ctx, http.MethodDelete, url.PathEscape(kind)+"/"+url.PathEscape(name), nil)
}

// PowerOff turns a Droplet off in another process at once.
func (e Endpoint) PowerOff(ctx context.Context, name string) error {
	return e.request(ctx, http.MethodPost, "droplets/"+url.PathEscape(name)+"/power-off", nil)
}

func (e Endpoint) request(ctx context.Context, method, path string, into any) error {
	q, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(e.URL, "/")+Prefix+path, nil)
	if err != nil {
		return fmt.Errorf("asking the simulated cloud: %w", err)
	}
	q.Header.Set("Authorization", "Bearer "+e.Token)
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return fmt.Errorf("asking the simulated cloud: %w", err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("asking the simulated cloud: %w", err)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		var refused struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(data, &refused) != nil || refused.Message == "" {
			return fmt.Errorf("the simulated cloud at %s answered %s", e.URL, answer.Status)
		}
		return errors.New(refused.Message)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}
