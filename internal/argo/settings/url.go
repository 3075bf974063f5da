package settings

import (
	"net/url"
	"regexp"
	"strings"
)

// sshAddress is USER@HOST:PATH, with or without ssh:// before it.
var sshAddress = regexp.MustCompile(`^(ssh://)?([^/:]*?)@[^@]+$`)

// NormalURL is what addresses of the same repository have in common: case, ".git" at the end, and the way in which
// SSH is written make no difference. It is empty for what is no address.
func NormalURL(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if sshAddress.MatchString(address) && !strings.HasPrefix(address, "ssh://") {
		// The first colon stands before the path there, and would be read as one before a port.
		address = "ssh://" + strings.Replace(address, ":", "/", 1)
	}
	parsed, err := url.Parse(strings.TrimSuffix(address, ".git"))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(parsed.String(), "ssh://")
}

// SameURL is true for addresses of the same repository.
func SameURL(a, b string) bool {
	normal := NormalURL(a)
	return normal != "" && normal == NormalURL(b)
}
