package decrypt

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/getsops/sops/v3/azkv"
	"github.com/getsops/sops/v3/gcpkms"
	"github.com/getsops/sops/v3/hcvault"
	"github.com/getsops/sops/v3/kms"
	"sigs.k8s.io/yaml"
)

// errMissing names the field that an account lacks.
func errMissing(field string) error { return fmt.Errorf("its field %q is missing", field) }

// errShape is what is wrong with an account that cannot be read. The parser's error may quote it.
var errShape = errors.New("not a YAML or JSON object with string fields")

// readVault reads a token. An empty one would have the library look for one in the home of the user.
func (k *Keys) readVault(data []byte) error {
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return errors.New("not a token")
	}
	k.hidden = append(k.hidden, token)
	k.vault = hcvault.Token(token).ApplyToMasterKey
	return nil
}

func (k *Keys) readAWS(data []byte) error {
	var account struct {
		ID      string `json:"aws_access_key_id"`
		Secret  string `json:"aws_secret_access_key"`
		Session string `json:"aws_session_token"`
	}
	if yaml.Unmarshal(data, &account) != nil {
		return errShape
	}
	switch {
	case account.ID == "":
		return errMissing("aws_access_key_id")
	case account.Secret == "":
		return errMissing("aws_secret_access_key")
	}
	k.hidden = append(k.hidden, account.Secret, account.Session)
	k.aws = kms.NewCredentialsProvider(
		credentials.NewStaticCredentialsProvider(account.ID, account.Secret, account.Session)).ApplyToMasterKey
	return nil
}

// azureAccount is the file of an Azure account: the fields that Flux documents, and below them those
// that the az command prints for a service principal.
type azureAccount struct {
	TenantID            string `json:"tenantId"`
	ClientID            string `json:"clientId"`
	ClientSecret        string `json:"clientSecret"`
	Certificate         string `json:"clientCertificate"`
	CertificatePassword string `json:"clientCertificatePassword"`
	SendChain           bool   `json:"clientCertificateSendChain"`
	AuthorityHost       string `json:"authorityHost"`

	Tenant   string `json:"tenant"`
	AppID    string `json:"appId"`
	Password string `json:"password"`
}

func (k *Keys) readAzure(data []byte) error {
	var account azureAccount
	if yaml.Unmarshal(fromUTF16(data), &account) != nil {
		return errShape
	}
	if account.TenantID == "" && account.AppID != "" {
		account.TenantID, account.ClientID, account.ClientSecret = account.Tenant, account.AppID, account.Password
	}
	credential, err := account.credential()
	if err != nil {
		return err
	}
	k.hidden = append(k.hidden, account.ClientSecret, account.CertificatePassword)
	k.azure = azkv.NewTokenCredential(credential).ApplyToMasterKey
	return nil
}

// credential is that of the account. A file with a client alone names a managed identity of the
// machine that the engine runs on; that is the file's choice, and nothing that is fallen back to.
func (a azureAccount) credential() (azcore.TokenCredential, error) {
	options := azcore.ClientOptions{}
	if a.AuthorityHost != "" {
		options.Cloud = cloud.Configuration{ActiveDirectoryAuthorityHost: a.AuthorityHost}
	}
	var credential azcore.TokenCredential
	var err error
	field := "clientId"
	switch {
	case a.ClientID == "":
		return nil, errMissing("clientId")
	case a.TenantID == "" && a.ClientSecret == "" && a.Certificate == "":
		credential, err = azidentity.NewManagedIdentityCredential(
			&azidentity.ManagedIdentityCredentialOptions{ID: azidentity.ClientID(a.ClientID)})
	case a.TenantID == "":
		return nil, errMissing("tenantId")
	case a.ClientSecret != "":
		field = "tenantId"
		credential, err = azidentity.NewClientSecretCredential(a.TenantID, a.ClientID, a.ClientSecret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options})
	case a.Certificate != "":
		field = "clientCertificate"
		credential, err = a.certificate(options)
	default:
		return nil, errors.New(`it needs the field "clientSecret" or "clientCertificate"`)
	}
	if err != nil {
		return nil, fmt.Errorf("its field %q is unusable", field)
	}
	return credential, nil
}

func (a azureAccount) certificate(options azcore.ClientOptions) (azcore.TokenCredential, error) {
	certificates, key, err := azidentity.ParseCertificates([]byte(a.Certificate), []byte(a.CertificatePassword))
	if err != nil {
		return nil, err
	}
	return azidentity.NewClientCertificateCredential(a.TenantID, a.ClientID, certificates, key,
		&azidentity.ClientCertificateCredentialOptions{ClientOptions: options, SendCertificateChain: a.SendChain})
}

// fromUTF16 turns the text that a PowerShell wrote into UTF-8, and leaves other texts alone.
func fromUTF16(data []byte) []byte {
	first := 0
	switch {
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		first = 1
	default:
		return bytes.TrimPrefix(data, []byte{0xef, 0xbb, 0xbf})
	}
	var units []uint16
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i+first])<<8|uint16(data[i+1-first]))
	}
	return []byte(string(utf16.Decode(units)))
}

// readGCP reads the key of a service account. Other kinds of credentials name files, addresses or
// commands of the machine, and are refused.
func (k *Keys) readGCP(data []byte) error {
	var account struct {
		Type       string `json:"type"`
		Email      string `json:"client_email"`
		PrivateKey string `json:"private_key"`
	}
	if yaml.Unmarshal(data, &account) != nil {
		return errShape
	}
	switch {
	case account.Type == "":
		return errMissing("type")
	case account.Type != "service_account":
		return errors.New(`its field "type" is not "service_account"`)
	case account.Email == "":
		return errMissing("client_email")
	case account.PrivateKey == "":
		return errMissing("private_key")
	case !isPrivateKey(account.PrivateKey):
		return errors.New(`its field "private_key" is not a PEM private key`)
	}
	k.gcp = gcpkms.CredentialJSON(bytes.TrimSpace(data)).ApplyToMasterKey
	return nil
}

func isPrivateKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	_, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		_, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	return err == nil
}
