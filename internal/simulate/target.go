package simulate

import (
	"encoding/base64"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Target makes the Secret that the operator of external secrets would write for an ExternalSecret, with values
// that are marked as simulated. There is none for other kinds, for those that write something other than a
// Secret, and where the ExternalSecret says that it writes nothing.
//
// The Secret has the label of stand-ins unless the ExternalSecret merges into a Secret of another owner.
func Target(es *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	if gvk := es.GroupVersionKind(); gvk.Group != "external-secrets.io" || gvk.Kind != "ExternalSecret" {
		return nil, false
	}
	target := nested(es.Object, "spec", "target")
	policy, _ := target["creationPolicy"].(string)
	if manifest := nested(target, "manifest"); policy == "None" || (manifest["kind"] != nil && manifest["kind"] != "Secret") {
		return nil, false
	}
	template := nested(target, "template")
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	secret.SetName(nameOf(es, target))
	secret.SetNamespace(es.GetNamespace())
	describe(secret, es, template, policy)
	if kind, _ := template["type"].(string); kind != "" {
		secret.Object["type"] = kind
	}
	if target["immutable"] == true {
		secret.Object["immutable"] = true
	}
	data := map[string]any{}
	for key, value := range typed(values(es, template), secret.Object["type"]) {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	secret.Object["data"] = data
	return secret, true
}

// nested is a map in a map, which may be empty but is not nil.
func nested(fields map[string]any, steps ...string) map[string]any {
	if found, ok, err := unstructured.NestedFieldNoCopy(fields, steps...); ok && err == nil {
		if m, isMap := found.(map[string]any); isMap {
			return m
		}
	}
	return map[string]any{}
}

func items(fields map[string]any, steps ...string) []map[string]any {
	value, _, err := unstructured.NestedFieldNoCopy(fields, steps...)
	list, ok := value.([]any)
	if err != nil || !ok {
		return nil
	}
	var found []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

func nameOf(es *unstructured.Unstructured, target map[string]any) string {
	if name, _ := target["name"].(string); name != "" {
		return name
	}
	return es.GetName()
}

// describe sets the metadata of a Secret: those of the template, or else those of the ExternalSecret, the label,
// and the owner where the Secret goes with the ExternalSecret.
func describe(secret, es *unstructured.Unstructured, template map[string]any, policy string) {
	labels, annotations := es.GetLabels(), es.GetAnnotations()
	if metadata, ok := template["metadata"].(map[string]any); ok {
		labels, annotations = texts(metadata, "labels"), texts(metadata, "annotations")
	}
	labels, annotations = maps.Clone(labels), maps.Clone(annotations)
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	if policy != "Merge" {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[Label] = "true"
	}
	secret.SetLabels(labels)
	secret.SetAnnotations(annotations)
	if (policy == "" || policy == "Owner") && es.GetUID() != "" {
		_ = unstructured.SetNestedSlice(secret.Object, []any{map[string]any{
			"apiVersion": es.GetAPIVersion(), "kind": es.GetKind(), "name": es.GetName(), "uid": string(es.GetUID()),
			"controller": true, "blockOwnerDeletion": true,
		}}, "metadata", "ownerReferences")
	}
}

// texts are the texts in a map below a field, with their templates filled in.
func texts(fields map[string]any, name string) map[string]string {
	found := map[string]string{}
	for key, value := range nested(fields, name) {
		if text, ok := value.(string); ok {
			found[key] = filled(key, text)
		}
	}
	return found
}

// values are what a Secret holds, by its keys.
func values(es *unstructured.Unstructured, template map[string]any) map[string]string {
	got := fetched(es)
	made := texts(template, "data")
	for _, from := range items(template, "templateFrom") {
		if target, _ := from["target"].(string); target == "" || target == "Data" {
			maps.Copy(made, fromFile(from))
		}
	}
	if len(made) == 0 {
		return got
	}
	if template["mergePolicy"] == "Merge" {
		maps.Copy(got, made)
		return got
	}
	return made
}

// generated are the keys that the generators of external secrets make.
var generated = map[string][]string{
	"ACRAccessToken": {"username", "password"}, "ECRAuthorizationToken": {"username", "password", "proxy_endpoint", "expires_at"},
	"GCRAccessToken": {"username", "password", "expiry"}, "GithubAccessToken": {"token"}, "Password": {"password"},
	"QuayAccessToken": {"registry", "auth"}, "SSHKey": {"privateKey", "publicKey"}, "UUID": {"uuid"},
}

// fetched are the values that come out of the store, or out of generators. Of a whole entry of the store the keys
// are unknown, and one replaces them.
func fetched(es *unstructured.Unstructured) map[string]string {
	got := map[string]string{}
	for _, data := range items(es.Object, "spec", "data") {
		if key, _ := data["secretKey"].(string); key != "" {
			got[key] = Mark(key)
		}
	}
	for _, from := range items(es.Object, "spec", "dataFrom") {
		kind, _ := nested(from, "sourceRef", "generatorRef")["kind"].(string)
		if generated[kind] == nil {
			got[marker] = marker
		}
		for _, key := range generated[kind] {
			got[key] = Mark(key)
		}
	}
	return got
}

// required are the keys that the API server asks of Secrets of a type, with values that it takes.
var required = map[string]map[string]string{
	"kubernetes.io/dockerconfigjson": {".dockerconfigjson": `{"auths":{}}`},
	"kubernetes.io/dockercfg":        {".dockercfg": `{}`},
	"kubernetes.io/ssh-auth":         {"ssh-privatekey": Mark("ssh-privatekey")},
	"kubernetes.io/tls":              {"tls.crt": Mark("tls.crt"), "tls.key": Mark("tls.key")},
	"kubernetes.io/basic-auth":       {"username": Mark("username"), "password": Mark("password")},
}

// typed adds what a type of Secrets requires, and replaces what has to be JSON and is not.
func typed(data map[string]string, kind any) map[string]string {
	name, _ := kind.(string)
	for key, value := range required[name] {
		if has, found := data[key]; !found || (value[0] == '{' && !isJSON(has)) {
			data[key] = value
		}
	}
	return data
}
