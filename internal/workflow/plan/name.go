package plan

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
)

// longest is how long the name of an object may be.
const longest = 253

// hash is the upstream's of a name.
func hash(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	return strconv.FormatUint(uint64(h.Sum32()), 10)
}

// NodeID is the ID of a node, from the names of the workflow and of the node.
func NodeID(workflow, node string) string {
	if workflow == node {
		return workflow
	}
	return workflow + "-" + hash(node)
}

// PodName is the name of the pod or process of a node.
func PodName(workflow, template, node string) string {
	if workflow == node {
		return workflow
	}
	prefix := workflow
	if template != "" {
		prefix += "-" + template
	}
	end := "-" + hash(node)
	if len(prefix)+len(end) > longest {
		prefix = strings.TrimRight(prefix[:longest-len(end)], "-.")
	}
	return prefix + end
}

// GeneratedName is the name of an object whose manifest has only the beginning of one. It follows from the workflow's UID as well,
// since another workflow of the same name has nodes with the same IDs, and so has one that is retried.
func GeneratedName(prefix, run, nodeID string) string {
	end := hash(run + "/" + nodeID)
	if len(prefix)+len(end) > longest {
		prefix = prefix[:longest-len(end)]
	}
	return prefix + end
}

// exitName is the name of the node of an exit handler.
func exitName(parent string) string { return parent + ".onExit" }

// hookName is the name of the node of a hook.
func hookName(parent, hook string) string { return parent + ".hooks." + hook }

// separator is between the name of steps or a graph and the one of a child.
var separator = regexp.MustCompile(`^(\[\d+\])?\.`)

// displayName is the part of a name after that of what it is part of.
func displayName(boundary, name string) string {
	return separator.ReplaceAllString(strings.TrimPrefix(name, boundary), "")
}
