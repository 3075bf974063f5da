package hooks

import "time"

// The payloads have the fields of Gitea's. What the API shows alike, repositories, users, pull requests, is given as it
// shows it.

// Push is the payload of TypePush.
type Push struct {
	// Ref is the full name of the branch or tag; Before and After are what it was and is, forty zeros for nothing.
	Ref          string   `json:"ref"`
	Before       string   `json:"before"`
	After        string   `json:"after"`
	CompareURL   string   `json:"compare_url"`
	Commits      []Commit `json:"commits"`
	TotalCommits int      `json:"total_commits"`
	HeadCommit   *Commit  `json:"head_commit"`
	Repository   any      `json:"repository"`
	Pusher       any      `json:"pusher"`
	Sender       any      `json:"sender"`
}

// Commit is one of a Push.
type Commit struct {
	ID           string    `json:"id"`
	Message      string    `json:"message"`
	URL          string    `json:"url"`
	Author       Person    `json:"author"`
	Committer    Person    `json:"committer"`
	Verification any       `json:"verification"`
	Timestamp    time.Time `json:"timestamp"`
	// Added, Removed and Modified are paths of files.
	Added    []string `json:"added"`
	Removed  []string `json:"removed"`
	Modified []string `json:"modified"`
}

// Person is the author or the committer of a Commit.
type Person struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Username string `json:"username"`
}

// Created is the payload of TypeCreate.
type Created struct {
	Sha string `json:"sha"`
	// Ref is the short name; RefType is branch or tag.
	Ref        string `json:"ref"`
	RefType    string `json:"ref_type"`
	Repository any    `json:"repository"`
	Sender     any    `json:"sender"`
}

// Deleted is the payload of TypeDelete.
type Deleted struct {
	// Ref is the short name; RefType is branch or tag.
	Ref        string `json:"ref"`
	RefType    string `json:"ref_type"`
	PusherType string `json:"pusher_type"`
	Repository any    `json:"repository"`
	Sender     any    `json:"sender"`
}

// Repository is the payload of TypeRepository.
type Repository struct {
	// Action is created or deleted.
	Action       string `json:"action"`
	Repository   any    `json:"repository"`
	Organization any    `json:"organization"`
	Sender       any    `json:"sender"`
}

// PullRequest is the payload of TypePullRequest and TypePullRequestSync.
type PullRequest struct {
	// Action is opened, closed, reopened, edited or synchronized.
	Action            string `json:"action"`
	Number            int64  `json:"number"`
	Changes           any    `json:"changes,omitempty"`
	PullRequest       any    `json:"pull_request"`
	RequestedReviewer any    `json:"requested_reviewer"`
	Repository        any    `json:"repository"`
	Sender            any    `json:"sender"`
	CommitID          string `json:"commit_id"`
	Review            any    `json:"review"`
}

// Release is the payload of TypeRelease.
type Release struct {
	// Action is published, updated or deleted.
	Action     string `json:"action"`
	Release    any    `json:"release"`
	Repository any    `json:"repository"`
	Sender     any    `json:"sender"`
}

// Package is the payload of TypePackage.
type Package struct {
	// Action is created or deleted.
	Action       string `json:"action"`
	Repository   any    `json:"repository"`
	Package      any    `json:"package"`
	Organization any    `json:"organization"`
	Sender       any    `json:"sender"`
}
