package scenario

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/secrets/store/storetest"
)

// known1Password is a Connect server that gets the items which ExternalSecrets name.
type known1Password struct {
	connect *storetest.Connect
	ids     map[string]string
	fields  map[string]map[string]string
}

const phoebeVault = "cluster-phoebe"

// dotted are names of values in templates.
var dotted = regexp.MustCompile(`\.([A-Za-z_][A-Za-z0-9_]*)`)

// learn adds what an ExternalSecret reads.
func (k *known1Password) learn(es *esv1.ExternalSecret) {
	for _, d := range es.Spec.Data {
		k.add(d.RemoteRef.Key, d.RemoteRef.Property)
	}
	for _, from := range es.Spec.DataFrom {
		if from.Extract == nil {
			continue
		}
		k.add(from.Extract.Key, "password")
		if es.Spec.Target.Template == nil {
			continue
		}
		for _, text := range es.Spec.Target.Template.Data {
			for _, name := range dotted.FindAllStringSubmatch(text, -1) {
				k.add(from.Extract.Key, name[1])
			}
		}
	}
}

func (k *known1Password) add(item, field string) {
	if k.ids[item] == "" {
		k.ids[item], k.fields[item] = k.connect.Add(phoebeVault, item), map[string]string{}
	}
	if field == "" {
		field = "password"
	}
	if k.fields[item][field] != "" {
		return
	}
	k.fields[item][field] = "v-" + field
	if field == "connectToken" {
		k.fields[item][field] = k.connect.Token
	}
	var list []any
	for i, name := range slices.Sorted(maps.Keys(k.fields[item])) {
		list = append(list, map[string]any{"id": fmt.Sprint("field", i), "label": name, "value": k.fields[item][name], "type": "CONCEALED", "purpose": "PASSWORD"})
	}
	k.connect.Set(k.ids[item], "fields", list)
}

// TestPhoebe boots a home lab, which PHOEBE names, beside a 1Password Connect server: all of its ExternalSecrets become real ones, but for the one
// whose generator has to be GitHub.
func TestPhoebe(t *testing.T) {
	tree := os.Getenv("PHOEBE")
	if tree == "" {
		t.Skip("PHOEBE names no repository")
	}
	const externalSecrets = 51
	repo, dir := filepath.Join(t.TempDir(), "phoebe"), shortDir(t)
	if err := os.CopyFS(repo, os.DirFS(tree)); err != nil {
		t.Fatal(err)
	}
	k := &known1Password{connect: storetest.NewConnect(t, phoebeVault), ids: map[string]string{}, fields: map[string]map[string]string{}}
	store := filepath.Join(repo, "kubernetes/apps/external-secrets/onepassword/app/clustersecretstore.yaml")
	text, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, store, strings.Replace(string(text), "http://onepassword.external-secrets.svc.cluster.local", k.connect.URL, 1))
	p := run(t, "up", repo, "--simulate", "--secrets", "stores", "--ephemeral", "--state-dir", dir)
	p.says("control plane")
	kubeconfig := filepath.Join(dir, "ephemeral", "kubeconfig")
	client := clientOf(t, kubeconfig)
	giveToken(t, client, k.connect.Token)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	pollFor(t, 5*time.Minute, time.Second, "waiting until all ExternalSecrets are real", func() (bool, string) {
		list, err := objects.Resource(externalSecretResource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		var missing []string
		real := 0
		for i := range list.Items {
			es, err := declared.Read[esv1.ExternalSecret](&list.Items[i])
			if err != nil {
				t.Fatal(err)
			}
			k.learn(es)
			if es.Status.SyncedResourceVersion != "" && es.Labels["headgate.dev/simulated"] == "" {
				real++
				continue
			}
			missing = append(missing, fmt.Sprintf("%s/%s %v", es.Namespace, es.Name, es.Status.Conditions))
		}
		return real >= externalSecrets-1 && len(missing) <= 1, fmt.Sprintf("%d are real, %d are not:\n%s", real, len(missing), strings.Join(missing, "\n"))
	})
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// giveToken stores what a person would: the token of the Connect server.
func giveToken(t *testing.T, client kubernetes.Interface, token string) {
	t.Helper()
	const namespace = "external-secrets"
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "onepassword-secret"}, StringData: map[string]string{"token": token}}
	if _, err := client.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
