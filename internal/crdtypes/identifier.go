package crdtypes

import (
	"strconv"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in upper case.
var initialisms = map[string]string{
	"acl": "ACL", "api": "API", "aws": "AWS", "ca": "CA", "cidr": "CIDR", "cpu": "CPU", "crd": "CRD", "css": "CSS", "dag": "DAG", "db": "DB", "dns": "DNS", "eof": "EOF",
	"fqdn": "FQDN", "gc": "GC", "gcp": "GCP", "gcs": "GCS", "gid": "GID", "hdfs": "HDFS", "html": "HTML", "http": "HTTP", "https": "HTTPS", "iam": "IAM", "id": "ID", "ids": "IDs",
	"ip": "IP", "ips": "IPs", "json": "JSON", "jwt": "JWT", "kms": "KMS", "ldap": "LDAP", "oci": "OCI", "oss": "OSS", "oidc": "OIDC", "os": "OS",
	"ram": "RAM", "rbac": "RBAC", "rpc": "RPC", "s3": "S3", "sla": "SLA", "sql": "SQL", "ssh": "SSH", "ssl": "SSL", "tcp": "TCP", "tls": "TLS",
	"ttl": "TTL", "tty": "TTY", "udp": "UDP", "ui": "UI", "uid": "UID", "uri": "URI", "url": "URL", "urls": "URLs", "utf8": "UTF8", "uuid": "UUID",
	"vm": "VM", "vpc": "VPC", "xml": "XML", "yaml": "YAML",
}

// exported is a name of a schema as Go writes it: "repoURL" is RepoURL, "podCIDR" is PodCIDR, "x-y" is XY. It is never empty, and begins
// with an upper-case letter of ASCII.
func exported(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if upper, ok := initialisms[strings.ToLower(word)]; ok {
			b.WriteString(upper)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	text := b.String()
	if text == "" || text[0] < 'A' || text[0] > 'Z' {
		return "X" + text
	}
	return text
}

// words are the words of a name: parts of letters and digits of ASCII, cut before upper-case letters that follow lower-case ones.
func words(name string) []string {
	var all []string
	start := -1
	flush := func(end int) {
		if start >= 0 && end > start {
			all = append(all, name[start:end])
		}
		start = -1
	}
	for i := range len(name) {
		c := name[i]
		if !isLetterOrDigit(c) {
			flush(i)
			continue
		}
		if start >= 0 && cutsBefore(name, i) {
			flush(i)
		}
		if start < 0 {
			start = i
		}
	}
	flush(len(name))
	return all
}

// cutsBefore reports whether a word begins at i: "repo|URL", "URL|Path", not "UR|L".
func cutsBefore(name string, i int) bool {
	if !isUpper(name[i]) {
		return false
	}
	if !isUpper(name[i-1]) {
		return true
	}
	return i+1 < len(name) && isLower(name[i+1]) && name[i+1:] != "s"
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isLetterOrDigit(c byte) bool { return isUpper(c) || isLower(c) || c >= '0' && c <= '9' }

// singular is the name of an element of a list.
func singular(name string) string {
	lower := strings.ToLower(name)
	switch {
	case len(name) < 4, strings.HasSuffix(lower, "ss"), strings.HasSuffix(lower, "us"), strings.HasSuffix(lower, "is"), !strings.HasSuffix(name, "s"):
		return name
	case strings.HasSuffix(lower, "ies"):
		return name[:len(name)-3] + "y"
	case strings.HasSuffix(lower, "sses"), strings.HasSuffix(lower, "xes"), strings.HasSuffix(lower, "ches"), strings.HasSuffix(lower, "shes"):
		return name[:len(name)-2]
	}
	return name[:len(name)-1]
}

// taggable reports whether a struct tag can name a field: encoding/json reads no others.
func taggable(name string) bool {
	if name == "" {
		return false
	}
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

// unique is a name that is not taken, which it takes.
func unique(taken map[string]bool, name string) string {
	for n, one := 2, name; ; n++ {
		if !taken[one] {
			taken[one] = true
			return one
		}
		one = name + strconv.Itoa(n)
	}
}
