package simulate_test

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/internal/simulate"
)

func TestMark(t *testing.T) {
	for key, want := range map[string]string{
		"password": "simulated-password", "DB_URL": "simulated-db-url", "a b/c:'$(x)'": "simulated-a-b-c----x", "": "simulated",
		".dockerconfigjson": "simulated-dockerconfigjson", "ключ": "simulated",
		"SECRET_LB_IP": "198.18.201.205", "nodeIP": "198.18.112.129", "CLUSTER_CIDR": "198.18.147.0/24", "pod-subnet": "198.18.57.0/24", "VIP": "198.18.108.37",
		"SMTP_PORT": "31237", "httpPort": "30086", "DATA_SIZE": "1Gi", "volumeSize": "1Gi", "cpu": "1",
		"SUPPORT_EMAIL": "simulated-support-email", "EXPORT": "simulated-export", "ship": "simulated-ship", "PORTAL": "simulated-portal",
		"EMAIL_ADDRESS": "simulated-email-address", "recipients": "simulated-recipients",
	} {
		if got := simulate.Mark(key); got != want {
			t.Errorf("%q is %q, want %q", key, got, want)
		}
	}
}

func TestTarget(t *testing.T) {
	const head = "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: app, namespace: ns}, spec: "
	cases := map[string]struct {
		reason, spec string
		name, kind   string
		want         map[string]string
	}{
		"data":             {"keys of their own", "{data: [{secretKey: user}, {secretKey: pass}]}}", "app", "", map[string]string{"user": "simulated-user", "pass": "simulated-pass"}},
		"name":             {"the target has a name", "{target: {name: other}, data: [{secretKey: user}]}}", "other", "", map[string]string{"user": "simulated-user"}},
		"whole entry":      {"nothing is known of its keys", "{dataFrom: [{extract: {key: entry}}]}}", "app", "", map[string]string{"simulated": "simulated"}},
		"generator":        {"its keys are known", "{dataFrom: [{sourceRef: {generatorRef: {kind: Password, name: p}}}]}}", "app", "", map[string]string{"password": "simulated-password"}},
		"template":         {"the text around values is kept", "{target: {template: {data: {url: 'postgres://{{ .user }}:{{ .pass }}@db:5432/app?x=1', plain: text}}}, dataFrom: [{extract: {key: entry}}]}}", "app", "", map[string]string{"url": "postgres://simulated-user:simulated-pass@db:5432/app?x=1", "plain": "text"}},
		"template merges":  {"the values stay beside it", "{target: {template: {mergePolicy: Merge, data: {a: '{{ .x }}'}}}, data: [{secretKey: b}]}}", "app", "", map[string]string{"a": "simulated-x", "b": "simulated-b"}},
		"type only":        {"a template without data changes the type only", "{target: {template: {type: Opaque}}, data: [{secretKey: b}]}}", "app", "Opaque", map[string]string{"b": "simulated-b"}},
		"pipes":            {"functions give values a form", `{target: {template: {data: {a: '{"k": {{ .x | toJson }}}', b: '{{ .x | b64enc }}', c: '{{ index . "my-key" }}', d: '{{ printf "%s" .y }}'}}}}}`, "app", "", map[string]string{"a": `{"k": "simulated-x"}`, "b": base64.StdEncoding.EncodeToString([]byte("simulated-x")), "c": "simulated-my-key", "d": "simulated-y"}},
		"control":          {"one branch, one round", `{target: {template: {data: {a: '{{ if .x }}yes{{ else }}no{{ end }}', b: '{{ range $i, $e := .list }}[{{ $e }}]{{ end }}', c: '{{- $v := .z -}} {{ $v }}', d: '{{/* nothing */}}x'}}}}}`, "app", "", map[string]string{"a": "yes", "b": "[simulated-e]", "c": "simulated-v", "d": "x"}},
		"not a template":   {"a mark stands for the text", `{target: {template: {data: {a: '{{ if'}}}}}`, "app", "", map[string]string{"a": "simulated-a"}},
		"from files":       {"keys of files", `{target: {template: {templateFrom: [{literal: "k: 'v-{{ .x }}'\nnum: 3"}, {configMap: {name: c, items: [{key: conf.ini}]}}, {target: Annotations, literal: 'no: x'}]}}}}`, "app", "", map[string]string{"k": "v-simulated-x", "num": "simulated-num", "conf.ini": "simulated-conf.ini"}},
		"registry":         {"what has to be JSON is", "{target: {template: {type: kubernetes.io/dockerconfigjson}}, data: [{secretKey: .dockerconfigjson}]}}", "app", "kubernetes.io/dockerconfigjson", map[string]string{".dockerconfigjson": `{"auths":{}}`}},
		"registry, shaped": {"what is JSON stays", `{target: {template: {type: kubernetes.io/dockerconfigjson, data: {.dockerconfigjson: '{"auths":{"r.io":{"password":"{{ .p }}"}}}'}}}}}`, "app", "kubernetes.io/dockerconfigjson", map[string]string{".dockerconfigjson": `{"auths":{"r.io":{"password":"simulated-p"}}}`}},
		"tls":              {"what the type requires is there", "{target: {template: {type: kubernetes.io/tls}}, data: [{secretKey: tls.crt}]}}", "app", "kubernetes.io/tls", map[string]string{"tls.crt": "simulated-tls.crt", "tls.key": "simulated-tls.key"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			secret, ok := simulate.Target(object(t, head+c.spec))
			if !ok {
				t.Fatal("there is no Secret")
			}
			got := map[string]string{}
			data, _ := secret.Object["data"].(map[string]any)
			for key, value := range data {
				text, _ := value.(string)
				decoded, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				got[key] = string(decoded)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", c.reason, diff)
			}
			kind, _ := secret.Object["type"].(string)
			if secret.GetKind() != "Secret" || secret.GetName() != c.name || secret.GetNamespace() != "ns" || kind != c.kind {
				t.Errorf("%s: %s %s/%s of type %q", c.reason, secret.GetKind(), secret.GetNamespace(), secret.GetName(), kind)
			}
			if secret.GetLabels()[simulate.Label] != "true" {
				t.Errorf("labels %v", secret.GetLabels())
			}
		})
	}
}

func TestTargetByPolicy(t *testing.T) {
	for policy, want := range map[string]struct{ made, owned, labelled bool }{
		"": {true, true, true}, "Owner": {true, true, true}, "Orphan": {true, false, true}, "Merge": {true, false, false}, "None": {},
	} {
		es := object(t, "{apiVersion: external-secrets.io/v1beta1, kind: ExternalSecret, metadata: {name: a, labels: {app: x}}, spec: {data: [{secretKey: k}], target: {creationPolicy: '"+policy+"'}}}")
		es.SetUID(types.UID("1"))
		secret, ok := simulate.Target(es)
		if ok != want.made {
			t.Errorf("%q: it is made: %v", policy, ok)
		}
		if !ok {
			continue
		}
		if owned := len(secret.GetOwnerReferences()) == 1; owned != want.owned {
			t.Errorf("%q: owners %v", policy, secret.GetOwnerReferences())
		}
		if labelled := secret.GetLabels()[simulate.Label] != ""; labelled != want.labelled || secret.GetLabels()["app"] != "x" {
			t.Errorf("%q: labels %v", policy, secret.GetLabels())
		}
	}
}

func TestTargetOfOthers(t *testing.T) {
	for _, text := range []string{
		"{apiVersion: external-secrets.io/v1, kind: ClusterExternalSecret, metadata: {name: a}}",
		"{apiVersion: external-secrets.io/v1alpha1, kind: PushSecret, metadata: {name: a}}",
		"{apiVersion: kubernetes-client.io/v1, kind: ExternalSecret, metadata: {name: a}}",
		"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a}, spec: {target: {manifest: {apiVersion: v1, kind: ConfigMap}}}}",
	} {
		if secret, ok := simulate.Target(object(t, text)); ok || secret != nil {
			t.Errorf("%s makes %v", text, secret)
		}
	}
	metadata := object(t, "{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a, labels: {app: x}}, spec: {target: {template: {metadata: {labels: {own: 'l-{{ .v }}'}, annotations: {note: n}}}}}}")
	secret, _ := simulate.Target(metadata)
	if diff := cmp.Diff(map[string]string{"own": "l-simulated-v", simulate.Label: "true"}, secret.GetLabels()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNamespacesLacking(t *testing.T) {
	const text = `ConfigMap/a/x: namespace "a" does not exist; creating: namespaces "b" not found; namespaces "a" not found; namespace "c" is terminating`
	if diff := cmp.Diff([]string{"a", "b"}, simulate.NamespacesLacking(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVolume(t *testing.T) {
	claim := object(t, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: ns}, spec: {volumeName: pv, storageClassName: fast, "+
		"accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}")
	want := object(t, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv, labels: {headgate.dev/simulated: object}}, spec: {capacity: {storage: 1Gi}, "+
		"accessModes: [ReadWriteOnce], storageClassName: fast, persistentVolumeReclaimPolicy: Retain, hostPath: {path: /simulated/pv}, "+
		"claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: ns, name: data}}}")
	if diff := cmp.Diff(want, simulate.Volume(claim)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
