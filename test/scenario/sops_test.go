package scenario

import (
	"context"
	"fmt"
	"os"
	"time"

	"filippo.io/age"
	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/aes"
	sopsage "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/config"
	"github.com/getsops/sops/v3/keyservice"
	"github.com/getsops/sops/v3/stores/yaml"
	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

type schemaGVR = schema.GroupVersionResource

func parseGroupVersion(s string) (schema.GroupVersion, error) { return schema.ParseGroupVersion(s) }

// agekey makes a key, encrypts files for it, and puts it into a Secret, unless that is "-":
// "agekey SECRET FILE...".
func (w *world) agekey(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	usage(ts, len(args) >= 2, "agekey SECRET FILE...")
	identity, err := age.GenerateX25519Identity()
	ts.Check(err)
	for _, name := range args[1:] {
		data, err := encrypt([]byte(ts.ReadFile(name)), identity.Recipient().String())
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o644))
	}
	ts.Setenv("RECIPIENT", identity.Recipient().String())
	if args[0] == "-" {
		return
	}
	client, err := kubernetes.NewForConfig(w.kit.Config)
	ts.Check(err)
	_, err = client.CoreV1().Secrets(ts.Getenv("NS")).Create(context.Background(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: args[0]}, Data: map[string][]byte{"age.agekey": []byte(identity.String())},
	}, metav1.CreateOptions{})
	ts.Check(err)
}

// encrypt encrypts the data of a manifest as the sops command does.
func encrypt(plain []byte, recipient string) ([]byte, error) {
	store := yaml.NewStore(&config.YAMLStoreConfig{})
	branches, err := store.LoadPlainFile(plain)
	if err != nil {
		return nil, err
	}
	key, err := sopsage.MasterKeyFromRecipient(recipient)
	if err != nil {
		return nil, err
	}
	tree := sops.Tree{Branches: branches, Metadata: sops.Metadata{
		KeyGroups: []sops.KeyGroup{{key}}, Version: "3.13.3", EncryptedRegex: "^(data|stringData)$",
	}}
	dataKey, errs := tree.GenerateDataKeyWithKeyServices([]keyservice.KeyServiceClient{keyservice.NewLocalClient()})
	if len(errs) > 0 {
		return nil, fmt.Errorf("making a data key: %v", errs)
	}
	cipher := aes.NewCipher()
	mac, err := tree.Encrypt(dataKey, cipher)
	if err != nil {
		return nil, err
	}
	tree.Metadata.LastModified = time.Now().UTC()
	tree.Metadata.MessageAuthenticationCode, err = cipher.Encrypt(mac, dataKey, tree.Metadata.LastModified.Format(time.RFC3339))
	if err != nil {
		return nil, err
	}
	return store.EmitEncryptedFile(tree)
}
