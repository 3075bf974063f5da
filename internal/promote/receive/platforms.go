package receive

import (
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/internal/webhook"
)

// Read is what a request of a platform reports. Events that change no repository give none.
func (r Receiver) Read(d webhook.Delivery) (Pushed, error) {
	fields, err := d.Payload()
	if err != nil {
		return Pushed{}, err
	}
	body := object(fields)
	var found Pushed
	switch r.Kind {
	case "github", "gitea":
		found = hub(d.Event, body)
	case "gitlab":
		project := body.at("project")
		found.Git = project.texts("git_http_url", "git_ssh_url", "http_url", "ssh_url", "web_url")
	case "bitbucket":
		found = bitbucket(body)
	case "dockerhub":
		found.Images = body.at("repository").texts("repo_name")
	case "quay":
		found.Images = body.texts("docker_url")
	case "harbor":
		found = harbor(body)
	case "azure":
		found = azure(body)
	case "artifactory":
		found = r.artifactory(body)
	}
	return found, nil
}

// object is one of a payload, whose fields may be anything.
type object map[string]any

// at is an object within another one; it is empty where there is none.
func (o object) at(path ...string) object {
	for _, name := range path {
		inner, _ := o[name].(map[string]any)
		o = inner
	}
	return o
}

func (o object) text(name string) string {
	text, _ := o[name].(string)
	return text
}

// texts are those that some fields have.
func (o object) texts(names ...string) []string {
	var all []string
	for _, name := range names {
		if text := o.text(name); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// hub reads what GitHub, Gitea and Forgejo report. Gitea names the address of a package by that of its page.
func hub(event string, body object) Pushed {
	switch event {
	case "push", "pull_request", "create", "delete", "release":
		return Pushed{Git: body.at("repository").texts("clone_url", "ssh_url", "html_url", "git_url")}
	case "package", "registry_package":
	default:
		return Pushed{}
	}
	of := body.at("package")
	if event == "registry_package" {
		of = body.at("registry_package")
	}
	if address := of.at("package_version").text("package_url"); address != "" {
		return Pushed{Images: []string{strings.TrimSuffix(address, ":")}}
	}
	kind, name, owner := of.text("type"), of.text("name"), of.at("owner").text("login")
	page, err := url.Parse(of.text("html_url"))
	if kind != "container" && kind != "helm" || name == "" || owner == "" || err != nil || page.Host == "" {
		return Pushed{}
	}
	// The page of a package is OWNER/-/packages/TYPE/NAME/VERSION, below what the server has as its root; the registry is at the root of the host.
	return Pushed{Images: []string{page.Host + "/" + strings.ToLower(owner) + "/" + name}}
}

func bitbucket(body object) Pushed {
	page := body.at("repository", "links", "html").text("href")
	if page == "" {
		return Pushed{}
	}
	found := Pushed{Git: []string{page}}
	if address, err := url.Parse(page); err == nil {
		found.Git = append(found.Git, "git@"+address.Host+":"+strings.TrimPrefix(address.Path, "/"))
	}
	return found
}

func harbor(body object) Pushed {
	var found Pushed
	if body.text("type") != "PUSH_ARTIFACT" {
		return found
	}
	resources, _ := body.at("event_data")["resources"].([]any)
	for _, item := range resources {
		one, _ := item.(map[string]any)
		found.Images = append(found.Images, object(one).texts("resource_url")...)
	}
	return found
}

// azure reads what Azure Container Registry and Azure DevOps report.
func azure(body object) Pushed {
	if body.text("eventType") == "git.push" {
		return Pushed{Git: body.at("resource", "repository").texts("remoteUrl")}
	}
	host, repository := body.at("request").text("host"), body.at("target").text("repository")
	if body.text("action") != "push" && body.text("action") != "chart_push" || host == "" || repository == "" {
		return Pushed{}
	}
	return Pushed{Images: []string{host + "/" + repository}}
}

// artifactory reads what is pushed to a local repository, which Warehouses may know by the name of a virtual one.
func (r Receiver) artifactory(body object) Pushed {
	data := body.at("data")
	origin, err := url.Parse(body.text("jpd_origin"))
	if body.text("domain") != "docker" || body.text("event_type") != "pushed" || err != nil || origin.Host == "" {
		return Pushed{}
	}
	of, image := data.text("repo_key"), data.text("image_name")
	if image == "" {
		// The path is IMAGE/TAG/manifest.json.
		image, _, _ = strings.Cut(data.text("path"), "/")
	}
	if of == "" || image == "" {
		return Pushed{}
	}
	found := Pushed{Images: []string{origin.Host + "/" + of + "/" + image}}
	if virtual := r.declared.Artifactory.VirtualRepoName; virtual != "" {
		found.Images = append(found.Images, origin.Host+"/"+virtual+"/"+image)
	}
	return found
}
