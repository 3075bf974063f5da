package simulate

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

// words are what the name of a variable consists of: NODE_IP, node-ip and nodeIP are of the same two.
var words = regexp.MustCompile(`[A-Z]+s?(?:[^A-Za-z]|$)|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+`)

// The words by which a value is known: the last one of a name, or any of it for addresses.
var (
	addressWords  = []string{"ip", "ips", "ipv4", "vip", "lbip", "loadbalancerip", "clusterip", "nodeip", "externalip"}
	rangeWords    = []string{"cidr", "cidrs", "subnet", "subnets"}
	portWords     = []string{"port", "nodeport"}
	quantityWords = []string{"size", "capacity", "storage", "memory"}
)

// madeAddress is an address or a range that shaped makes, of the range for benchmarks, which is never routed.
var madeAddress = regexp.MustCompile(`^198\.18\.\d+\.\d+(?:/24)?$`)

// shaped is the value for a key by whose name it has a form; empty for all others.
func shaped(key string) string {
	var named []string
	for _, word := range words.FindAllString(key, -1) {
		named = append(named, strings.ToLower(strings.TrimRight(word, "_-. /")))
	}
	if len(named) == 0 {
		return ""
	}
	last := named[len(named)-1]
	is := func(known []string) bool {
		return slices.ContainsFunc(named, func(word string) bool { return slices.Contains(known, word) })
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	sum := h.Sum32()
	switch {
	case is(rangeWords):
		return fmt.Sprintf("198.18.%d.0/24", sum%250+1)
	case slices.Contains(portWords, last):
		// A Service may have it for its nodes.
		return fmt.Sprint(30000 + sum%2768)
	case is(addressWords):
		return fmt.Sprintf("198.18.%d.%d", sum>>8%250+1, sum%250+1)
	case slices.Contains(quantityWords, last):
		return "1Gi"
	case last == "cpu":
		return "1"
	}
	return ""
}
