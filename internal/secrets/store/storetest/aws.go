package storetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// AWS is Secrets Manager, the Parameter Store and the token service of AWS in one server. It verifies the signature of every request.
type AWS struct {
	server
	// Secret and Session are those of the access key AKIDTEST; Session is optional. Assertion is a token for Role, which ExternalID
	// protects when it is not empty.
	Secret, Session, Assertion, Role, ExternalID string
	// Logins counts credentials that were issued for roles.
	Logins int
	// Deny has operations be refused to credentials that are valid.
	Deny map[string]bool
	// Code is the name of an error, with which every operation fails.
	Code string

	page    int
	secrets map[string]*awsSecret
}

// awsSecret is a secret or a parameter, with its versions.
type awsSecret struct {
	versions []awsVersion
	tags     map[string]string
	kind     string
	deleted  bool
}

type awsVersion struct {
	text   *string
	binary []byte
	stage  string
}

// AWSRegion is where the server is.
const AWSRegion = "eu-central-1"

// role has the credentials that the token service issues.
var role = aws.Credentials{AccessKeyID: "ASIAROLE", SecretAccessKey: "role-secret", SessionToken: "role-session"}

// NewAWS starts a server.
func NewAWS(t testing.TB) *AWS {
	a := &AWS{Secret: "aws-secret", Assertion: "account-token", Role: "arn:aws:iam::123456789012:role/reader", page: 2, Deny: map[string]bool{}, secrets: map[string]*awsSecret{}}
	a.start(t, a)
	return a
}

// PutText adds a version of a secret or parameter, with tags.
func (a *AWS) PutText(name, value string, tags map[string]string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.put(name, awsVersion{text: &value}, tags)
}

// PutBinary adds a version of a secret that is binary.
func (a *AWS) PutBinary(name string, value []byte) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.put(name, awsVersion{binary: value}, nil)
}

// Kind is the type of a parameter, or "string" or "binary" for a secret, and empty when there is none; the tags are a copy.
func (a *AWS) Kind(name string) (string, map[string]string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	s := a.secrets[name]
	if s == nil || s.deleted {
		return "", nil
	}
	tags := map[string]string{}
	for key, value := range s.tags {
		tags[key] = value
	}
	if s.kind != "" {
		return s.kind, tags
	}
	if last := s.versions[len(s.versions)-1]; last.text == nil {
		return "binary", tags
	}
	return "string", tags
}

// Empty adds a secret without a value.
func (a *AWS) Empty(name string, tags map[string]string) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.secrets[name] = &awsSecret{tags: tags}
}

func (a *AWS) put(name string, v awsVersion, tags map[string]string) *awsSecret {
	s := a.secrets[name]
	if s == nil {
		s = &awsSecret{tags: map[string]string{}}
		a.secrets[name] = s
	}
	for key, value := range tags {
		s.tags[key] = value
	}
	for i := range s.versions {
		s.versions[i].stage = ""
		if i == len(s.versions)-1 {
			s.versions[i].stage = "AWSPREVIOUS"
		}
	}
	v.stage = "AWSCURRENT"
	s.versions = append(s.versions, v)
	return s
}

// ServeHTTP answers a request whose signature is right.
func (a *AWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	target, form := r.Header.Get("X-Amz-Target"), strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	service := map[string]string{"secretsmanager": "secretsmanager", "AmazonSSM": "ssm"}[strings.Split(target, ".")[0]]
	if form {
		r.Body = io.NopCloser(bytes.NewReader(body))
		_ = r.ParseForm()
		service = "sts"
	}
	web := form && r.Form.Get("Action") == "AssumeRoleWithWebIdentity"
	if code := a.verify(r, body, service); code != "" && !web {
		a.fail(w, form, code, "The security token s3cret is invalid.")
		return
	}
	_, operation, _ := strings.Cut(target, ".")
	switch {
	case a.Code != "":
		a.fail(w, form, a.Code, "s3cret is not accepted.")
	case form:
		a.assume(w, r, web)
	case a.Deny[operation]:
		a.fail(w, false, "AccessDeniedException", "User s3cret is not authorized to perform "+operation)
	default:
		var in awsInput
		if json.Unmarshal(body, &in) != nil || !a.operate(w, service+"."+operation, in) {
			a.fail(w, false, "ValidationException", "s3cret is not valid.")
		}
	}
}

// verify signs a request again, as the service does.
func (a *AWS) verify(r *http.Request, body []byte, service string) string {
	parts := map[string]string{}
	for _, part := range strings.Split(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "), ", ") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || parts["Signature"] == "" {
		return "MissingAuthenticationTokenException"
	}
	keys := aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: a.Secret, SessionToken: a.Session}
	if strings.HasPrefix(parts["Credential"], role.AccessKeyID) {
		keys = role
	}
	if !strings.HasPrefix(parts["Credential"], keys.AccessKeyID+"/") || r.Header.Get("X-Amz-Security-Token") != keys.SessionToken {
		return "UnrecognizedClientException"
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return "ValidationException"
	}
	for _, name := range strings.Split(parts["SignedHeaders"], ";") {
		if values := r.Header.Values(name); len(values) > 0 && !strings.HasPrefix(name, "x-amz-date") && name != "content-length" {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(r.Context(), keys, again, hex.EncodeToString(sum[:]), service, AWSRegion, at); err != nil || again.Header.Get("Authorization") != r.Header.Get("Authorization") {
		return "InvalidSignatureException"
	}
	return ""
}

func (a *AWS) fail(w http.ResponseWriter, form bool, code, message string) {
	if form {
		w.Header().Set("Content-Type", "text/xml")
		w.WriteHeader(http.StatusForbidden)
		_ = xml.NewEncoder(w).Encode(struct {
			XMLName xml.Name `xml:"ErrorResponse"`
			Type    string   `xml:"Error>Type"`
			Code    string   `xml:"Error>Code"`
			Message string   `xml:"Error>Message"`
		}{Type: "Sender", Code: code, Message: message})
		return
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message})
}

// assume issues credentials for the role.
func (a *AWS) assume(w http.ResponseWriter, r *http.Request, web bool) {
	if r.Form.Get("RoleArn") != a.Role || (web && r.Form.Get("WebIdentityToken") != a.Assertion) || (!web && r.Form.Get("ExternalId") != a.ExternalID) {
		a.fail(w, true, "AccessDenied", "s3cret is not authorized to perform sts:AssumeRole")
		return
	}
	a.Logins++
	action := r.Form.Get("Action")
	type result struct {
		XMLName         xml.Name
		AccessKeyID     string    `xml:"Credentials>AccessKeyId"`
		SecretAccessKey string    `xml:"Credentials>SecretAccessKey"`
		SessionToken    string    `xml:"Credentials>SessionToken"`
		Expiration      time.Time `xml:"Credentials>Expiration"`
	}
	w.Header().Set("Content-Type", "text/xml")
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name
		Result  result
	}{xml.Name{Local: action + "Response"}, result{xml.Name{Local: action + "Result"}, role.AccessKeyID, role.SecretAccessKey, role.SessionToken, time.Now().Add(time.Hour).UTC()}})
}
