package chart

import (
	"crypto/sha1" //nolint:gosec // cdk8s derives names from it; nothing depends on its strength
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	// maxName is the length of a DNS label, and maxCronJob that of a CronJob, whose Jobs get a suffix of eleven.
	maxName, maxCronJob = 63, 52
	// hashLength is that of the hash at the end of a name.
	hashLength = 8
)

// generate is the name that an object of a kind gets from its place; it is empty if no character of the path can be in a name.
func (n *Node) generate(kind string) string {
	limit := maxName
	if kind == "CronJob" {
		limit = maxCronJob
	}
	components := n.Components()
	if n.app.settings.Names == CDK8sNames {
		hash := ""
		if c := n.Chart(); c == nil || !c.props.NoNameHashes {
			hash = address(components)[:hashLength]
		}
		return cdk8sName(components, hash, limit)
	}
	return plainName(components, limit)
}

// DNSLabel is a name of at most limit characters that is made of the path, as those of objects are: for what is not an object, such as a
// release of Helm.
func (n *Node) DNSLabel(limit int) string {
	components := n.Components()
	if n.app.settings.Names == CDK8sNames {
		return cdk8sName(components, address(components)[:hashLength], limit)
	}
	return plainName(components, limit)
}

var notInName = regexp.MustCompile(`[^0-9a-z]+`)

// plainName joins components. Of a path that is too long the end is kept, as it says more, with a hash of the whole.
func plainName(components []string, limit int) string {
	var parts []string
	for _, one := range components {
		if part := strings.Trim(notInName.ReplaceAllString(strings.ToLower(one), "-"), "-"); part != "" {
			parts = append(parts, part)
		}
	}
	joined := strings.Join(parts, "-")
	if len(joined) <= limit {
		return joined
	}
	keep := limit - hashLength - 1
	return strings.TrimLeft(joined[len(joined)-keep:], "-") + "-" + address(components)[:hashLength]
}

// address is the hash by which cdk8s tells places apart; the App is one of them, without a name.
func address(components []string) string {
	sum := sha1.New() //nolint:gosec // see above
	sum.Write([]byte("\n"))
	for _, one := range components {
		if one != "Default" {
			sum.Write([]byte(one + "\n"))
		}
	}
	return "c8" + hex.EncodeToString(sum.Sum(nil))
}

var (
	isLabel    = regexp.MustCompile(`^[0-9a-z-]+$`)
	notInCDK8s = regexp.MustCompile(`[^0-9a-zA-Z-_.]`)
)

// cdk8sName is the name that cdk8s 2 gives to a path, to the letter: "." and "_" stay in it although a DNS label has neither.
func cdk8sName(components []string, hash string, limit int) string {
	if len(components) == 1 && isLabel.MatchString(components[0]) && len(components[0]) <= limit {
		return components[0]
	}
	var parts []string
	for _, one := range components {
		part := notInCDK8s.ReplaceAllString(strings.ToLower(one), "")
		parts = append(parts, part[:min(len(part), limit)])
	}
	if hash != "" {
		parts = append(parts, hash)
	}
	var reversed []string
	for i := len(parts) - 1; i >= 0; i-- {
		if i == len(parts)-1 || parts[i] != parts[i+1] {
			reversed = append(reversed, parts[i])
		}
	}
	joined := strings.Join(reversed, "/")
	var kept []string
	cut := strings.Split(joined[:min(len(joined), limit)], "/")
	for i := len(cut) - 1; i >= 0; i-- {
		for word := range strings.SplitSeq(cut[i], "-") {
			if word != "" && word != "resource" && word != "default" {
				kept = append(kept, word)
			}
		}
	}
	return strings.Join(kept, "-")
}
