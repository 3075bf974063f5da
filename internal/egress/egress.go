// Package egress decides which addresses requests may reach that a repository or an object of a tenant names: those of sources,
// stores, hooks, templates, kubeconfigs. Run says which rules hold in a process, and nothing else does.
//
// The decision is made for the address of each connection, after names have been resolved, so that a name cannot change its
// meaning between check and use. Rules are written as the setting webhook.ALLOWED_HOST_LIST of Gitea. The room refuses
// addresses by which clouds and links configure machines, unless one is listed by its number. Proxies of the environment, which
// connect to anything, are used only where a caller says so, and are not asked addresses that are refused. It knows nothing of what is sent.
package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// ErrRefused says that the rules do not permit an address.
var ErrRefused = errors.New("the address is not permitted")

// The lists of addresses that rules name, as in Gitea.
const (
	// External are public unicast addresses.
	External = "external"
	// Private are those of RFC 1918, RFC 4193 and RFC 6598.
	Private = "private"
	// Loopback are those of this machine.
	Loopback = "loopback"
	// All are External, Private and Loopback.
	All = "*"
)

// Rules are the addresses that may be reached. The zero value permits none.
type Rules struct {
	lists []string
	hosts []string
	nets  []netip.Prefix
	// served are servers that may be reached whatever the lists say.
	served *Served
	// hint ends what is said of an address that is refused.
	hint string
}

// IsZero reports whether nothing was said of any address.
func (r Rules) IsZero() bool {
	return len(r.lists) == 0 && len(r.hosts) == 0 && len(r.nets) == 0 && r.served == nil
}

// metadata are services by which clouds configure machines, outside the link-local networks.
var metadata = prefixes("fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32")

// special are networks that are neither public nor private: they mean this host, documentation, tests and what is reserved.
var special = prefixes("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"100::/64", "2001::/23", "2001:db8::/32")

// shared are the addresses of carriers behind translation (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// embedding are the networks of IPv6 whose addresses stand for one of IPv4, by the byte where that begins.
var embedding = map[netip.Prefix]int{netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2, netip.MustParsePrefix("::/96"): 12}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// Parse reads rules: names of lists, addresses, networks in CIDR notation, host names and patterns of them such as
// *.example.com, with commas between them.
func Parse(list string) (Rules, error) {
	var r Rules
	for item := range strings.SplitSeq(list, ",") {
		item = strings.ToLower(strings.TrimSpace(item))
		if item == "" {
			continue
		}
		if err := r.add(item); err != nil {
			return Rules{}, err
		}
	}
	return r, nil
}

func (r *Rules) add(item string) error {
	if slices.Contains([]string{External, Private, Loopback, All}, item) {
		r.lists = append(r.lists, item)
		return nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(item, "[]")); err == nil {
		addr = addr.Unmap()
		r.nets = append(r.nets, netip.PrefixFrom(addr, addr.BitLen()))
		return nil
	}
	if strings.Contains(item, "/") {
		net, err := netip.ParsePrefix(item)
		if err != nil {
			return fmt.Errorf("reading the allowed host list: %q is not a network in CIDR notation", item)
		}
		r.nets = append(r.nets, net.Masked())
		return nil
	}
	if _, err := path.Match(item, ""); err != nil || strings.ContainsAny(item, " :") {
		return fmt.Errorf("reading the allowed host list: %q is neither a list, an address, a network nor a host name", item)
	}
	r.hosts = append(r.hosts, item)
	return nil
}

// Permits returns an ErrRefused unless host, whose address is addr, may be reached at a port. A host that is permitted by its
// name may have any address but one that configures machines, or is that of a group.
func (r Rules) Permits(host, port string, addr netip.Addr) error {
	addr = effective(addr)
	if addr.IsMulticast() {
		return fmt.Errorf("%w: %s is the address of a group", ErrRefused, addr)
	}
	for _, net := range r.nets {
		if net.Contains(addr) && (net.IsSingleIP() || !configures(addr)) {
			return nil
		}
	}
	if configures(addr) {
		return fmt.Errorf("%w: %s configures machines", ErrRefused, addr)
	}
	if r.served.has(host, port) {
		return nil
	}
	for _, pattern := range r.hosts {
		if matches, _ := path.Match(pattern, strings.ToLower(host)); matches {
			return nil
		}
	}
	if kind := kindOf(addr); slices.Contains(r.lists, kind) || kind != "" && slices.Contains(r.lists, All) {
		return nil
	}
	return fmt.Errorf("%w: %s is not in the allowed host list%s", ErrRefused, addr, r.hint)
}

// effective is the address that is reached in the end: addresses of IPv6 may stand for one of IPv4.
func effective(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() || addr.IsLoopback() || addr.IsUnspecified() {
		return addr
	}
	for net, at := range embedding {
		if net.Contains(addr) {
			bytes := addr.As16()
			return netip.AddrFrom4([4]byte(bytes[at : at+4]))
		}
	}
	return addr
}

// configures reports whether an address belongs to a link or a cloud, and answers with the credentials of a machine.
func configures(addr netip.Addr) bool {
	return addr.IsLinkLocalUnicast() || slices.ContainsFunc(metadata, func(net netip.Prefix) bool { return net.Contains(addr) })
}

// kindOf is the list that an address belongs to; empty for one that no list has.
func kindOf(addr netip.Addr) string {
	switch {
	case addr.IsLoopback():
		return Loopback
	case addr.IsPrivate(), shared.Contains(addr):
		return Private
	case !addr.IsGlobalUnicast(), slices.ContainsFunc(special, func(net netip.Prefix) bool { return net.Contains(addr) }):
		return ""
	default:
		return External
	}
}
