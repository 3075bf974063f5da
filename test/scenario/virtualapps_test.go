package scenario

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/kit"
)

// chartedApp is a virtual cluster by its chart, with the Secrets of two namespaces of the host.
const chartedApp = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: team
  source:
    repoURL: https://charts.loft.sh
    chart: vcluster
    targetRevision: 0.26.0
    helm: {valuesObject: {sync: {fromHost: {secrets: {enabled: true, mappings: {byName: {"shop/*": "shop/*", "vault/*": "stolen/*"}}}}}}}
  destination: {server: "https://kubernetes.default.svc", namespace: %[1]s}
  syncPolicy: {automated: {selfHeal: true}, syncOptions: [CreateNamespace=true]}
`

// chartedProject permits the chart by what it consists of, and the Secrets of one namespace or of none.
const chartedProject = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: team, namespace: argocd}
spec:
  sourceRepos: ["https://charts.loft.sh"]
  destinations: [{server: "https://kubernetes.default.svc", namespace: "%s"}, {server: "https://kubernetes.default.svc", namespace: dev}, {server: "https://kubernetes.default.svc", namespace: staging}]
  clusterResourceWhitelist: [{group: "", kind: Namespace}]
  namespaceResourceWhitelist: [{group: apps, kind: StatefulSet}, {group: "", kind: Secret}]
`

// unregistered is a virtual cluster that Argo CD does not know.
const unregistered = `apiVersion: cluster.headgate.dev/v1alpha1
kind: VirtualCluster
metadata: {name: mine, namespace: dev}
`

// virtualApps are Applications that declare virtual clusters, and others that deploy to these.
type virtualApps struct {
	*virtuals
	apps *destinations
}

// TestVirtualClustersOfApplications has Applications declare virtual clusters, which get the Secrets that their project permits; one of them
// dies, and a login changes, while Applications are deployed to them.
func TestVirtualClustersOfApplications(t *testing.T) {
	t.Parallel()
	v := newVirtualApps(t)
	for _, name := range []string{"dev", "staging"} {
		if err := v.world.put(fmt.Sprintf(chartedApp, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dev", "staging"} {
		v.apps.stands(name, "Synced", "Healthy", "")
		v.apps.app("at-"+name, "default", "name: "+name)
		v.apps.stands("at-"+name, "Synced", "Healthy", "")
		v.apps.has(v.reach(name, name), "at-"+name, "1")
	}
	t.Run("secrets", func(t *testing.T) { v.permitted(t) })
	t.Run("dead", func(t *testing.T) { v.dies(t) })
	t.Run("rotated", func(t *testing.T) { v.rotated(t) })
}

func newVirtualApps(t *testing.T) *virtualApps {
	t.Helper()
	v := &virtualApps{virtuals: newVirtuals(t, "virtual", "argocd")}
	k := v.world.kit
	v.apps = &destinations{operated: &operated{t: t, kit: k, client: v.host, copy: t.TempDir()}, world: v.world}
	if err := k.Git.CreateRepo(t.Context(), "destined"); err != nil {
		t.Fatal(err)
	}
	v.apps.url = k.Git.URL("destined")
	v.apps.content("1")
	for _, text := range []string{
		fmt.Sprintf(strings.Split(destinedSecrets, "---")[0], v.apps.url, kit.User, kit.Token), fmt.Sprintf(chartedProject, "shop"),
	} {
		if err := v.world.put(text); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// permitted has Secrets be copied that the project of the Application permits, for as long as it does, and none that mean nothing elsewhere.
func (v *virtualApps) permitted(t *testing.T) {
	for _, namespace := range []string{"shop", "vault"} {
		if _, err := v.host.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	v.secret(v.host, "vault", "root", "forbidden")
	for name, kind := range map[string]corev1.SecretType{"token": corev1.SecretTypeServiceAccountToken, "release": "helm.sh/release.v1"} {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}}, Type: kind}
		eventually(t, "there is an account for a token", func() (bool, string) {
			_, err := v.host.CoreV1().ServiceAccounts("shop").Get(t.Context(), "default", metav1.GetOptions{})
			return err == nil, fmt.Sprint(err)
		})
		if _, err := v.host.CoreV1().Secrets("shop").Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	v.secret(v.host, "shop", "app", "first")
	inside := v.reach("dev", "dev")
	copied := func(want string) {
		t.Helper()
		eventually(t, fmt.Sprintf("the copy has the value %q", want), func() (bool, string) {
			s, err := inside.CoreV1().Secrets("shop").Get(t.Context(), "app", metav1.GetOptions{})
			return want == "" && apierrors.IsNotFound(err) || want != "" && err == nil && string(s.Data["value"]) == want, fmt.Sprint(err)
		})
	}
	copied("first")
	v.secret(v.host, "shop", "app", "second")
	copied("second")
	v.says("dev", "dev", "SecretsSynced", "False", "Refused")
	for _, name := range []string{"token", "release"} {
		if _, err := inside.CoreV1().Secrets("shop").Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("Secret %s is in the virtual cluster: %v", name, err)
		}
	}
	v.apps.nowhere(t, inside, "stolen")
	for _, step := range []struct{ namespace, want string }{{"nothing", ""}, {"shop", "second"}} {
		if err := v.world.put(fmt.Sprintf(chartedProject, step.namespace)); err != nil {
			t.Fatal(err)
		}
		copied(step.want)
	}
}

// dies has the control plane of one of two virtual clusters end, and not come back for a while.
func (v *virtualApps) dies(t *testing.T) {
	hold := make(chan struct{})
	v.mu.Lock()
	v.hold = hold
	v.mu.Unlock()
	name, running := v.plane("dev", "dev")
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.says("dev", "dev", "Ready", "False", "ControlPlaneEnded")
	v.apps.stands("dev", "Synced", "Degraded", "")
	eventually(t, "the Application names the control plane", func() (bool, string) {
		u, err := v.world.client.Resource(theApplications).Namespace("argocd").Get(t.Context(), "dev", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		text, err := json.Marshal(u.Object["status"])
		return err == nil && strings.Contains(string(text), "control plane "+name+" has ended"), string(text)
	})
	v.apps.content("2")
	v.apps.has(v.reach("staging", "staging"), "at-staging", "2")
	v.apps.stands("at-staging", "Synced", "Healthy", "")
	v.apps.stands("at-dev", "Unknown", "", "ComparisonError: ")
	v.mu.Lock()
	v.hold = nil
	v.mu.Unlock()
	close(hold)
	v.says("dev", "dev", "Ready", "True", "Running")
	v.apps.has(v.reach("dev", "dev"), "at-dev", "2")
	v.apps.stands("dev", "Synced", "Healthy", "")
	v.apps.stands("at-dev", "Synced", "Healthy", "")
}

// rotated has the login to a cluster end, and the Secret of that cluster get another one.
func (v *virtualApps) rotated(t *testing.T) {
	if err := v.world.put(unregistered); err != nil {
		t.Fatal(err)
	}
	v.says("dev", "mine", "Ready", "True", "Running")
	inside := v.reach("dev", "mine")
	former := v.login(inside, "before")
	v.apps.app("at-mine", "default", "name: mine")
	v.apps.has(inside, "at-mine", "2")
	v.apps.stands("at-mine", "Synced", "Healthy", "")

	accounts := inside.CoreV1().ServiceAccounts("default")
	if err := accounts.Delete(t.Context(), "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the former login is over", func() (bool, string) {
		_, err := former.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		return apierrors.IsUnauthorized(err), fmt.Sprint(err)
	})
	v.apps.content("3")
	v.apps.stands("at-mine", "Unknown", "", "ComparisonError: ")
	v.login(inside, "after")
	v.apps.has(inside, "at-mine", "3")
	v.apps.stands("at-mine", "Synced", "Healthy", "")
}

// login has Argo CD know a cluster as an account there, which is made. It returns a client with that login.
func (v *virtualApps) login(inside kubernetes.Interface, account string) kubernetes.Interface {
	v.t.Helper()
	ctx := v.t.Context()
	accounts := inside.CoreV1().ServiceAccounts("default")
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
		v.t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: account}},
	}
	if _, err := inside.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		v.t.Fatal(err)
	}
	token, err := accounts.CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		v.t.Fatal(err)
	}
	_, running := v.plane("dev", "mine")
	config := running.RESTConfig()
	ca := config.CAData
	if len(ca) == 0 {
		v.t.Fatal("the control plane has no authority")
	}
	text, err := json.Marshal(map[string]any{"bearerToken": token.Status.Token, "tlsClientConfig": map[string]string{"caData": base64.StdEncoding.EncodeToString(ca)}})
	if err != nil {
		v.t.Fatal(err)
	}
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "mine", Labels: map[string]string{"argocd.argoproj.io/secret-type": "cluster"}},
		StringData: map[string]string{"name": "mine", "server": config.Host, "config": string(text)},
	}
	secrets := v.host.CoreV1().Secrets("argocd")
	_, err = secrets.Create(ctx, s, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
	}
	if err != nil {
		v.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(&rest.Config{Host: config.Host, BearerToken: token.Status.Token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
	if err != nil {
		v.t.Fatal(err)
	}
	return client
}
