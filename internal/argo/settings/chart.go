package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// chart makes objects of the values of the chart argo-cd.
type chart struct {
	objects  Objects
	problems problems
}

// FromChart returns the objects that the chart argo-cd makes of what is below "configs" in its values. The values
// are those merged over the chart's own. The error joins a Problem for each value that is bad.
func FromChart(values map[string]any) (Objects, error) {
	c := &chart{}
	configs := c.fields("configs", values["configs"])
	for _, key := range slices.Sorted(maps.Keys(configs)) {
		c.section(key, configs[key])
	}
	return c.objects, errors.Join(c.problems.all...)
}

func (c *chart) section(key string, value any) {
	path := "configs." + key
	switch key {
	case "cm":
		c.configMap(ConfigName, path, c.fields(path, value))
	case "params":
		c.configMap(ParamsName, path, c.fields(path, value))
	case "rbac":
		c.configMap(RBACName, path, c.fields(path, value))
	case "ssh":
		c.knownHosts(path, c.fields(path, value))
	case "tls":
		c.configMap(CertificatesName, path+".certificates", c.fields(path, c.fields(path, value)["certificates"]))
	case "gpg":
		c.configMap(KeysName, path+".keys", c.fields(path, c.fields(path, value)["keys"]))
	case "repositories":
		c.repositories(path, secretRepository, "argocd-repo-", value)
	case "credentialTemplates":
		c.repositories(path, secretTemplate, "argocd-repo-creds-", value)
	case "clusterCredentials":
		c.clusters(path, value)
	case "repositoriesAnnotations", "credentialTemplatesAnnotations":
		// They are for readers of the Secrets.
	case "cmp":
		c.unserved(path, ConcernEngine)
	case "secret":
		c.webhooks(path, c.fields(path, value))
	case "styles":
		c.unserved(path, ConcernServer)
	default:
		c.problems.add("values", path, "", "is unknown")
	}
}

func (c *chart) unserved(path string, concern Concern) {
	c.objects.Unserved = append(c.objects.Unserved, Unserved{"values", path, concern})
}

// fields are those of a map; nothing is a map without any.
func (c *chart) fields(path string, value any) map[string]any {
	switch fields := value.(type) {
	case nil:
	case map[string]any:
		return fields
	default:
		c.problems.add("values", path, "", "is not a map")
	}
	return nil
}

// configMap leaves out the keys that are about the ConfigMap itself. One that something else creates is not made.
func (c *chart) configMap(name, path string, fields map[string]any) {
	if fields["create"] == false {
		return
	}
	data := c.texts(path, fields, "create", "annotations", "labels")
	c.objects.ConfigMaps = append(c.objects.ConfigMaps, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data})
}

func (c *chart) knownHosts(path string, fields map[string]any) {
	data := c.texts(path, fields, "create", "annotations")
	lines := data["knownHosts"]
	if extra := data["extraHosts"]; extra != "" {
		lines += "\n" + extra
	}
	c.objects.ConfigMaps = append(c.objects.ConfigMaps, corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: KnownHostsName}, Data: map[string]string{"ssh_known_hosts": lines},
	})
}

// texts writes scalars as the chart does, and leaves out what is nothing.
func (c *chart) texts(path string, fields map[string]any, but ...string) map[string]string {
	data := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if fields[key] == nil || slices.Contains(but, key) {
			continue
		}
		text, ok := scalar(fields[key])
		if !ok {
			c.problems.add("values", path+"."+key, "", "is not a string")
			continue
		}
		data[key] = text
	}
	return data
}

func scalar(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case bool, int, int64, json.Number:
		return fmt.Sprint(v), true
	}
	return "", false
}

// webhooks are part of the one Secret that the chart makes of the installation's own.
func (c *chart) webhooks(path string, fields map[string]any) {
	keys := map[string]string{
		"githubSecret": "webhook.github.secret", "gitlabSecret": "webhook.gitlab.secret", "gogsSecret": "webhook.gogs.secret",
		"bitbucketServerSecret": "webhook.bitbucketserver.secret", "bitbucketUUID": "webhook.bitbucket.uuid",
	}
	data := c.texts(path+".extra", c.fields(path+".extra", fields["extra"]))
	azure := c.texts(path+".azureDevops", c.fields(path+".azureDevops", fields["azureDevops"]))
	for field, text := range azure {
		data["webhook.azuredevops."+field] = text
	}
	own := c.texts(path, fields, "extra", "azureDevops", "createSecret", "labels", "annotations")
	for _, field := range slices.Sorted(maps.Keys(own)) {
		if key, ok := keys[field]; ok {
			data[key] = own[field]
		} else if own[field] != "" {
			c.unserved(path+"."+field, ConcernServer)
		}
	}
	maps.DeleteFunc(data, func(_, text string) bool { return text == "" })
	c.secret(SecretName, "", nil, nil, data)
}

func (c *chart) repositories(path, kind, prefix string, value any) {
	all := c.fields(path, value)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.secret(prefix+name, kind, nil, nil, c.texts(path+"."+name, c.fields(path+"."+name, all[name])))
	}
}

// clusters are a map by their names, and were a list once.
func (c *chart) clusters(path string, value any) {
	all := map[string]any{}
	if list, ok := value.([]any); ok {
		for i, item := range list {
			fields := c.fields(path+"."+strconv.Itoa(i), item)
			name, ok := fields["name"].(string)
			if !ok {
				c.problems.add("values", path+"."+strconv.Itoa(i), "", "has no name")
				continue
			}
			all[name] = fields
		}
	} else {
		all = c.fields(path, value)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.cluster(path+"."+name, name, c.fields(path+"."+name, all[name]))
	}
}

func (c *chart) cluster(path, name string, fields map[string]any) {
	labels := c.texts(path+".labels", c.fields(path+".labels", fields["labels"]))
	annotations := c.texts(path+".annotations", c.fields(path+".annotations", fields["annotations"]))
	data := c.texts(path, fields, "labels", "annotations", "config", "name")
	data["name"] = name
	config, err := json.Marshal(c.fields(path+".config", fields["config"]))
	if err != nil {
		c.problems.add("values", path+".config", "", "cannot be written as JSON")
		return
	}
	data["config"] = string(config)
	c.secret("argocd-cluster-"+name, secretCluster, labels, annotations, data)
}

func (c *chart) secret(name, kind string, labels, annotations, data map[string]string) {
	if labels == nil {
		labels = map[string]string{}
	}
	labels[SecretTypeLabel] = kind
	c.objects.Secrets = append(c.objects.Secrets, corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}, StringData: data,
	})
}
