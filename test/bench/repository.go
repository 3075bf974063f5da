package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/headgate-dev/headgate/internal/kit"
)

// The repository: units of five objects each (three ConfigMaps, a Service, a Deployment without
// replicas), independent or in chains.
const (
	configTemplate = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %[1]s-%[2]d}\ndata: {k: \"%[3]d-%[2]d\"}\n"
	restTemplate   = `apiVersion: v1
kind: Service
metadata: {name: %[1]s}
spec: {selector: {app: %[1]s}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec: {replicas: 0, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: "x:1"}]}}}
`
	unitTemplate = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec:
  interval: 1h
  path: ./apps/%[1]s
  prune: true
  wait: true
  targetNamespace: %[3]s
  sourceRef: {kind: GitRepository, name: flux-system}%[2]s
`
)

// dialect is the one that a run is of.
type dialect string

const (
	ofFlux dialect = "flux"
	ofArgo dialect = "argo"
)

const applicationTemplate = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: %[1]s
  namespace: argocd%[2]s
spec:
  project: default
  source: {repoURL: "%[3]s", targetRevision: main, path: %[4]s}
  destination: {server: "https://kubernetes.default.svc", namespace: %[5]s}
  syncPolicy: {automated: {prune: true, selfHeal: true}}
`

// applications are the root of a run of Applications, and the login to its repository.
func (r *run) applications() []*unstructured.Unstructured {
	login := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata":   map[string]any{"name": "bench", "namespace": "argocd", "labels": map[string]any{"argocd.argoproj.io/secret-type": "repository"}},
		"stringData": map[string]any{"url": r.kit.Git.URL("bench"), "username": kit.User, "password": kit.Token},
	}}
	root := &unstructured.Unstructured{}
	text := fmt.Sprintf(applicationTemplate, "root", "", r.kit.Git.URL("bench"), "argo", "argocd")
	if err := yaml.Unmarshal([]byte(text), &root.Object); err != nil {
		panic(err)
	}
	return []*unstructured.Unstructured{login, root}
}

// namespaceOf is where the objects of a unit are: those of each hundred in a namespace of their own, if they are spread.
func (r *run) namespaceOf(unit int) string {
	if n := unit / unitsEach; r.spread && n > 0 {
		return fmt.Sprintf("bench-%03d", n)
	}
	return "default"
}

// unitsEach is how many units have their objects in one namespace when they are spread.
const unitsEach = 100

// namespaces are those that the units need beside the one that there is, as files of the root.
func (r *run) namespaces() string {
	var text strings.Builder
	for i := unitsEach; i < r.units; i += unitsEach {
		if namespace := r.namespaceOf(i); namespace != "default" {
			fmt.Fprintf(&text, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n---\n", namespace)
		}
	}
	return text.String()
}

// write writes the repository.
func (r *run) write() error {
	var chain []string
	if err := os.MkdirAll(filepath.Join(r.dir, "argo"), 0o755); err != nil {
		return err
	}
	for i := range r.units {
		name := fmt.Sprintf("app-%04d", i)
		dir := filepath.Join(r.dir, "apps", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		parts := []string{}
		for j := range 3 {
			parts = append(parts, fmt.Sprintf(configTemplate, name, j, i))
		}
		parts = append(parts, fmt.Sprintf(restTemplate, name))
		files := map[string]string{
			"app.yaml":           strings.Join(parts, "---\n"),
			"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [app.yaml]\n",
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				return err
			}
		}
		depends := ""
		if i%r.depth > 0 {
			depends = fmt.Sprintf("\n  dependsOn: [{name: app-%04d}]", i-1)
		}
		namespace := r.namespaceOf(i)
		chain = append(chain, fmt.Sprintf(unitTemplate, name, depends, namespace))
		wave := ""
		if r.depth > 1 {
			wave = fmt.Sprintf("\n  annotations: {argocd.argoproj.io/sync-wave: \"%d\"}", i%r.depth)
		}
		text := fmt.Sprintf(applicationTemplate, name, wave, r.kit.Git.URL("bench"), "apps/"+name, namespace)
		if err := os.WriteFile(filepath.Join(r.dir, "argo", name+".yaml"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "flux"), 0o755); err != nil {
		return err
	}
	namespaces := []byte(r.namespaces())
	if err := os.WriteFile(filepath.Join(r.dir, "argo", "namespaces.yaml"), namespaces, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "flux", "ks.yaml"), append(namespaces, strings.Join(chain, "---\n")...), 0o644)
}
