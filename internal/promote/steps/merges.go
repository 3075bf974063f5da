package steps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

type waitPullConfig struct {
	RepoURL               string `json:"repoURL"`
	Provider              string `json:"provider"`
	InsecureSkipTLSVerify bool   `json:"insecureSkipTLSVerify"`
	PRNumber              int64  `json:"prNumber"`
	PollInterval          string `json:"pollInterval"`
}

// numbered is the pull request that a configuration names, and when to evaluate it again if it has to be waited for.
func (s *step) numbered(ctx context.Context, config waitPullConfig) (*pullServer, *pull, time.Duration, error) {
	if config.PRNumber <= 0 {
		return nil, nil, 0, fail("prNumber: %d is not the number of a pull request", config.PRNumber)
	}
	again, err := pollOf(config.PollInterval)
	if err != nil {
		return nil, nil, 0, err
	}
	f, err := s.pulls(ctx, config.RepoURL, config.Provider, config.InsecureSkipTLSVerify)
	if err != nil {
		return nil, nil, 0, err
	}
	found, err := f.api.get(ctx, f, config.PRNumber)
	return f, found, again, err
}

// waitForPull is in progress until a pull request is merged. One that is closed without that is a failure.
func (s *step) waitForPull(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[waitPullConfig](data)
	if err != nil {
		return nil, err
	}
	_, found, again, err := s.numbered(ctx, config)
	if err != nil {
		return nil, err
	}
	return s.merged(found, again)
}

// merged is what becomes of a step that a pull request has to be merged for.
func (s *step) merged(found *pull, again time.Duration) (map[string]any, error) {
	switch {
	case found.Open:
		s.running, s.again, s.message = true, again, "waiting until "+found.URL+" is merged or closed"
		return nil, nil
	case !found.Merged:
		return nil, fail("%s was closed, and not merged", found.URL)
	case found.Commit == "":
		return nil, errors.New(found.URL + " is merged, and the server does not say yet by which commit")
	}
	return map[string]any{"commit": found.Commit, "pr": map[string]any{"id": found.Number, "url": found.URL, "open": false, "merged": true}}, nil
}

type mergePullConfig struct {
	waitPullConfig
	MergeMethod string `json:"mergeMethod"`
	Wait        bool   `json:"wait"`
}

// mergePull merges a pull request. One that cannot be merged is a failure, or is tried again if the step waits for it. One that an earlier attempt merged
// is not merged again.
func (s *step) mergePull(ctx context.Context, data []byte) (map[string]any, error) {
	config, err := decode[mergePullConfig](data)
	if err != nil {
		return nil, err
	}
	f, found, again, err := s.numbered(ctx, config.waitPullConfig)
	if err != nil || !found.Open {
		if err != nil {
			return nil, err
		}
		return s.merged(found, again)
	}
	var refused *refusal
	switch err := f.api.merge(ctx, f, found.Number, config.MergeMethod); {
	case err == nil:
	case !errors.As(err, &refused) || !unmergeable(refused.status):
		return nil, err
	case config.Wait:
		s.running, s.again, s.message = true, again, fmt.Sprintf("%s cannot be merged yet: %v", found.URL, err)
		return nil, nil
	default:
		return nil, fail("%s cannot be merged: %w: set wait to try again", found.URL, err)
	}
	if found, err = f.api.get(ctx, f, config.PRNumber); err != nil {
		return nil, err
	}
	return s.merged(found, again)
}

// unmergeable reports whether a status says that the request was right, and that the pull request is not ready.
func unmergeable(status int) bool {
	switch status {
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusConflict, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
