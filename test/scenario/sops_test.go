package scenario

import (
	"context"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/render/decrypt/decrypttest"
)

type schemaGVR = schema.GroupVersionResource

func parseGroupVersion(s string) (schema.GroupVersion, error) { return schema.ParseGroupVersion(s) }

// agekey makes a key, encrypts files for it, and puts it into a Secret, unless that is "-":
// "agekey SECRET FILE...", with NAMESPACE/SECRET for one in another namespace than that of the script.
func (w *world) agekey(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2, "agekey SECRET FILE...")
	identity, err := age.GenerateX25519Identity()
	ts.Check(err)
	for _, name := range args[1:] {
		data, err := decrypttest.Encrypt([]byte(ts.ReadFile(name)), decrypt.YAML, "^(data|stringData)$", identity.Recipient().String())
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o644))
	}
	ts.Setenv("RECIPIENT", identity.Recipient().String())
	if args[0] == "-" {
		return
	}
	client, err := kubernetes.NewForConfig(w.kit.Config)
	ts.Check(err)
	namespace, name, elsewhere := strings.Cut(args[0], "/")
	if !elsewhere {
		namespace, name = ts.Getenv("NS"), args[0]
	}
	_, err = client.CoreV1().Secrets(namespace).Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"age.agekey": []byte(identity.String())},
	}, metav1.CreateOptions{})
	ts.Check(err)
}
