package webhook

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// signature is a header that signs a body by the token.
type signature struct {
	header string
	// algorithm is by which it does; when it is empty the header says so, as ALGORITHM=HEX.
	algorithm string
}

var algorithms = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}

// verify reports what is wrong with the value of the header.
func (s signature) verify(value string, body []byte, token string) error {
	algorithm, digits := s.algorithm, value
	if algorithm == "" {
		algorithm, digits, _ = strings.Cut(value, "=")
	}
	made, known := algorithms[algorithm]
	got, err := hex.DecodeString(digits)
	if !known || err != nil {
		return fmt.Errorf("its header %s is not a signature", s.header)
	}
	mac := hmac.New(made, []byte(token))
	mac.Write(body)
	if !hmac.Equal(got, mac.Sum(nil)) {
		return fmt.Errorf("the signature in its header %s does not match its body and the token", s.header)
	}
	return nil
}

// same compares without telling by the time that it takes how much is the same, or how long the token is.
func same(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
