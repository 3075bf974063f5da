package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Password generates a password.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories={external-secrets,external-secrets-generators}
type Password struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec is what the password is made of.
	// +optional
	Spec PasswordSpec `json:"spec,omitzero"`
}

// PasswordList is a list of Passwords.
//
// +kubebuilder:object:root=true
type PasswordList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Password `json:"items"`
}

// PasswordSpec is what a password is made of.
type PasswordSpec struct {
	// Length is 24 by default.
	// +kubebuilder:default=24
	Length int `json:"length,omitempty"`
	// Digits are how many digits; none is a quarter.
	Digits *int `json:"digits,omitempty"`
	// Symbols are how many symbols; none is a quarter.
	Symbols *int `json:"symbols,omitempty"`
	// SymbolCharacters are the symbols.
	SymbolCharacters *string `json:"symbolCharacters,omitempty"`
	// NoUpper leaves upper case out.
	// +kubebuilder:default=false
	NoUpper bool `json:"noUpper"`
	// AllowRepeat lets a character occur twice.
	// +kubebuilder:default=false
	AllowRepeat bool `json:"allowRepeat"`
	// Encoding is raw by default.
	// +kubebuilder:validation:Enum=base64;base64url;base32;hex;raw
	// +kubebuilder:default=raw
	Encoding string `json:"encoding,omitempty"`
	// SecretKeys are the keys of several passwords; none is "password".
	SecretKeys []string `json:"secretKeys,omitempty"`
}

// UUID generates a UUID.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories={external-secrets,external-secrets-generators}
type UUID struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Spec has nothing in it.
	// +optional
	Spec *UUIDSpec `json:"spec,omitempty"`
}

// UUIDList is a list of UUIDs.
//
// +kubebuilder:object:root=true
type UUIDList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []UUID `json:"items"`
}

// UUIDSpec has nothing in it.
type UUIDSpec struct{}
