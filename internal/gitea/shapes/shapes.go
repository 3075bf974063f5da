// Package shapes has the JSON of Gitea's API: the fields that its clients read, under its names. It is data alone, and refuses
// to know where the values come from.
package shapes

import "time"

// User is a user or an organisation.
type User struct {
	ID          int64     `json:"id"`
	Login       string    `json:"login"`
	LoginName   string    `json:"login_name"`
	SourceID    int64     `json:"source_id"`
	FullName    string    `json:"full_name"`
	Email       string    `json:"email"`
	AvatarURL   string    `json:"avatar_url"`
	HTMLURL     string    `json:"html_url"`
	Language    string    `json:"language"`
	IsAdmin     bool      `json:"is_admin"`
	LastLogin   time.Time `json:"last_login"`
	Created     time.Time `json:"created"`
	Restricted  bool      `json:"restricted"`
	Active      bool      `json:"active"`
	Prohibited  bool      `json:"prohibit_login"`
	Location    string    `json:"location"`
	Website     string    `json:"website"`
	Description string    `json:"description"`
	Visibility  string    `json:"visibility"`
	Followers   int       `json:"followers_count"`
	Following   int       `json:"following_count"`
	Starred     int       `json:"starred_repos_count"`
	Username    string    `json:"username"`
}

// Organization is an organisation where the API asks for one.
type Organization struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	FullName    string `json:"full_name"`
	Email       string `json:"email"`
	AvatarURL   string `json:"avatar_url"`
	Description string `json:"description"`
	Website     string `json:"website"`
	Location    string `json:"location"`
	Visibility  string `json:"visibility"`
	AdminAccess bool   `json:"repo_admin_change_team_access"`
	Username    string `json:"username"`
}

// Team is a group of members of an organisation.
type Team struct {
	ID               int64             `json:"id"`
	Name             string            `json:"name"`
	Description      string            `json:"description"`
	Organization     *Organization     `json:"organization"`
	AllRepositories  bool              `json:"includes_all_repositories"`
	Permission       string            `json:"permission"`
	Units            []string          `json:"units"`
	UnitsMap         map[string]string `json:"units_map"`
	CanCreateOrgRepo bool              `json:"can_create_org_repo"`
}

// Token is an access token. Sha1 is the token itself, when it is created.
type Token struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Sha1    string    `json:"sha1"`
	Last    string    `json:"token_last_eight"`
	Scopes  []string  `json:"scopes"`
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"last_used_at"`
}

// Permission is what the user of a request has access to.
type Permission struct {
	Admin bool `json:"admin"`
	Push  bool `json:"push"`
	Pull  bool `json:"pull"`
}

// Repository is a repository. Size is in KiB.
type Repository struct {
	ID             int64      `json:"id"`
	Owner          User       `json:"owner"`
	Name           string     `json:"name"`
	FullName       string     `json:"full_name"`
	Description    string     `json:"description"`
	Empty          bool       `json:"empty"`
	Private        bool       `json:"private"`
	Fork           bool       `json:"fork"`
	Template       bool       `json:"template"`
	Mirror         bool       `json:"mirror"`
	Size           int64      `json:"size"`
	Language       string     `json:"language"`
	HTMLURL        string     `json:"html_url"`
	URL            string     `json:"url"`
	Link           string     `json:"link"`
	SSHURL         string     `json:"ssh_url"`
	CloneURL       string     `json:"clone_url"`
	OriginalURL    string     `json:"original_url"`
	Website        string     `json:"website"`
	Stars          int        `json:"stars_count"`
	Forks          int        `json:"forks_count"`
	Watchers       int        `json:"watchers_count"`
	OpenIssues     int        `json:"open_issues_count"`
	OpenPulls      int        `json:"open_pr_counter"`
	Releases       int        `json:"release_counter"`
	DefaultBranch  string     `json:"default_branch"`
	Archived       bool       `json:"archived"`
	Created        time.Time  `json:"created_at"`
	Updated        time.Time  `json:"updated_at"`
	Permissions    Permission `json:"permissions"`
	HasIssues      bool       `json:"has_issues"`
	HasCode        bool       `json:"has_code"`
	HasWiki        bool       `json:"has_wiki"`
	HasPulls       bool       `json:"has_pull_requests"`
	HasProjects    bool       `json:"has_projects"`
	HasReleases    bool       `json:"has_releases"`
	HasPackages    bool       `json:"has_packages"`
	HasActions     bool       `json:"has_actions"`
	AllowMerge     bool       `json:"allow_merge_commits"`
	AllowSquash    bool       `json:"allow_squash_merge"`
	AllowFast      bool       `json:"allow_fast_forward_only_merge"`
	MergeStyle     string     `json:"default_merge_style"`
	AvatarURL      string     `json:"avatar_url"`
	Internal       bool       `json:"internal"`
	MirrorInterval string     `json:"mirror_interval"`
	ObjectFormat   string     `json:"object_format_name"`
	Topics         []string   `json:"topics"`
	Licenses       []string   `json:"licenses"`
}

// Search is the answer of a search.
type Search struct {
	OK   bool `json:"ok"`
	Data any  `json:"data"`
}

// Person is the author or committer of a commit.
type Person struct {
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	Username string    `json:"username,omitempty"`
	Date     time.Time `json:"date"`
}

// Meta names an object of a repository.
type Meta struct {
	URL string `json:"url"`
	Sha string `json:"sha"`
}

// BranchCommit is the commit of a Branch.
type BranchCommit struct {
	ID        string    `json:"id"`
	Message   string    `json:"message"`
	URL       string    `json:"url"`
	Author    Person    `json:"author"`
	Committer Person    `json:"committer"`
	Timestamp time.Time `json:"timestamp"`
}

// Branch is a branch.
type Branch struct {
	Name      string       `json:"name"`
	Commit    BranchCommit `json:"commit"`
	Protected bool         `json:"protected"`
	CanPush   bool         `json:"user_can_push"`
	CanMerge  bool         `json:"user_can_merge"`
}

// RepositoryCommit is a commit among those of a repository.
type RepositoryCommit struct {
	URL       string     `json:"url"`
	Sha       string     `json:"sha"`
	Created   time.Time  `json:"created"`
	HTMLURL   string     `json:"html_url"`
	Commit    CommitText `json:"commit"`
	Author    *User      `json:"author"`
	Committer *User      `json:"committer"`
	Parents   []Meta     `json:"parents"`
}

// CommitText is what a commit itself says.
type CommitText struct {
	URL       string `json:"url"`
	Author    Person `json:"author"`
	Committer Person `json:"committer"`
	Message   string `json:"message"`
	Tree      Meta   `json:"tree"`
}

// Contents is a file or an entry of a folder. Content and Encoding are those of a single file.
type Contents struct {
	Name        string  `json:"name"`
	Path        string  `json:"path"`
	Sha         string  `json:"sha"`
	LastCommit  string  `json:"last_commit_sha"`
	Type        string  `json:"type"`
	Size        int64   `json:"size"`
	Encoding    *string `json:"encoding"`
	Content     *string `json:"content"`
	Target      *string `json:"target"`
	URL         string  `json:"url"`
	HTMLURL     string  `json:"html_url"`
	GitURL      string  `json:"git_url"`
	DownloadURL *string `json:"download_url"`
	Submodule   *string `json:"submodule_git_url"`
	Links       Links   `json:"_links"`
}

// Links are addresses of Contents.
type Links struct {
	Self string `json:"self"`
	Git  string `json:"git"`
	HTML string `json:"html"`
}

// FileCommit is the commit that a write made.
type FileCommit struct {
	URL       string    `json:"url"`
	Sha       string    `json:"sha"`
	Created   time.Time `json:"created"`
	HTMLURL   string    `json:"html_url"`
	Author    Person    `json:"author"`
	Committer Person    `json:"committer"`
	Parents   []Meta    `json:"parents"`
	Message   string    `json:"message"`
	Tree      Meta      `json:"tree"`
}

// FileAnswer answers a write. Content is nil for a file that was deleted.
type FileAnswer struct {
	Content      *Contents     `json:"content"`
	Commit       FileCommit    `json:"commit"`
	Verification *Verification `json:"verification"`
}

// Verification says that commits are not signed.
type Verification struct {
	Verified  bool   `json:"verified"`
	Reason    string `json:"reason"`
	Signature string `json:"signature"`
	Payload   string `json:"payload"`
}

// PullBranch is a side of a pull request.
type PullBranch struct {
	Label  string      `json:"label"`
	Ref    string      `json:"ref"`
	Sha    string      `json:"sha"`
	RepoID int64       `json:"repo_id"`
	Repo   *Repository `json:"repo"`
}

// Pull is a pull request.
type Pull struct {
	ID        int64      `json:"id"`
	URL       string     `json:"url"`
	Number    int64      `json:"number"`
	User      User       `json:"user"`
	Title     string     `json:"title"`
	Body      string     `json:"body"`
	Labels    []string   `json:"labels"`
	Assignees []User     `json:"assignees"`
	State     string     `json:"state"`
	Draft     bool       `json:"draft"`
	Locked    bool       `json:"is_locked"`
	Comments  int        `json:"comments"`
	HTMLURL   string     `json:"html_url"`
	DiffURL   string     `json:"diff_url"`
	PatchURL  string     `json:"patch_url"`
	Mergeable bool       `json:"mergeable"`
	Merged    bool       `json:"merged"`
	MergedAt  *time.Time `json:"merged_at"`
	MergeID   *string    `json:"merge_commit_sha"`
	MergedBy  *User      `json:"merged_by"`
	Base      PullBranch `json:"base"`
	Head      PullBranch `json:"head"`
	MergeBase string     `json:"merge_base"`
	Due       *time.Time `json:"due_date"`
	Created   time.Time  `json:"created_at"`
	Updated   time.Time  `json:"updated_at"`
	Closed    *time.Time `json:"closed_at"`
}

// Hook is a webhook. Config has no secret, as in Gitea.
type Hook struct {
	ID            int64             `json:"id"`
	Type          string            `json:"type"`
	BranchFilter  string            `json:"branch_filter"`
	Config        map[string]string `json:"config"`
	Events        []string          `json:"events"`
	Authorization string            `json:"authorization_header"`
	Active        bool              `json:"active"`
	Updated       time.Time         `json:"updated_at"`
	Created       time.Time         `json:"created_at"`
}

// Problem is the answer to a request that failed.
type Problem struct {
	Message string   `json:"message"`
	URL     string   `json:"url"`
	Errors  []string `json:"errors,omitempty"`
}
