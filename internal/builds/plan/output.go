package plan

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/build/v1alpha1"
)

// upToDate reports whether all outputs are of the digest. What no Secret shows is taken from what was recorded.
func (p *pass) upToDate() bool {
	if len(p.build.Spec.Outputs) == 0 {
		return p.status.LastSuccess != nil && p.status.LastSuccess.Digest == p.want
	}
	for i := range p.build.Spec.Outputs {
		o := &p.build.Spec.Outputs[i].Secret
		s, exists := p.facts.Secrets[o.Name]
		if !exists || !p.written(o, s, p.want) {
			return false
		}
	}
	return true
}

// written reports whether a Secret is an output of a digest, as it is declared.
func (p *pass) written(o *v1alpha1.SecretOutput, s Secret, digest string) bool {
	return !s.Empty && s.Of == p.name() && s.Annotations[v1alpha1.AnnotationDigest] == digest &&
		s.Annotations[v1alpha1.AnnotationOutputs] == declaredAs(o)
}

// finish writes what a run gave, all of it or nothing.
func (p *pass) finish(a *v1alpha1.ActiveRun, r *Run) {
	tags := p.tags(a, r)
	image, ready := p.register(a, r, tags)
	if !ready {
		return
	}
	var writes []Action
	for i := range p.build.Spec.Outputs {
		o := &p.build.Spec.Outputs[i].Secret
		s, exists := p.facts.Secrets[o.Name]
		if exists && p.written(o, s, a.Digest) && s.Annotations[v1alpha1.AnnotationRun] == r.Name {
			continue
		}
		data, reason, err := p.data(o, tags)
		switch {
		case exists && s.Of != "" && s.Of != p.name():
			reason, err = OutputInUse, fmt.Errorf("Secret %s is an output of the Build %s", o.Name, s.Of)
		case err == nil && p.byRun(o) && (!exists || s.Empty):
			reason, err = OutputMissing, fmt.Errorf("the run succeeded, and Secret %s, which it is to write, does not exist or is empty", o.Name)
		}
		if err != nil {
			p.failed(a, reason, err.Error(), p.facts.Now)
			return
		}
		writes = append(writes, Action{Do: WriteSecret, Name: o.Name, UID: s.UID, Object: p.secret(o, a, r, data)})
	}
	if len(writes) > 0 {
		p.doing = "the outputs of run " + a.Run + " are being written"
		p.actions = append(p.actions, writes...)
		return
	}
	p.succeed(a, r, image)
}

// byRun reports whether the run writes a Secret itself.
func (p *pass) byRun(o *v1alpha1.SecretOutput) bool {
	return len(o.Keys) == 0 && p.build.Spec.Image == nil
}

// succeed records the outputs of a run, which are all there.
func (p *pass) succeed(a *v1alpha1.ActiveRun, r *Run, image *v1alpha1.BuiltImage) {
	p.status.Active = nil
	p.status.LastSuccess = &v1alpha1.Success{
		Digest: a.Digest, Run: r.Name, RunUID: r.UID, Time: metav1.NewTime(r.FinishedAt.UTC().Truncate(time.Second)),
		Outputs: p.observed(), Image: image,
	}
	if a.Digest == p.want {
		p.status.Failures, p.status.NextAttemptTime, p.status.LastFailure = 0, nil, nil
	}
}

// record keeps what is recorded of the outputs as they are. Those of a Build that was created again are recorded by their provenance.
func (p *pass) record() {
	p.status.Failures, p.status.NextAttemptTime = 0, nil
	last := p.status.LastSuccess
	if len(p.build.Spec.Outputs) == 0 {
		return
	}
	from := p.facts.Secrets[p.build.Spec.Outputs[0].Secret.Name].Annotations
	if last == nil || last.Digest != p.want || last.Run != from[v1alpha1.AnnotationRun] {
		last = &v1alpha1.Success{
			Digest: p.want, Run: from[v1alpha1.AnnotationRun], RunUID: types.UID(from[v1alpha1.AnnotationRunUID]), Image: p.builtImage(from[v1alpha1.AnnotationRun]),
		}
		if at, err := time.Parse(time.RFC3339, from[v1alpha1.AnnotationBuiltAt]); err == nil {
			last.Time = metav1.NewTime(at)
		}
		p.status.LastSuccess = last
	}
	last.Outputs = p.observed()
}

// observed are the outputs as they are.
func (p *pass) observed() []v1alpha1.WrittenOutput {
	var all []v1alpha1.WrittenOutput
	for i := range p.build.Spec.Outputs {
		o := &p.build.Spec.Outputs[i].Secret
		s := p.facts.Secrets[o.Name]
		one := v1alpha1.WrittenOutput{Secret: o.Name, UID: s.UID, Digest: s.Digest}
		for _, key := range o.Public {
			if value, has := s.Values[key]; has {
				if one.Values == nil {
					one.Values = map[string]string{}
				}
				one.Values[key] = value
			}
		}
		all = append(all, one)
	}
	return all
}

// secret is a Secret as it is applied: all values at once, with where they are from. Of one that the run writes, only the latter.
func (p *pass) secret(o *v1alpha1.SecretOutput, a *v1alpha1.ActiveRun, r *Run, data map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetNamespace(p.build.Namespace)
	u.SetName(o.Name)
	u.SetLabels(map[string]string{v1alpha1.LabelBuild: p.build.Name})
	u.SetAnnotations(map[string]string{
		v1alpha1.AnnotationDigest: a.Digest, v1alpha1.AnnotationEpoch: strconv.FormatInt(a.Epoch, 10), v1alpha1.AnnotationOutputs: declaredAs(o),
		v1alpha1.AnnotationRun: r.Name, v1alpha1.AnnotationRunUID: string(r.UID), v1alpha1.AnnotationBuiltAt: r.FinishedAt.UTC().Format(time.RFC3339),
	})
	if data != nil {
		u.Object["data"] = data
	}
	return u
}

// data are the values of a Secret; none where the run writes it.
func (p *pass) data(o *v1alpha1.SecretOutput, tags map[string]string) (data map[string]any, reason string, err error) {
	keys := o.Keys
	if len(keys) == 0 && p.build.Spec.Image != nil {
		keys = imageKeys()
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		value, err := replace(keys[key], tags)
		if err != nil {
			return nil, OutputMissing, fmt.Errorf("key %s of Secret %s: %w", key, o.Name, err)
		}
		if data == nil {
			data = map[string]any{}
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return data, "", nil
}

// tags are the values that declarations of outputs may name.
func (p *pass) tags(a *v1alpha1.ActiveRun, r *Run) map[string]string {
	tags := map[string]string{"digest": a.Digest, "run.name": r.Name, "run.finishedAt": r.FinishedAt.UTC().Format(time.RFC3339)}
	for name, value := range r.Outputs {
		tags["outputs.parameters."+name] = value
	}
	for name, value := range r.Arguments {
		tags["inputs.parameters."+name] = value
	}
	return tags
}

// tag matches what is replaced.
const tag = `\{\{\s*([^{}]*?)\s*\}\}`

// replace replaces the tags of a text. One that has no value is an error.
func replace(text string, tags map[string]string) (string, error) {
	var missing []string
	replaced := regexp.MustCompile(tag).ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSpace(found[2 : len(found)-2])
		value, known := tags[name]
		if !known {
			missing = append(missing, "{{"+name+"}}")
		}
		return value
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("%s has no value", strings.Join(missing, ", "))
	}
	return replaced, nil
}
