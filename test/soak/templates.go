package main

const (
	configTemplate     = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %[1]s-%[2]d}\ndata: {value: \"%[3]d\"}\n"
	deploymentTemplate = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec: {replicas: 0, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: "x:1"}]}}}
`
	unitTemplate = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 5m
  retryInterval: 10s
  path: ./apps/%[1]s
  prune: true
  wait: true
  targetNamespace: soak-flux
  sourceRef: {kind: GitRepository, name: flux-system}
`
	applicationTemplate = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}
spec:
  project: default
  source: {repoURL: "%[2]s", targetRevision: main, path: %[3]s}
  destination: {server: "https://kubernetes.default.svc", namespace: %[4]s}
  syncPolicy: {automated: {prune: true, selfHeal: true, allowEmpty: true}, retry: {limit: -1, backoff: {duration: 5s, maxDuration: 20s}}}
`
	chartTemplate = `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: small, namespace: soak-helm}
spec:
  url: "oci://%s/soak/small"
  interval: 1m
  insecure: true
  ref: {tag: 1.0.0}
  layerSelector: {mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip, operation: copy}
`
	releaseTemplate = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: soak-helm}
spec:
  interval: 30s
  chartRef: {kind: OCIRepository, name: small}
  install: {remediation: {retries: -1}}
  upgrade: {remediation: {retries: -1}}
  values: {value: "%[2]d"}
`
	loginTemplate = `apiVersion: v1
kind: Secret
metadata: {name: soak, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {url: "%s", username: %s, password: %s}
`
	settingsTemplate = `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
data: {timeout.reconciliation: 10s}
`
)

// chart is one of a ConfigMap and a Deployment without replicas.
func chart() map[string][]byte {
	return map[string][]byte{
		"small/Chart.yaml":  []byte("apiVersion: v2\nname: small\nversion: 1.0.0\n"),
		"small/values.yaml": []byte("value: none\n"),
		"small/templates/all.yaml": []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}-0"}
data: {value: "{{ .Values.value }}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  replicas: 0
  selector: {matchLabels: {app: "{{ .Release.Name }}"}}
  template:
    metadata: {labels: {app: "{{ .Release.Name }}"}}
    spec: {containers: [{name: web, image: web}]}
`),
	}
}
