package plan

import (
	"errors"
	"fmt"
	"path"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
)

// PersonActor begins the value of the annotation that names who created an object, for objects that a person had created.
const PersonActor = "kubernetes:"

// errNoSteps is why a control-flow Stage is not promoted to.
var errNoSteps = errors.New("the Stage declares no steps in promotionTemplate: it forwards Freight that is available to it, without Promotions")

// Promote is the Promotion of a Freight to a Stage as the template of the Stage says, with the steps of tasks written out. The entropy is that of its name.
func Promote(stage *v1alpha1.Stage, freight, actor string, find Tasks, at time.Time, entropy [10]byte) (*v1alpha1.Promotion, error) {
	if ControlFlow(stage) {
		return nil, errNoSteps
	}
	template := stage.Spec.PromotionTemplate
	steps, err := Inflate(template.Spec.Steps, find)
	if err != nil {
		return nil, fmt.Errorf("promotionTemplate: %w", err)
	}
	name, err := PromotionName(stage.Name, freight, at, entropy)
	if err != nil {
		return nil, err
	}
	return &v1alpha1.Promotion{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.PromotionKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: stage.Namespace, Labels: map[string]string{v1alpha1.StageLabel: stage.Name},
			Annotations:     map[string]string{v1alpha1.CreateActorAnnotation: actor},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(stage, v1alpha1.GroupVersion.WithKind(v1alpha1.StageKind))},
		},
		Spec: v1alpha1.PromotionSpec{Stage: stage.Name, Freight: freight, Vars: template.Spec.Vars, Steps: steps},
	}, nil
}

// Contents are what a Freight consists of, each in a few words: an image with its tag, a chart with its version, a commit.
func Contents(f v1alpha1.FreightReference) []string {
	var all []string
	for _, i := range f.Images {
		tag := ":" + i.Tag
		if i.Tag == "" {
			tag = "@" + i.Digest
		}
		all = append(all, path.Base(i.RepoURL)+tag)
	}
	for _, c := range f.Charts {
		name := c.Name
		if name == "" {
			name = path.Base(c.RepoURL)
		}
		all = append(all, name+" "+c.Version)
	}
	for _, c := range f.Commits {
		at := c.Tag
		if at == "" {
			at = c.ID[:min(len(c.ID), shortCommit)]
		}
		all = append(all, path.Base(NormalizeGit(c.RepoURL))+"@"+at)
	}
	for _, a := range f.Artifacts {
		all = append(all, a.SubscriptionName+" "+a.Version)
	}
	return all
}

// shortCommit is how many digits of a commit people are shown.
const shortCommit = 7
