package cloud

import (
	"net/http"
	"strings"

	"golang.org/x/crypto/ssh"
)

func showKey(k *Key) any {
	return object{"id": k.ID, "name": k.Name, "fingerprint": k.Fingerprint, "public_key": k.PublicKey}
}

func (x *exchange) listKeys() (int, any, error) {
	return page(x, "ssh_keys", seen(x, x.state.Keys), showKey)
}

// theKey is the key that the path names.
func (x *exchange) theKey() (*Key, error) {
	k := x.state.key(x.r.PathValue("key"))
	if k == nil || !k.visible(x) {
		return nil, notFound()
	}
	return k, nil
}

func (x *exchange) getKey() (int, any, error) {
	k, err := x.theKey()
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, object{"ssh_key": showKey(k)}, nil
}

func (x *exchange) createKey() (int, any, error) {
	var wanted struct {
		Name      string `json:"name"`
		PublicKey string `json:"public_key"`
	}
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	if wanted.Name == "" {
		return 0, nil, unprocessable("Name can't be blank")
	}
	parsed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(wanted.PublicKey))
	if err != nil {
		return 0, nil, unprocessable("Key invalid, key should be of the format `ssh-keytype key [comment]`")
	}
	fingerprint := ssh.FingerprintLegacyMD5(parsed)
	if x.state.key(fingerprint) != nil {
		return 0, nil, unprocessable("SSH Key is already in use on your account")
	}
	k := &Key{ID: x.state.number(), Name: wanted.Name, Fingerprint: fingerprint, PublicKey: strings.TrimSpace(wanted.PublicKey), Visible: x.later()}
	x.state.Keys = append(x.state.Keys, k)
	x.created("ssh_key", decimal(k.ID))
	return http.StatusCreated, object{"ssh_key": showKey(k)}, nil
}

func (x *exchange) renameKey() (int, any, error) {
	k, err := x.theKey()
	if err != nil {
		return 0, nil, err
	}
	var wanted struct {
		Name string `json:"name"`
	}
	if err := x.read(&wanted); err != nil {
		return 0, nil, err
	}
	if wanted.Name == "" {
		return 0, nil, unprocessable("Name can't be blank")
	}
	k.Name, x.done = wanted.Name, true
	return http.StatusOK, object{"ssh_key": showKey(k)}, nil
}

func (x *exchange) deleteKey() (int, any, error) {
	k, err := x.theKey()
	if err != nil {
		return 0, nil, err
	}
	x.state.Keys, x.done = without(x.state.Keys, k), true
	return http.StatusNoContent, nil, nil
}
