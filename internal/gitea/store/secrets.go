package store

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// rounds are those of the hash of passwords, as OWASP recommends for PBKDF2 with SHA-256. A password of randomDigits hexadecimal digits
// was made by chance: guessing it is hopeless however fast its hash is, and it takes randomRounds.
const (
	rounds       = 600_000
	randomDigits = 40
	randomRounds = 1_000
)

// roundsOf are the rounds of the hash of a password.
func roundsOf(password string) int {
	if _, err := hex.DecodeString(password); err == nil && len(password) >= randomDigits {
		return randomRounds
	}
	return rounds
}

// HashPassword hashes a password with a salt.
func HashPassword(password string) (string, error) {
	rounds := roundsOf(password)
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	sum, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("pbkdf2-sha256$%d$%s$%s", rounds, base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// CheckPassword reports whether a password has a hash. It takes a tenth of a second or so, by design.
func CheckPassword(hash, password string) bool {
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[0] != "pbkdf2-sha256" {
		return false
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n < 1 || n > 10*rounds {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[3])
	if err != nil || len(want) != sha256.Size {
		return false
	}
	sum, err := pbkdf2.Key(sha256.New, password, salt, n, sha256.Size)
	return err == nil && subtle.ConstantTimeCompare(sum, want) == 1
}

// NewToken makes an access token, of 40 hexadecimal characters as Gitea's, and its hash.
func NewToken() (token, hash string, err error) {
	random := make([]byte, 20)
	if _, err := rand.Read(random); err != nil {
		return "", "", err
	}
	token = hex.EncodeToString(random)
	return token, HashToken(token), nil
}

// HashToken hashes a token, which is random and needs no salt.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// close encrypts the secrets of a hook, bound to its ID.
func (s *Store) close(h *Hook) error {
	h.Sealed = nil
	if s.seal == nil || h.Secrets == (Secrets{}) {
		return nil
	}
	plain, err := json.Marshal(h.Secrets)
	if err != nil {
		return err
	}
	nonce := make([]byte, s.seal.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	h.Sealed = s.seal.Seal(nonce, nonce, plain, bound(h))
	return nil
}

// open decrypts them.
func (s *Store) open(h *Hook) error {
	if len(h.Sealed) == 0 {
		return nil
	}
	failed := fmt.Errorf("hook %d: its secrets cannot be decrypted; start with the key that they were stored with", h.ID)
	if s.seal == nil || len(h.Sealed) < s.seal.NonceSize() {
		return failed
	}
	n := s.seal.NonceSize()
	plain, err := s.seal.Open(nil, h.Sealed[:n], h.Sealed[n:], bound(h))
	if err != nil {
		return errors.Join(failed, err)
	}
	return json.Unmarshal(plain, &h.Secrets)
}

func bound(h *Hook) []byte { return []byte("hook " + strconv.FormatInt(h.ID, 10)) }
