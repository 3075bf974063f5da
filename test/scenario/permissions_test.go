package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/headgate-dev/headgate/internal/dialects"
	"github.com/headgate-dev/headgate/internal/helm"
	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/secrets"
)

// What needs the rules of the chart. Where a scenario of "permissions" takes one away, it is named; the others
// are those without which no scenario at all would pass, since every one runs with these rules.
//
//	scope all
//	*/* get, list, watch        every scenario: Flux's objects, and what they declare
//	*/* create                  every scenario: server-side apply makes what is not there
//	*/* patch, delete           permissions/patch, permissions/delete
//	*/* update                  permissions/update: Helm's records; leases: permissions/lease
//	roles, clusterroles bind    permissions/bind
//	roles, clusterroles escalate  permissions/escalate
//	serviceaccounts impersonate permissions/impersonate
//
//	scope tenants
//	Flux's groups get, list, watch, patch      tenants: objects, status, finalizers
//	Flux's groups create, delete               tenants: the HelmChart of a HelmRelease
//	customresourcedefinitions, all             tenants: Install applies them; kinds that come are watched
//	secrets, configmaps get, list, watch       tenants: the Secret of the source; the ConfigMap of rewrites
//	serviceaccounts get                        the account of a source or a decryption
//	namespaces get, list, watch                tenants: Install; inputs and receivers select by namespace
//	events create, patch                       tenants: an event for each pass, and one more of the same
//	deployments list, watch                    tenants: controllers of Flux are waited for
// 	leases get, list, create, update           tenants: one replica serves; those of Flux are read
//	workflows get, list, watch, patch          tenants: Workflow contained
//	pods, persistentvolumeclaims create        tenants: Workflow contained
//	Crossplane's groups, secrets create        tenants: Object pull, its configuration and its connection Secret
//	External Secrets' groups, secrets update   tenants: ExternalSecret fetched, PushSecret kept
//	builds, builds/status                      tenants: Build image; its run and its output are the account's

// rules are what the controller may do in the whole cluster.
func (i *installed) rules() []rbacv1.PolicyRule {
	i.t.Helper()
	role, err := i.client.RbacV1().ClusterRoles().Get(i.t.Context(), installation.Name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	return role.Rules
}

// setRules has the controller be allowed something else, and waits until the server knows.
func (i *installed) setRules(rules []rbacv1.PolicyRule) {
	i.t.Helper()
	role, err := i.client.RbacV1().ClusterRoles().Get(i.t.Context(), installation.Name, metav1.GetOptions{})
	if err != nil {
		i.t.Fatal(err)
	}
	all := append(listed(role.Rules, ""), listed(rules, "")...)
	role.Rules = rules
	if _, err := i.client.RbacV1().ClusterRoles().Update(i.t.Context(), role, metav1.UpdateOptions{}); err != nil {
		i.t.Fatal(err)
	}
	i.missing(all, rules, nil)
}

// missing waits until exactly that is missing which the rules do not cover.
func (i *installed) missing(all []installation.Permission, rules, inNamespace []rbacv1.PolicyRule) {
	i.t.Helper()
	want := slices.DeleteFunc(slices.Clone(all), func(p installation.Permission) bool {
		return covered(rules, p) || p.Namespace != "" && covered(inNamespace, p)
	})
	eventually(i.t, "what is missing is named", func() (bool, string) {
		got, err := installation.Missing(i.t.Context(), i.client, installation.Account(), all)
		if err != nil {
			return false, err.Error()
		}
		diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got))
		return diff == "", diff
	})
}

// covered reports whether rules allow something.
func covered(rules []rbacv1.PolicyRule, p installation.Permission) bool {
	has := func(list []string, one string) bool { return slices.Contains(list, one) || slices.Contains(list, "*") }
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return has(r.Verbs, p.Verb) && has(r.APIGroups, p.Group) && has(r.Resources, p.Resource)
	})
}

// listed are the permissions that rules consist of.
func listed(rules []rbacv1.PolicyRule, namespace string) []installation.Permission {
	var all []installation.Permission
	for _, r := range rules {
		for _, verb := range r.Verbs {
			for _, group := range r.APIGroups {
				for _, resource := range r.Resources {
					all = append(all, installation.Permission{Verb: verb, Group: group, Resource: resource, Namespace: namespace})
				}
			}
		}
	}
	return all
}

// without takes a verb from a rule, and adds others.
func without(rules []rbacv1.PolicyRule, at int, verb string, more ...rbacv1.PolicyRule) []rbacv1.PolicyRule {
	rules = slices.Clone(rules)
	rules[at].Verbs = slices.DeleteFunc(slices.Clone(rules[at].Verbs), func(v string) bool { return v == verb })
	if len(rules[at].Verbs) == 0 {
		rules = slices.Delete(rules, at, at+1)
	}
	return append(rules, more...)
}

// eachMissing takes each verb of each rule away, one at a time.
func eachMissing(t *testing.T, i *installed, inNamespace []rbacv1.PolicyRule) {
	t.Helper()
	rules := i.rules()
	all := append(listed(rules, ""), listed(inNamespace, "flux-system")...)
	i.missing(all, rules, inNamespace)
	for at, rule := range rules {
		for _, verb := range rule.Verbs {
			less := without(rules, at, verb)
			i.setRules(less)
			i.missing(all, less, inNamespace)
		}
	}
	i.setRules(rules)
}

// fluxGroups are the groups of the kinds that are served.
var fluxGroups = []string{
	"source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "notification.toolkit.fluxcd.io",
	"image.toolkit.fluxcd.io", "source.extensions.fluxcd.io", "fluxcd.controlplane.io",
}

const permittedUnit = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: fleet}
spec: {interval: 1h, retryInterval: 1s, path: ./%[1]s, prune: true, sourceRef: {kind: GitRepository, name: repo}%[2]s}
`

const permittedRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  interval: 1h
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: repo}}}
  install: {strategy: {name: RetryOnFailure, retryInterval: 1s}}
  upgrade: {strategy: {name: RetryOnFailure, retryInterval: 1s}}
`

// permissions takes away what the controller may do, and gives it back while it runs.
func permissions(t *testing.T, i *installed) {
	eachMissing(t, i, nil)
	rules := i.rules()
	only := func(verb string, groups []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: groups, Resources: resources}
	}
	for name, text := range map[string]string{
		"chart/Chart.yaml":        "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
		"chart/templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\n",
		"p/one.yaml":              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: fleet}\n",
		"p/two.yaml":              "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, namespace: fleet}\n",
		"intruder/x.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: intruder, namespace: default}\n",
		"account/sa.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-account, namespace: fleet}\n",
		"granter/role.yaml":       "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: granted}\nrules: [{apiGroups: [x.example], resources: [y], verbs: [shout]}]\n",
		"binder/binding.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: bound, namespace: fleet}\n" +
			"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: tenant, namespace: fleet}]\n",
	} {
		writeFile(t, filepath.Join(i.repo, filepath.FromSlash(name)), text)
	}
	i.push("6")
	if err := i.world.put("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: tenant, namespace: fleet}\n"); err != nil {
		t.Fatal(err)
	}
	r := i.start(t, here)
	i.settled("6")
	put := func(text string) func() {
		return func() {
			if err := i.world.put(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name       string
		rules      []rbacv1.PolicyRule
		do         func()
		kind, unit string
		sees       string
	}{
		{"patch", without(rules, 0, "patch", only("patch", fluxGroups, "*"), only("patch", []string{""}, "events")), put(fmt.Sprintf(permittedUnit, "p", "")), "ks", "p", `cannot patch resource "configmaps"`},
		{"delete", without(rules, 0, "delete", only("delete", fluxGroups, "*")), func() {
			writeFile(t, filepath.Join(i.repo, "p", "two.yaml"), "")
			i.push("7")
		}, "ks", "p", `cannot delete resource "configmaps"`},
		{"impersonate", without(rules, 2, "impersonate"), put(fmt.Sprintf(permittedUnit, "account", ", serviceAccountName: tenant")), "ks", "account", "cannot impersonate"},
		{"bind", without(rules, 1, "bind"), put(fmt.Sprintf(permittedUnit, "binder", "")), "ks", "binder", "is attempting to grant RBAC permissions not currently held"},
		{"escalate", without(rules, 1, "escalate"), put(fmt.Sprintf(permittedUnit, "granter", "")), "ks", "granter", "is attempting to grant RBAC permissions not currently held"},
		{"update", without(rules, 0, "update", only("update", []string{"coordination.k8s.io"}, "leases")), put(fmt.Sprintf(permittedRelease, "rel", "fleet")), "hr", "rel", `cannot update resource "secrets"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i.setRules(tc.rules)
			tc.do()
			i.condition(tc.kind, tc.unit, "False", tc.sees)
			i.setRules(rules)
			if tc.unit != "account" {
				i.condition(tc.kind, tc.unit, "True", "")
				return
			}
			i.condition(tc.kind, tc.unit, "False", `User "system:serviceaccount:fleet:tenant" cannot patch resource "configmaps"`)
		})
	}
	t.Run("lease", func(t *testing.T) {
		i.setRules(without(rules, 0, "update"))
		r.says(`cannot update resource \"leases\"`)
		r.ready(http.StatusServiceUnavailable, "")
		i.setRules(rules)
		r.ready(http.StatusOK, "")
	})
	t.Run("masters", func(t *testing.T) {
		if code := r.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("the replica ended with %d", code)
		}
		i.setRules(without(rules, 0, "list"))
		r := i.start(t, here)
		r.ready(http.StatusServiceUnavailable, `cannot list resource "deployments"`)
		i.setRules(without(rules, 0, "watch"))
		r.ready(http.StatusServiceUnavailable, "watching fluxinstances: not permitted")
		// A definition that stands as it is applied is left alone.
		i.describe("kustomizations.kustomize.toolkit.fluxcd.io")
		i.setRules(without(rules, 0, "patch"))
		r.ready(http.StatusServiceUnavailable, `cannot patch resource "customresourcedefinitions"`)
		i.setRules(rules)
		r.ready(http.StatusOK, "")
		if code := r.signal(syscall.SIGTERM); code != 0 {
			t.Errorf("the replica ended with %d", code)
		}
	})
}

const tenantsOwn = `apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: tenant, namespace: team}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: tenant, namespace: team}]
---
apiVersion: v1
kind: Secret
metadata: {name: git, namespace: team}
stringData: {username: dev, password: a-token-for-tests}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: repo, namespace: team}
spec: {url: %q, interval: 1h, ref: {branch: main}, secretRef: {name: git}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: team}
spec: {interval: 1h, path: ./a, prune: true, targetNamespace: team, sourceRef: {kind: GitRepository, name: repo}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: intruder, namespace: team}
spec: {interval: 1h, path: ./intruder, prune: true, sourceRef: {kind: GitRepository, name: repo}}
---
`

// tenantsProvision is one of each dialect beside those of units: what is no unit is read and written by the controller, and what comes
// of it by the account. The account may create runs and Secrets, and no pods, claims or connection Secrets of others.
const tenantsProvision = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: builder, namespace: team}
rules:
- {apiGroups: [argoproj.io], resources: [workflows], verbs: [create, patch, delete]}
- {apiGroups: [argoproj.io], resources: [workflowtemplates], verbs: [get]}
- {apiGroups: [""], resources: [secrets], verbs: [get, list, watch, create, update, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: builder, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: builder}
subjects: [{kind: ServiceAccount, name: default, namespace: team}]
---
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: image-builder, namespace: team}
spec:
  entrypoint: main
  templates: [{name: main, suspend: {duration: "0"}}]
---
apiVersion: build.headgate.dev/v1alpha1
kind: Build
metadata: {name: image, namespace: team}
spec:
  workflowTemplateRef: {name: image-builder}
  outputs: [{secret: {name: built, keys: {run: "{{run.name}}"}}}]
---
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: contained, namespace: team}
spec:
  entrypoint: main
  volumeClaimTemplates: [{metadata: {name: work}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
  templates: [{name: main, container: {image: busybox, command: ["true"], volumeMounts: [{name: work, mountPath: /work}]}}]
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: ProviderConfig
metadata: {name: default, namespace: team}
spec: {credentials: {source: InjectedIdentity}}
---
apiVersion: kubernetes.m.crossplane.io/v1alpha1
kind: Object
metadata: {name: pull, namespace: team}
spec:
  providerConfigRef: {kind: ProviderConfig, name: default}
  managementPolicies: [Observe]
  forProvider: {manifest: {apiVersion: v1, kind: Secret, metadata: {name: git, namespace: team}}}
  connectionDetails: [{apiVersion: v1, kind: Secret, name: git, namespace: team, fieldPath: data.username, toConnectionSecretKey: username}]
  writeConnectionSecretToRef: {name: connection}
`

// tenantsProvide has one of each served that is no unit.
func tenantsProvide(t *testing.T, i *installed) {
	t.Helper()
	if err := i.world.put(tenantsProvision); err != nil {
		t.Fatal(err)
	}
	there := func(what string, get func() error) {
		t.Helper()
		eventually(t, what+" is there", func() (bool, string) { err := get(); return err == nil, fmt.Sprint(err) })
	}
	secret := func(name string) func() error {
		return func() error {
			_, err := i.client.CoreV1().Secrets("team").Get(t.Context(), name, metav1.GetOptions{})
			return err
		}
	}
	there("the output of the Build", secret("built"))
	there("the connection Secret", secret("connection"))
	there("the claim of the Workflow", func() error {
		_, err := i.client.CoreV1().PersistentVolumeClaims("team").Get(t.Context(), "contained-work", metav1.GetOptions{})
		return err
	})
	there("the pod of the Workflow", func() error {
		list, err := i.client.CoreV1().Pods("team").List(t.Context(), metav1.ListOptions{LabelSelector: "workflows.argoproj.io/workflow=contained"})
		if err == nil && len(list.Items) != 1 {
			err = fmt.Errorf("%d pods", len(list.Items))
		}
		return err
	})
	for kind, name := range map[string]string{"Object.kubernetes.m.crossplane.io": "pull", "Workflow": "contained", "Build": "image"} {
		if err := i.delete(kind, "team", name); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the connection Secret goes with its Object", func() (bool, string) {
		err := secret("connection")()
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// provisioners are the controllers of Argo Workflows and of a provider of Crossplane, as they are installed, with so many pods.
const provisioners = `apiVersion: apps/v1
kind: Deployment
metadata: {name: workflow-controller, namespace: team}
spec:
  replicas: %[1]d
  selector: {matchLabels: {app: workflow-controller}}
  template:
    metadata: {labels: {app: workflow-controller}}
    spec: {containers: [{name: workflow-controller, image: "quay.io/argoproj/workflow-controller:v4.1.2"}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kube-7f3a91c0, namespace: team}
spec:
  replicas: %[1]d
  selector: {matchLabels: {pkg.crossplane.io/provider: kube, pkg.crossplane.io/revision: kube-7f3a91c0}}
  template:
    metadata: {labels: {pkg.crossplane.io/provider: kube, pkg.crossplane.io/revision: kube-7f3a91c0}}
    spec: {containers: [{name: package-runtime, image: "xpkg.crossplane.io/crossplane-contrib/provider-kubernetes:v1.2.0"}]}
`

// unsearched is what a controller says that may not list all kinds, when an earlier one has left units in the middle.
const unsearched = "not every kind could be searched for objects of an earlier run"

// fetched is an ExternalSecret of a store that is in memory.
const fetched = `apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: memory, namespace: team}
spec: {provider: {fake: {data: [{key: k, value: v}]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: fetched, namespace: team}
spec: {secretStoreRef: {name: memory}, data: [{secretKey: k, remoteRef: {key: k}}]}
---
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: kept, namespace: team}
spec:
  deletionPolicy: Delete
  secretStoreRefs: [{name: memory}]
  selector: {secret: {name: fetched}}
  data: [{match: {secretKey: k, remoteRef: {remoteKey: copy}}}]
`

// tenantsFetch has external secrets become Secrets, and go with what declares them.
func tenantsFetch(t *testing.T, i *installed) {
	t.Helper()
	if err := i.world.put(fetched); err != nil {
		t.Fatal(err)
	}
	eventually(t, "what is external is a Secret", func() (bool, string) {
		s, err := i.client.CoreV1().Secrets("team").Get(t.Context(), "fetched", metav1.GetOptions{})
		return err == nil && string(s.Data["k"]) == "v", fmt.Sprint(err)
	})
	i.conditionIn("team", "ps", "kept", "True", "PushSecret synced successfully")
	if err := i.delete("PushSecret", "team", "kept"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the PushSecret is gone", func() (bool, string) {
		_, err := i.world.client.Resource(i.resourceOf("PushSecret")).Namespace("team").Get(t.Context(), "kept", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// tenantsAlone runs a controller that may write nothing but its own kinds: what tenants declare is applied as
// they may.
func tenantsAlone(t *testing.T, i *installed) {
	// One provider of Crossplane stands for both: each verb of each group is taken away and given back.
	groups, err := dialects.With(dialects.Options{Secrets: secrets.Options{Told: true}}).Parse([]string{"flux", "argocd", "workflows", "build", "external-secrets", "kubernetes.crossplane.io", "kubernetes.m.crossplane.io"})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := installation.Objects(t.Context(), installation.Options{Serve: groups, WithoutDefinitions: true, Values: []helm.Layer{
		{From: "test", Data: []byte("rbac: {scope: tenants}\nmultitenancy: {defaultServiceAccount: tenant}")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	objects = slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool { return !strings.Contains(u.GetKind(), "Role") })
	if err := installation.Apply(t.Context(), i.kit.Config, objects, func(installation.Change) {}); err != nil {
		t.Fatal(err)
	}
	role, err := i.client.RbacV1().Roles("flux-system").Get(t.Context(), installation.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eachMissing(t, i, role.Rules)

	if err := i.world.put(fmt.Sprintf(tenantsOwn, i.kit.Git.URL("fleet")) + fmt.Sprintf(permittedRelease, "rel", "team")); err != nil {
		t.Fatal(err)
	}
	if err := i.world.put(fmt.Sprintf(provisioners, 1)); err != nil {
		t.Fatal(err)
	}
	r := i.start(t, here, "--default-service-account", "tenant", "--serve", "flux,workflows,build,external-secrets,kubernetes.crossplane.io,kubernetes.m.crossplane.io", "--executor-image", "headgate:test")
	r.ready(http.StatusServiceUnavailable, "Deployment team/workflow-controller serves workflows.argoproj.io; scale it to 0 replicas, or leave its group out of --serve")
	r.ready(http.StatusServiceUnavailable, "Deployment team/kube-7f3a91c0 serves kubernetes.crossplane.io; scale it to 0 replicas")
	if err := i.world.put(fmt.Sprintf(provisioners, 0)); err != nil {
		t.Fatal(err)
	}
	r.ready(http.StatusOK, "")
	for kind, name := range map[string]string{"ks": "app", "hr": "rel"} {
		i.conditionIn("team", kind, name, "True", "")
	}
	i.conditionIn("team", "ks", "intruder", "False", `User "system:serviceaccount:team:tenant" cannot patch resource "configmaps"`)
	eventually(t, "what they declare is there", func() (bool, string) {
		_, err := i.client.CoreV1().ConfigMaps("team").Get(t.Context(), "rel", metav1.GetOptions{})
		return err == nil && configMaps(t, i.client, "team")["a"] == "7", fmt.Sprint(err)
	})
	tenantsProvide(t, i)
	tenantsFetch(t, i)
	if err := i.delete("HelmRelease", "team", "rel"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the chart goes with its release", func() (bool, string) {
		list, err := i.world.client.Resource(i.resourceOf("HelmChart")).Namespace("team").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, fmt.Sprint(err)
	})
	events, err := i.client.CoreV1().Events("team").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(events.Items) == 0 {
		t.Errorf("nothing is told of the tenant's objects: %v", err)
	}
	for _, entry := range r.log() {
		text, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "flux-system:headgate") && entry["msg"] != unsearched {
			t.Errorf("the controller lacks a right: %s", text)
		}
	}
	if code := r.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("the replica ended with %d", code)
	}
}
