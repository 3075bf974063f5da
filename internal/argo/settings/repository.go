package settings

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// SecretTypeLabel says what a Secret is.
const SecretTypeLabel = "argocd.argoproj.io/secret-type"

// The types of Secrets.
const (
	secretRepository      = "repository"
	secretTemplate        = "repo-creds"
	secretRepositoryWrite = "repository-write"
	secretTemplateWrite   = "repo-write-creds"
	secretForge           = "scm-creds"
	secretCluster         = "cluster"
)

// Credentials are the repositories that are known, and logins for those below an address.
type Credentials struct {
	Repositories, Templates []Repository
	// Writing is for pushes to repositories.
	WritingRepositories, WritingTemplates []Repository
	// Forges are the names of the Secrets that generators may use where that is strict.
	Forges []string
}

// Repository is what is known of a repository, or of all below an address.
type Repository struct {
	// Secret is its name. It is empty for a repository that was not declared.
	Secret string
	// Template is the name of the Secret that the login came from, when that is another one.
	Template string
	URL      string
	// Type is git, helm or oci; empty means git.
	Type    string
	Name    string
	Project string
	Login   Login
	// Insecure verifies neither certificates nor the keys of hosts.
	Insecure bool
	LFS      bool
	// OCI is for charts in registries, PlainHTTP for registries without TLS.
	OCI, PlainHTTP bool
	Proxy          Secret
	NoProxy        string
	// Depth is how many commits are fetched; zero means all.
	Depth int64
}

// Login is how to log in.
type Login struct {
	// Username is hidden as well: some forges take a token there.
	Username, Password, BearerToken Secret
	SSHPrivateKey                   Secret
	ClientCertificate, ClientKey    Secret
	GitHubApp                       GitHubApp
	GCPServiceAccountKey            Secret
	Azure                           Azure
	// ForceBasic sends the password at once.
	ForceBasic bool
}

// GitHubApp is a login as an app of GitHub.
type GitHubApp struct {
	ID, InstallationID int64
	PrivateKey         Secret
	EnterpriseBaseURL  string
}

// Azure is a login at Azure DevOps.
type Azure struct {
	WorkloadIdentity             bool
	ClientID, TenantID, Endpoint string
	ClientSecret                 Secret
}

// isSet is true if a repository needs no template; the upstream reads the same fields.
func (l Login) isSet() bool {
	set := func(s Secret) bool { return s.IsSet() }
	return slices.ContainsFunc([]Secret{
		l.Username, l.Password, l.BearerToken, l.SSHPrivateKey, l.ClientCertificate, l.GitHubApp.PrivateKey, l.Azure.ClientSecret,
	}, set) || l.Azure.WorkloadIdentity
}

// For returns what is known of the repository with an address, for an AppProject: the one of the project, else one
// of no project, else nothing but the address. One without a login gets that of the template with the longest
// address that its own begins with.
func (c Credentials) For(address, project string) Repository {
	return pick(c.Repositories, c.Templates, address, project)
}

// ForWriting is the same for pushes.
func (c Credentials) ForWriting(address, project string) Repository {
	return pick(c.WritingRepositories, c.WritingTemplates, address, project)
}

func pick(repositories, templates []Repository, address, project string) Repository {
	found := Repository{URL: address}
	for _, r := range repositories {
		if !SameURL(r.URL, address) {
			continue
		}
		if r.Project == project {
			found = r
			break
		}
		if r.Project == "" && found.Secret == "" {
			found = r
		}
	}
	if found.Login.isSet() {
		return found
	}
	if template, ok := longest(templates, address); ok {
		found.inherit(template)
	}
	return found
}

func longest(templates []Repository, address string) (Repository, bool) {
	var best Repository
	length, normal := 0, NormalURL(address)
	for _, t := range templates {
		if prefix := NormalURL(t.URL); len(prefix) > length && begins(normal, prefix) {
			best, length = t, len(prefix)
		}
	}
	return best, length > 0
}

// port is what may follow the name of a host.
var port = regexp.MustCompile(`^(:[0-9]*)?(/|$)`)

// begins reports whether an address begins with that of a template, on the same host: https://git.example is not the beginning of
// https://git.example.org/x nor of https://git.example@elsewhere/x, whose owners would get its login.
func begins(address, prefix string) bool {
	rest, is := strings.CutPrefix(address, prefix)
	if !is {
		return false
	}
	_, server, found := strings.Cut(prefix, "://")
	if !found {
		server = prefix
	}
	return strings.Contains(server, "/") || port.MatchString(rest)
}

// inherit takes what a template says; a repository that needs one has no login of its own.
func (r *Repository) inherit(t Repository) {
	key, enterprise := r.Login.ClientKey, r.Login.GitHubApp.EnterpriseBaseURL
	r.Template, r.Login = t.Secret, t.Login
	if !r.Login.ClientKey.IsSet() {
		r.Login.ClientKey = key
	}
	if r.Login.GitHubApp.EnterpriseBaseURL == "" {
		r.Login.GitHubApp.EnterpriseBaseURL = enterprise
	}
	if !r.Proxy.IsSet() {
		r.Proxy = t.Proxy
	}
	if r.NoProxy == "" {
		r.NoProxy = t.NoProxy
	}
	if r.Type == "" {
		r.Type = t.Type
	}
	r.OCI, r.PlainHTTP = t.OCI, t.PlainHTTP
}

// secret reads a Secret by the type that its label says, or by its name.
func (s *Settings) secret(secret *corev1.Secret, p *problems) {
	data := map[string]string{}
	for key, value := range secret.Data {
		data[key] = string(value)
	}
	for key, value := range secret.StringData {
		data[key] = value
	}
	r := newReader(s, "Secret "+secret.Name, data, p)
	r.secret = true
	if secret.Name == SecretName {
		r.webhooks()
		r.unserved(ConcernServer)
		return
	}
	c := &s.Credentials
	switch secret.Labels[SecretTypeLabel] {
	case secretRepository:
		r.repository(secret.Name, &c.Repositories)
	case secretTemplate:
		r.repository(secret.Name, &c.Templates)
	case secretRepositoryWrite:
		r.repository(secret.Name, &c.WritingRepositories)
	case secretTemplateWrite:
		r.repository(secret.Name, &c.WritingTemplates)
	case secretForge:
		c.Forges = append(c.Forges, secret.Name)
	case secretCluster:
		r.cluster(secret)
	}
}

func (r *reader) repository(name string, into *[]Repository) {
	repository := Repository{Secret: name}
	r.text("url", &repository.URL)
	if repository.URL == "" {
		r.bad("url", "is missing")
		return
	}
	r.choice("type", &repository.Type, "git", "helm", "oci")
	r.text("name", &repository.Name)
	r.text("project", &repository.Project)
	var blind bool
	r.flag("insecure", &repository.Insecure)
	r.flag("insecureIgnoreHostKey", &blind)
	repository.Insecure = repository.Insecure || blind
	r.flag("enableLfs", &repository.LFS)
	r.flag("enableOCI", &repository.OCI)
	r.flag("insecureOCIForceHttp", &repository.PlainHTTP)
	r.hide("proxy", &repository.Proxy)
	r.text("noProxy", &repository.NoProxy)
	r.number("depth", &repository.Depth)
	r.login(&repository.Login)
	r.classify([]known{{"webhookManifestCacheWarmDisabled", ConcernProcess}})
	r.unknown()
	*into = append(*into, repository)
}

func (r *reader) login(l *Login) {
	r.hide("username", &l.Username)
	r.hide("password", &l.Password)
	r.hide("bearerToken", &l.BearerToken)
	r.hide("sshPrivateKey", &l.SSHPrivateKey)
	r.hide("tlsClientCertData", &l.ClientCertificate)
	r.hide("tlsClientCertKey", &l.ClientKey)
	r.hide("githubAppPrivateKey", &l.GitHubApp.PrivateKey)
	r.number("githubAppID", &l.GitHubApp.ID)
	r.number("githubAppInstallationID", &l.GitHubApp.InstallationID)
	r.text("githubAppEnterpriseBaseUrl", &l.GitHubApp.EnterpriseBaseURL)
	r.hide("gcpServiceAccountKey", &l.GCPServiceAccountKey)
	r.flag("forceHttpBasicAuth", &l.ForceBasic)
	r.flag("useAzureWorkloadIdentity", &l.Azure.WorkloadIdentity)
	// The upstream reads other names in templates than in repositories.
	for _, id := range []string{"Id", "ID"} {
		r.text("azureServicePrincipalClient"+id, &l.Azure.ClientID)
		r.text("azureServicePrincipalTenant"+id, &l.Azure.TenantID)
	}
	r.hide("azureServicePrincipalClientSecret", &l.Azure.ClientSecret)
	r.text("azureActiveDirectoryEndpoint", &l.Azure.Endpoint)
}

// hide takes a value as it is: the end of a private key is a line of its own.
func (r *reader) hide(key string, into *Secret) {
	delete(r.left, key)
	*into = NewSecret(r.data[key])
}

// duplicates are repositories that two Secrets declare: the first one by its name is used.
func (c Credentials) duplicates(p *problems) {
	for _, list := range [][]Repository{c.Repositories, c.Templates, c.WritingRepositories, c.WritingTemplates} {
		for i, r := range list {
			same := func(other Repository) bool { return other.Project == r.Project && SameURL(other.URL, r.URL) }
			if first := slices.IndexFunc(list[:i], same); first >= 0 {
				p.add("Secret "+r.Secret, "url", "", "is also used by Secret "+list[first].Secret+", which takes precedence")
			}
		}
	}
}
