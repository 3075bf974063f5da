package aws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// metadata is the spec of a PushSecretMetadata for AWS.
type metadata struct {
	Tags        map[string]string `json:"tags"`
	Description string            `json:"description"`
	// KMSKeyID is the key that encrypts.
	KMSKeyID string `json:"kmsKeyID"`
	// SecretPushFormat is string or binary, for Secrets Manager; binary is the default.
	SecretPushFormat string `json:"secretPushFormat"`
	// SecretType is String, StringList or SecureString, for Parameter Store; String is the default.
	SecretType string `json:"secretType"`
	// EncodeAsDecoded has the values of a whole Secret be text in Parameter Store; otherwise they are base64, as in the Secret.
	EncodeAsDecoded bool `json:"encodeAsDecoded"`
	// Tier is Standard or Advanced, for Parameter Store.
	Tier struct {
		Type     string          `json:"type"`
		Policies json.RawMessage `json:"policies"`
	} `json:"tier"`
}

// readMetadata reads metadata, which hold no secrets.
func readMetadata(of string, text json.RawMessage) (metadata, error) {
	var object struct{ Spec json.RawMessage }
	var spec metadata
	if len(text) > 0 {
		if err := json.Unmarshal(text, &object); err != nil {
			return spec, fmt.Errorf("%s: its metadata is not a PushSecretMetadata: %w", of, err)
		}
	}
	if len(object.Spec) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(object.Spec))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&spec); err != nil {
			return spec, fmt.Errorf("%s: the spec of its metadata: %w", of, err)
		}
	}
	if _, has := spec.Tags[managedBy]; has {
		return spec, fmt.Errorf("%s: its metadata has the tag %s, which is set for every secret that is pushed", of, managedBy)
	}
	switch spec.SecretPushFormat {
	case "", "string", "binary":
	default:
		return spec, fmt.Errorf("%s: secretPushFormat %q of its metadata is neither string nor binary", of, spec.SecretPushFormat)
	}
	switch spec.SecretType {
	case "", "String", "StringList", "SecureString":
	default:
		return spec, fmt.Errorf("%s: secretType %q of its metadata is not one of String, StringList, SecureString", of, spec.SecretType)
	}
	switch spec.Tier.Type {
	case "", "Standard", "Advanced":
	default:
		return spec, fmt.Errorf("%s: tier %q of its metadata is neither Standard nor Advanced", of, spec.Tier.Type)
	}
	return spec, nil
}

// all are the tags with that of the manager.
func (m metadata) all() map[string]string {
	tags := map[string]string{}
	maps.Copy(tags, m.Tags)
	tags[managedBy] = manager
	return tags
}

// encoded is a JSON object of strings with its values in base64.
func encoded(of string, object []byte) ([]byte, error) {
	var texts map[string]string
	if json.Unmarshal(object, &texts) != nil {
		return nil, fmt.Errorf("%s: the whole Secret is not a JSON object of strings", of)
	}
	values := make(map[string][]byte, len(texts))
	for key, text := range texts {
		values[key] = []byte(text)
	}
	return json.Marshal(values)
}
