package scenario

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// estateURL is the repository that the Applications of an estate name. Nothing answers there.
const estateURL = "https://git.invalid/estate.git"

// estate is a repository in the shape of a large home lab: a root Application, explicit Applications in waves, and
// ApplicationSets over directories, over three projects. Its charts are on hosts that do not exist, and nothing brings the
// definitions of its kinds.
type estate struct {
	files map[string]string
	// waves are those of the Applications, by name. That of a generated one is that of its set.
	waves map[string]int
	// hooked are the Jobs that are hooks, by Application.
	hooked map[string][]string
	// encrypted is a file that is encrypted with an unknown key.
	encrypted string
}

// explicitApps are the explicit Applications, by their waves; the root is not among them.
var explicitApps = map[int][]string{
	0: {"argocd", "network", "vault-connect", "external-secrets"},
	1: {"cert-manager", "longhorn", "snapshot-controller"},
	2: {"backup-operator"},
	3: {"backup-config"},
	4: {"keda", "autoscaler", "autoscaler-recommendations", "workers", "kafka-operator"},
	5: {"telemetry-operator"},
	6: {"keda-observability", "telemetry-observability", "autoscaler-observability"},
}

// generatedDirs are the directories of the ApplicationSets, with the waves of these.
var generatedDirs = []struct {
	set, project, glob string
	wave, groups, each int
}{
	{set: "infrastructure", project: "infrastructure", glob: "infrastructure/generated/*", wave: 4, groups: 1, each: 14},
	{set: "database", project: "infrastructure", glob: "infrastructure/database/*/*", wave: 4, groups: 2, each: 1},
	{set: "monitoring", project: "monitoring", glob: "monitoring/*", wave: 5, groups: 1, each: 9},
	{set: "my-apps", project: "my-apps", glob: "my-apps/*/*", wave: 6, groups: 8, each: 7},
}

// newEstate makes the files of a repository with 100 Applications.
func newEstate() *estate {
	f := &estate{files: map[string]string{}, waves: map[string]int{}, hooked: map[string][]string{}}
	f.root()
	for _, wave := range slices.Sorted(maps.Keys(explicitApps)) {
		for _, name := range explicitApps[wave] {
			f.explicit(name, wave)
		}
	}
	for _, g := range generatedDirs {
		f.generated(g.set, g.project, g.glob, g.wave, g.groups, g.each)
	}
	f.files["my-apps/common/backup/kustomization.yaml"] = `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
labels: [{pairs: {backup: nightly}}]
resources: [schedule.yaml]
`
	f.files["my-apps/common/backup/schedule.yaml"] = object("backup.example/v1", "SnapshotSchedule", "nightly", "", `spec: {cron: "0 3 * * *"}`)
	return f
}

// write writes the files below a directory, as a working copy.
func (f *estate) write(t *testing.T, dir string) {
	t.Helper()
	for name, text := range f.files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	writeEncrypted(t, filepath.Join(dir, filepath.FromSlash(f.encrypted)))
	writeFile(t, filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	writeFile(t, filepath.Join(dir, ".git", "config"), "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = "+estateURL+"\n")
	for _, empty := range []string{"objects", "refs/heads"} {
		writeFile(t, filepath.Join(dir, ".git", empty, ".keep"), "")
	}
}

// object is a document of YAML; annotations are those of Argo CD, as "key=value" without their common prefix.
func object(version, kind, name, annotations, rest string) string {
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", version, kind, name)
	if annotations != "" {
		text += "  annotations:\n"
		for _, pair := range strings.Split(annotations, ";") {
			key, value, _ := strings.Cut(pair, "=")
			text += fmt.Sprintf("    argocd.argoproj.io/%s: %q\n", key, value)
		}
	}
	return text + rest + "\n---\n"
}

func kustomization(lines ...string) string {
	return "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n" + strings.Join(lines, "\n") + "\n"
}

const estatePolicy = `  syncPolicy:
    automated: {enabled: true, prune: true, selfHeal: true}
    syncOptions: [CreateNamespace=true, ServerSideApply=true, RespectIgnoreDifferences=true, SkipDryRunOnMissingResource=true, Replace=false]
    retry: {limit: 10, backoff: {duration: 5s, factor: 2, maxDuration: 3m}}
`

// root adds the root Application, the projects and the settings.
func (f *estate) root() {
	f.files["infrastructure/controllers/argocd/root.yaml"] = object("argoproj.io/v1alpha1", "Application", "root",
		"compare-options=ServerSideDiff=false;manifest-generate-paths=.", `  namespace: argocd
spec:
  project: default
  source: {repoURL: `+estateURL+`, targetRevision: HEAD, path: infrastructure/controllers/argocd/apps}
  destination: {server: https://kubernetes.default.svc, namespace: argocd}
  ignoreDifferences:
    - {group: argoproj.io, kind: Application, jsonPointers: [/status, /operation]}
    - {group: argoproj.io, kind: ApplicationSet, jsonPointers: [/status]}
`+estatePolicy)
	for _, name := range []string{"infrastructure", "monitoring", "my-apps"} {
		f.files["infrastructure/controllers/argocd/apps/project-"+name+".yaml"] = object("argoproj.io/v1alpha1", "AppProject", name, "sync-wave=0", `  namespace: argocd
spec:
  sourceRepos: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
  namespaceResourceWhitelist: [{group: "*", kind: "*"}]`)
	}
}

// explicit adds one of the explicit Applications: a chart from a host that does not exist, and objects of
// kinds that nothing defines.
func (f *estate) explicit(name string, wave int) {
	f.waves[name] = wave
	dir := "infrastructure/controllers/" + name
	f.files["infrastructure/controllers/argocd/apps/"+name+".yaml"] = object("argoproj.io/v1alpha1", "Application", name,
		fmt.Sprintf("sync-wave=%d;compare-options=ServerSideDiff=false", wave), `  namespace: argocd
spec:
  project: infrastructure
  source: {repoURL: `+estateURL+`, targetRevision: HEAD, path: `+dir+`}
  destination: {server: https://kubernetes.default.svc, namespace: `+name+`}
`+estatePolicy)
	switch {
	case name == "argocd":
		f.files[dir+"/kustomization.yaml"] = kustomization("namespace: argocd",
			"helmCharts: [{name: argo-cd, repo: https://argo.invalid/argo-helm, version: 10.4.0, releaseName: argocd, namespace: argocd, includeCRDs: true, valuesFile: values.yaml}]")
		f.files[dir+"/values.yaml"] = estateSettings
	case strings.Contains(name, "-observability"):
		f.files[dir+"/kustomization.yaml"] = kustomization("namespace: "+name, "resources: [monitors.yaml]")
		f.files[dir+"/monitors.yaml"] = object("monitoring.coreos.com/v1", "ServiceMonitor", name, "", "spec: {selector: {}, endpoints: [{port: metrics}]}") +
			object("monitoring.coreos.com/v1", "PrometheusRule", name, "", "spec: {groups: [{name: up, rules: [{alert: Down, expr: up == 0}]}]}")
	case name == "backup-config" || name == "autoscaler-recommendations":
		f.files[dir+"/kustomization.yaml"] = kustomization("namespace: "+name, "resources: [objects.yaml]")
		f.files[dir+"/objects.yaml"] = object("backup.example/v1", "SnapshotPolicy", "daily", "sync-options=Validate=true", "spec: {keep: 7}") +
			object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", name, "", "spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: none}, updatePolicy: {updateMode: \"Off\"}}")
	default:
		repo := "https://" + name + ".invalid/charts"
		if wave%2 == 0 {
			repo = "oci://registry.invalid/" + name
		}
		f.files[dir+"/kustomization.yaml"] = kustomization("namespace: "+name, "resources: [settings.yaml]",
			fmt.Sprintf("helmCharts: [{name: %s, repo: %q, version: v1.%d.0, releaseName: %s, namespace: %s, includeCRDs: true, valuesInline: {replicas: 2}}]", name, repo, wave, name, name))
		f.files[dir+"/settings.yaml"] = object("longhorn.io/v1beta2", "Setting", "default-"+name, "sync-options=ServerSideApply=false", "value: \"3\"") +
			object("cert-manager.io/v1", "ClusterIssuer", name, "sync-wave=1;sync-options=SkipDryRunOnMissingResource=true", "spec: {selfSigned: {}}")
	}
}

// generated adds an ApplicationSet with its directories.
func (f *estate) generated(set, project, glob string, wave, groups, each int) {
	exclude := ""
	if set == "my-apps" {
		exclude = ", {path: \"my-apps/common/*\", exclude: true}"
	}
	f.files["infrastructure/controllers/argocd/apps/set-"+set+".yaml"] = object("argoproj.io/v1alpha1", "ApplicationSet", set,
		fmt.Sprintf("sync-wave=%d", wave), `  namespace: argocd
spec:
  goTemplate: true
  goTemplateOptions: [missingkey=error]
  generators: [{git: {repoURL: `+estateURL+`, revision: HEAD, directories: [{path: "`+glob+`"}`+exclude+`]}}]
  ignoreApplicationDifferences: [{jsonPointers: [/spec/syncPolicy/automated]}]
  template:
    metadata:
      name: "`+set+`-{{.path.basename}}"
      labels: {set: `+set+`}
      annotations: {argocd.argoproj.io/compare-options: ServerSideDiff=false}
    spec:
      project: `+project+`
      source: {repoURL: `+estateURL+`, targetRevision: HEAD, path: "{{.path.path}}"}
      destination: {server: https://kubernetes.default.svc, namespace: "{{.path.basename}}"}
      revisionHistoryLimit: 3
      info: [{name: set, value: `+set+`}]
`+strings.ReplaceAll("\n"+strings.TrimSuffix(estatePolicy, "\n"), "\n", "\n    ")[1:])
	base := strings.SplitN(glob, "/*", 2)[0]
	for g := range groups {
		for i := range each {
			name := fmt.Sprintf("%s%d-%d", strings.ReplaceAll(set, "-", ""), g, i)
			dir := base + "/" + name
			if strings.HasSuffix(glob, "/*/*") {
				dir = fmt.Sprintf("%s/group%d/%s", base, g, name)
			}
			f.waves[set+"-"+name] = wave
			f.directory(set, dir, name, g*each+i)
		}
	}
}

// directory adds what one generated Application applies: of every sort of object some have some.
func (f *estate) directory(set, dir, name string, i int) {
	lines := []string{
		"namespace: " + name, "resources: [workload.yaml, route.yaml]",
		"configMapGenerator: [{name: settings, literals: [MODE=plain], options: {annotations: {from: generator}}}, {name: files, files: [app.conf], options: {disableNameSuffixHash: true}}]",
	}
	f.files[dir+"/app.conf"] = "name = " + name + "\n"
	f.files[dir+"/workload.yaml"] = object("apps/v1", "Deployment", name, "", `spec:
  selector: {matchLabels: {app: `+name+`}}
  template:
    metadata: {labels: {app: `+name+`}}
    spec: {containers: [{name: app, image: "registry.invalid/`+name+`:1.0.0", envFrom: [{configMapRef: {name: settings}}]}]}`) +
		object("v1", "Service", name, "sync-options=ServerSideApply=true", "spec: {selector: {app: "+name+"}, ports: [{name: http, port: 80}]}") +
		object("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", name, "", "spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: "+name+"}, updatePolicy: {updateMode: \"Off\"}}")
	f.files[dir+"/route.yaml"] = object("gateway.networking.k8s.io/v1", "HTTPRoute", name, "", "spec: {parentRefs: [{name: gateway, namespace: network}], rules: [{backendRefs: [{name: "+name+", port: 80}]}]}")
	if i%3 == 0 {
		lines[1] = "resources: [workload.yaml, route.yaml, secret.yaml, volume.yaml]"
		f.files[dir+"/secret.yaml"] = object("external-secrets.io/v1", "ExternalSecret", name, "sync-wave=-1", "spec: {secretStoreRef: {kind: ClusterSecretStore, name: vault}, data: [{secretKey: token, remoteRef: {key: x}}]}")
		f.files[dir+"/volume.yaml"] = object("v1", "PersistentVolumeClaim", name, "compare-options=IgnoreExtraneous;sync-options=Replace=false", "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}")
	}
	if i%4 == 1 {
		lines = append(lines, `patches: [{target: {kind: Deployment}, patch: "- {op: add, path: /spec/template/spec/automountServiceAccountToken, value: false}"}]`,
			"labels: [{pairs: {patched: \"true\"}}]")
	}
	switch {
	case set == "my-apps":
		lines = append(lines, "components: [../../common/backup]")
		if i%10 == 7 {
			f.hooks(set, dir, name, &lines)
		}
		switch i {
		case 50:
			lines[1] = strings.Replace(lines[1], "]", ", encrypted.yaml]", 1)
			f.encrypted = dir + "/encrypted.yaml"
		case 51:
			lines[1] = strings.Replace(lines[1], "]", ", \"https://files.invalid/all.yaml\"]", 1)
		}
	case set == "database":
		lines[1] = strings.Replace(lines[1], "]", ", kafka.yaml]", 1)
		f.files[dir+"/kafka.yaml"] = object("kafka.strimzi.io/v1", "Kafka", name, "", "spec: {kafka: {version: 4.1.0}}") +
			object("kafka.strimzi.io/v1", "KafkaTopic", name, "sync-wave=1", "spec: {partitions: 3}")
	case i%2 == 0:
		lines = append(lines, fmt.Sprintf("helmCharts: [{name: %s, repo: \"https://charts.invalid\", version: 1.2.%d, releaseName: chart, namespace: %s, valuesInline: {on: true}}]", path.Base(dir), i, name))
	}
	f.files[dir+"/kustomization.yaml"] = kustomization(lines...)
}

// hooks adds Jobs in waves of a sync, and one after it.
func (f *estate) hooks(set, dir, name string, lines *[]string) {
	(*lines)[1] = strings.Replace((*lines)[1], "]", ", hooks.yaml]", 1)
	text := ""
	for _, hook := range []struct{ job, phase, wave, policy string }{
		{"init", "Sync", "1", "BeforeHookCreation"},
		{"migrate", "Sync", "2", "BeforeHookCreation"},
		{"seed", "PostSync", "0", "BeforeHookCreation"},
	} {
		text += object("batch/v1", "Job", hook.job, "hook="+hook.phase+";sync-wave="+hook.wave+";hook-delete-policy="+hook.policy,
			"spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: \"registry.invalid/job:1\"}]}}}")
		f.hooked[set+"-"+name] = append(f.hooked[set+"-"+name], hook.job)
	}
	f.files[dir+"/hooks.yaml"] = text
}

// estateSettings are the values of the chart by which the estate installs Argo CD.
const estateSettings = `configs:
  cm:
    application.resourceTrackingMethod: annotation+label
    timeout.reconciliation: 180s
    timeout.reconciliation.jitter: 60s
    timeout.hard.reconciliation: 1h
    kustomize.buildOptions: --enable-helm
    resource.customizations.health.argoproj.io_Application: |
      local hs = {status = "Progressing", message = ""}
      if obj.status ~= nil and obj.status.health ~= nil then
        hs.status = obj.status.health.status
        hs.message = obj.status.health.message or ""
      end
      return hs
    resource.customizations.health.kafka.strimzi.io_Kafka: |
      local hs = {status = "Progressing", message = "waiting for the cluster"}
      if obj.status ~= nil and obj.status.conditions ~= nil then
        for _, c in ipairs(obj.status.conditions) do
          if c.type == "Ready" and c.status == "True" and obj.status.clusterId ~= "" then
            hs.status, hs.message = "Healthy", ""
          end
        end
      end
      return hs
    resource.customizations.ignoreDifferences._PersistentVolumeClaim: |
      jsonPointers: [/spec/volumeName, /spec/dataSourceRef]
    resource.customizations.ignoreDifferences.gateway.networking.k8s.io_HTTPRoute: |
      jqPathExpressions: [".spec.parentRefs[].group", ".spec.rules[].backendRefs[].weight"]
    resource.customizations.ignoreDifferences.all: |
      managedFieldsManagers: [kube-controller-manager]
  params:
    controller.diff.server.side: true
    controller.status.processors: 50
    controller.operation.processors: 25
    controller.repo.server.timeout.seconds: 300
    reposerver.parallelism.limit: 5
    reposerver.repo.cache.expiration: 1h
`
