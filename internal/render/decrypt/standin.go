package decrypt

import (
	"encoding/base64"
	"regexp"

	"github.com/getsops/sops/v3"
)

// WithStandIn returns keys that replace each value that they cannot decrypt by a stand-in; mark
// makes it from the key that the value has. What can be decrypted is. An object with such values gets a
// label, whose value is "values", unless the label is empty.
func (k *Keys) WithStandIn(mark func(key string) string, label string) *Keys {
	out := &Keys{}
	if k != nil {
		*out = *k
	}
	out.standIn, out.standInLabel = mark, label
	out.digest += " with stand-ins"
	return out
}

// encrypted is what SOPS writes for a value; the group is the type that it has in clear.
var encrypted = regexp.MustCompile(`^ENC\[AES256_GCM,.*type:(\w+)\]$`)

// markTree replaces the values of a tree that are encrypted.
func (k *Keys) markTree(tree *sops.Tree) {
	for i := range tree.Branches {
		branch := tree.Branches[i]
		branch = k.markBranch(branch, k.standIn, kindOf(branch) == "Secret")
		if kindOf(branch) != "" && k.standInLabel != "" {
			branch = labelled(branch, k.standInLabel)
		}
		tree.Branches[i] = branch
	}
}

// labelled adds a label to an object.
func labelled(object sops.TreeBranch, label string) sops.TreeBranch {
	return within(object, "metadata", func(metadata sops.TreeBranch) sops.TreeBranch {
		return within(metadata, "labels", func(labels sops.TreeBranch) sops.TreeBranch {
			return append(labels, sops.TreeItem{Key: label, Value: "values"})
		})
	})
}

// within changes what a key holds, which is there afterwards.
func within(branch sops.TreeBranch, key string, change func(sops.TreeBranch) sops.TreeBranch) sops.TreeBranch {
	for i, item := range branch {
		if item.Key != key {
			continue
		}
		if below, ok := item.Value.(sops.TreeBranch); ok {
			branch[i].Value = change(below)
		}
		return branch
	}
	return append(branch, sops.TreeItem{Key: key, Value: change(nil)})
}

func kindOf(branch sops.TreeBranch) string {
	for _, item := range branch {
		if item.Key == "kind" {
			kind, _ := item.Value.(string)
			return kind
		}
	}
	return ""
}

// markBranch marks one level; the values of a Secret's data are in base64.
func (k *Keys) markBranch(branch sops.TreeBranch, mark func(string) string, secret bool) sops.TreeBranch {
	for i, item := range branch {
		key, _ := item.Key.(string)
		below := mark
		if secret && key == "data" {
			below = func(key string) string { return base64.StdEncoding.EncodeToString([]byte(mark(key))) }
		}
		branch[i].Value = k.markValue(key, item.Value, below)
	}
	return branch
}

func (k *Keys) markValue(key string, value any, mark func(string) string) any {
	switch v := value.(type) {
	case sops.TreeBranch:
		return k.markBranch(v, mark, false)
	case []any:
		for i := range v {
			v[i] = k.markValue(key, v[i], mark)
		}
		return v
	case string:
		found := encrypted.FindStringSubmatch(v)
		if found == nil {
			return v
		}
		if plain, typed := plainOf[found[1]]; typed {
			return plain
		}
		return mark(key)
	default:
		return value
	}
}

// plainOf are the stand-ins of values that are no text.
var plainOf = map[string]any{"int": 0, "float": 0.0, "bool": false}
