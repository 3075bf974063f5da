package kinds

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParseNumber reads the external name of a Droplet, an image or a key: the number that DigitalOcean gave it. Empty is none.
func ParseNumber(name string) (int, error) {
	if name == "" {
		return 0, nil
	}
	id, err := strconv.Atoi(name)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("external name %q: not the number of an object of DigitalOcean", name)
	}
	return id, nil
}

// ParseKeyName reads the external name of a key: its number, or its fingerprint.
func ParseKeyName(name string) (id int, fingerprint string, err error) {
	if strings.Count(name, ":") == 15 {
		return 0, name, nil
	}
	id, err = ParseNumber(name)
	return id, "", err
}

// ParseAddress reads the external name of a reserved IP: its address. Empty is none.
func ParseAddress(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	address, err := netip.ParseAddr(name)
	if err != nil || !address.Is4() {
		return "", fmt.Errorf("external name %q: not an IPv4 address", name)
	}
	return address.String(), nil
}

// Unnamed reports whether an external name is not one that DigitalOcean gave: Crossplane sets that of a new resource to the name
// of the resource, unless its provider says otherwise.
func Unnamed(externalName, resourceName string) bool {
	return externalName == "" || externalName == resourceName
}
