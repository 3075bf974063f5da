package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// shortDigest is how much of a digest is in a name.
const shortDigest = 8

// Short is a digest as it is in names and messages.
func Short(digest string) string {
	if len(digest) < shortDigest {
		return digest
	}
	return digest[:shortDigest]
}

// RunName is the name of a run, which follows from what it is of.
func RunName(build, digest string, attempt int64) string {
	return build + "-" + Short(digest) + "-" + strconv.FormatInt(attempt, 10)
}

// digest computes what the outputs are to be of.
func (p *pass) digest() {
	if p.facts.Missing != "" {
		return
	}
	inputs := p.facts.Inputs
	if inputs == nil {
		inputs = []Input{}
	}
	p.want = sum(map[string]any{
		"workflow": p.facts.Workflow, "library": p.facts.Library, "inputs": inputs, "epoch": p.status.RebuildEpoch,
		"image": p.imageInputs(),
	})
	if p.want == p.status.ObservedDigest {
		return
	}
	p.status.ObservedDigest = p.want
	p.status.Attempts, p.status.Failures, p.status.NextAttemptTime = 0, 0, nil
}

// imageInputs are what an image is registered from: another region or URL is another image.
func (p *pass) imageInputs() any {
	i := p.build.Spec.Image
	if i == nil {
		return nil
	}
	return map[string]any{"apiVersion": imageAPIVersion(i), "url": i.URL, "regions": i.Regions, "prefix": i.NamePrefix}
}

// sum is the digest of a value as JSON has it, with the keys of maps in order.
func sum(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		// Values are from JSON; what it cannot have is still told apart.
		data = fmt.Append(nil, value)
	}
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

// SecretDigest is the digest of values that may be secret.
func SecretDigest(values map[string][]byte) string { return sum(values) }

// declaredAs is the digest of the declaration of an output: written by another one, it is written again.
func declaredAs(o *v1alpha1.SecretOutput) string {
	public := slices.Clone(o.Public)
	slices.Sort(public)
	return sum(map[string]any{"keys": o.Keys, "public": public})[:16]
}

// Reference names a template by which a workflow goes on, or starts.
type Reference struct {
	Name    string
	Cluster bool
}

// String is how a template is called.
func (r Reference) String() string {
	if r.Cluster {
		return "ClusterWorkflowTemplate " + r.Name
	}
	return "WorkflowTemplate " + r.Name
}

// References are the templates that a spec refers to, at any depth.
func References(spec any) []Reference {
	var all []Reference
	add := func(r Reference) {
		if r.Name != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	switch v := spec.(type) {
	case map[string]any:
		for _, key := range []string{"templateRef", "workflowTemplateRef"} {
			if ref, is := v[key].(map[string]any); is {
				name, _ := ref["name"].(string)
				cluster, _ := ref["clusterScope"].(bool)
				add(Reference{name, cluster})
			}
		}
		for _, inner := range v {
			for _, r := range References(inner) {
				add(r)
			}
		}
	case []any:
		for _, inner := range v {
			for _, r := range References(inner) {
				add(r)
			}
		}
	}
	slices.SortFunc(all, func(a, b Reference) int { return compare(a.String(), b.String()) })
	return all
}
