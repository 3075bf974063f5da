package schema

import (
	"encoding/base64"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// validFormat reports whether a text has a format, and names the format. A format that is not listed is not validated, as
// the API server does it.
func validFormat(format, text string) (name string, ok bool) {
	switch format {
	case "":
		return "", true
	case "byte":
		return "base64", isBase64(text)
	case "date-time", "datetime":
		_, err := time.Parse(time.RFC3339Nano, text)
		return "a time such as 2030-01-31T12:00:00Z", err == nil
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return "a date such as 2030-01-31", err == nil
	case "duration":
		return "a duration such as 5m30s", isDuration(text)
	case "quantity":
		return `a quantity such as "500m" or "1Gi"`, isQuantity(text)
	}
	return validAddress(format, text)
}

// validAddress has the formats of networks.
func validAddress(format, text string) (name string, ok bool) {
	switch format {
	case "ipv4":
		address, err := netip.ParseAddr(text)
		return "an IPv4 address", err == nil && address.Is4()
	case "ipv6":
		address, err := netip.ParseAddr(text)
		return "an IPv6 address", err == nil && address.Is6()
	case "cidr":
		_, _, err := net.ParseCIDR(text)
		return "a range of addresses such as 10.0.0.0/8", err == nil
	case "mac":
		_, err := net.ParseMAC(text)
		return "a MAC address", err == nil
	case "uri":
		_, err := url.ParseRequestURI(text)
		return "a URI", err == nil
	case "email":
		_, err := mail.ParseAddress(text)
		return "an e-mail address", err == nil
	case "hostname":
		return "a host name", isHostname(text)
	case "uuid", "uuid3", "uuid4", "uuid5":
		return "a UUID", isUUID(text)
	}
	return "", true
}

// isBase64 accepts line breaks, as the API server's decoder does.
func isBase64(text string) bool {
	_, err := base64.StdEncoding.DecodeString(text)
	return err == nil
}

// spelled are durations with words for their units, which definitions allow as well.
var spelled = regexp.MustCompile(`^\d+ ?(ns|nano(second)?s?|us|µs|micros?(econds?)?|ms|milli(second)?s?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$`)

func isDuration(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || spelled.MatchString(strings.ToLower(text))
}

func isHostname(text string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(text, "."), ".") {
		if !isLabel(strings.ToLower(label)) {
			return false
		}
	}
	return len(text) <= 255
}

func isUUID(text string) bool {
	digits := strings.ReplaceAll(text, "-", "")
	return len(digits) == 32 && strings.Trim(strings.ToLower(digits), "0123456789abcdef") == ""
}

// isQuantity reports whether a text is an amount of a resource: a number with a suffix of powers of ten or two, or an exponent.
func isQuantity(text string) bool {
	rest := strings.TrimLeft(text, "+-")
	if len(text)-len(rest) > 1 {
		return false
	}
	whole := strings.TrimLeft(rest, "0123456789")
	digits := len(rest) - len(whole)
	if fraction, ok := strings.CutPrefix(whole, "."); ok {
		whole = strings.TrimLeft(fraction, "0123456789")
		digits += len(fraction) - len(whole)
	}
	if digits == 0 {
		return false
	}
	switch whole {
	case "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei":
		return true
	}
	exponent := strings.TrimPrefix(strings.TrimPrefix(whole[1:], "+"), "-")
	return (whole[0] == 'e' || whole[0] == 'E') && exponent != "" && strings.Trim(exponent, "0123456789") == "" && len(exponent) < 4
}
