package externalsecrets

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// Registry is a login for a registry of images.
type Registry struct {
	// Host of the registry, as ghcr.io.
	Host string
	// Username, or UsernameKey if it is in the store too.
	Username    string
	UsernameKey *Key
	// Password is where the password is.
	Password Key
}

// DockerConfigJSON puts an ExternalSecret below scope whose Secret is a login for pulling images. Keys and Template of the props are
// filled in; what they have is kept.
func DockerConfigJSON(scope chart.Scope, id string, props Props, registry Registry) typed.Object[*v1.ExternalSecret] {
	password := named(registry.Password, "password")
	props.Keys = append(props.Keys, password)
	user, printed := literal(registry.Username), fmt.Sprintf("%q", registry.Username)
	if registry.UsernameKey != nil {
		key := named(*registry.UsernameKey, "username")
		props.Keys = append(props.Keys, key)
		user, printed = "{{ ."+key.Name+" }}", "."+key.Name
	}
	text := fmt.Sprintf(`{"auths":{%s:{"username":"%s","password":"{{ .%s }}","auth":"{{ printf "%%s:%%s" %s .%s | b64enc }}"}}}`,
		quote(registry.Host), user, password.Name, printed, password.Name)
	props.Template = with(props.Template, corev1.SecretTypeDockerConfigJson, map[string]string{".dockerconfigjson": text})
	return ExternalSecret(scope, id, props)
}

// Env puts an ExternalSecret below scope whose Secret has each key under its name, and the texts of a template beside them.
func Env(scope chart.Scope, id string, props Props, template map[string]string) typed.Object[*v1.ExternalSecret] {
	data := map[string]string{}
	for _, key := range props.Keys {
		data[key.Name] = "{{ ." + key.Name + " }}"
	}
	maps.Copy(data, template)
	props.Template = with(props.Template, "", data)
	return ExternalSecret(scope, id, props)
}

// TLS puts an ExternalSecret below scope whose Secret is a certificate with its key.
func TLS(scope chart.Scope, id string, props Props, certificate, key Key) typed.Object[*v1.ExternalSecret] {
	certificate, key = named(certificate, "certificate"), named(key, "key")
	props.Keys = append(props.Keys, certificate, key)
	props.Template = with(props.Template, corev1.SecretTypeTLS, map[string]string{
		"tls.crt": "{{ ." + certificate.Name + " }}", "tls.key": "{{ ." + key.Name + " }}",
	})
	return ExternalSecret(scope, id, props)
}

// with is a template with more data, which what it has itself wins over, and with a type if it has none.
func with(t *v1.Template, kind corev1.SecretType, data map[string]string) *v1.Template {
	made := v1.Template{}
	if t != nil {
		made = *t
	}
	if made.Type == "" {
		made.Type = kind
	}
	maps.Copy(data, made.Data)
	made.Data = data
	return &made
}

func named(key Key, name string) Key {
	if key.Name == "" {
		key.Name = name
	}
	return key
}

// quote is a text as JSON has it, and literal the same without its quotes.
func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return strconv.Quote(text) // a string always has a form in JSON
	}
	return string(data)
}

func literal(text string) string {
	quoted := quote(text)
	return quoted[1 : len(quoted)-1]
}
