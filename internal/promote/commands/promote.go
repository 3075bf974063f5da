package commands

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/declared"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/engine"
	"github.com/headgate-dev/headgate/internal/promote/plan"
)

// manager is the field manager of what a person has created.
const manager = "headgate-cli"

// Promotes reports whether a kind is that of Stages.
func (Verbs) Promotes(gk schema.GroupKind) bool { return gk == kind(v1alpha1.StageKind) }

func resource(plural string) schema.GroupVersionResource {
	return v1alpha1.GroupVersion.WithResource(plural)
}

// Promote creates a Promotion of a Freight to a Stage, or aborts the one in progress, and follows it to its end.
func (Verbs) Promote(ctx context.Context, s dialect.Session, u *unstructured.Unstructured, o dialect.PromoteOptions) (reached bool, err error) {
	stage, err := declared.Read[v1alpha1.Stage](u)
	if err != nil {
		return false, fmt.Errorf("reading Stage %s/%s: %w", u.GetNamespace(), u.GetName(), err)
	}
	if o.Abort {
		return abort(ctx, s, stage, o.Wait)
	}
	freight, err := choose(ctx, s, stage, o.What)
	if err != nil {
		return false, err
	}
	if o.Approve {
		if err := approve(ctx, s, stage, freight); err != nil {
			return false, err
		}
	} else if available := plan.Available(stage, freight, time.Now()); !available.Now {
		return false, hint(fmt.Errorf("%s is not available to Stage %s/%s: %s", said(freight), stage.Namespace, stage.Name, available.Why),
			"headgate promote %s/%s --freight %s --approve", stage.Namespace, stage.Name, cmp.Or(aliasOf(freight), freight.Name))
	}
	promotion, err := create(ctx, s, stage, freight)
	if err != nil {
		return false, err
	}
	if !o.Wait {
		return true, s.Say(true, fmt.Sprintf("Promotion %s/%s of %s is requested", stage.Namespace, promotion.Name, said(freight)))
	}
	id := engine.UnitID{Group: v1alpha1.GroupVersion.Group, Kind: v1alpha1.PromotionKind, Namespace: promotion.Namespace, Name: promotion.Name}
	ended, err := s.Until(ctx, id, &followed{session: s, told: map[string]bool{}})
	if err != nil {
		return false, err
	}
	if promotion, err = declared.Read[v1alpha1.Promotion](ended); err != nil {
		return false, fmt.Errorf("reading Promotion %s/%s: %w", ended.GetNamespace(), ended.GetName(), err)
	}
	if promotion.Status.Phase != v1alpha1.PromotionSucceeded {
		return false, s.Say(false, fmt.Sprintf("Promotion %s/%s ended %s: %s", promotion.Namespace, promotion.Name, promotion.Status.Phase, oneLine(promotion.Status.Message)))
	}
	return true, s.Say(true, fmt.Sprintf("Stage %s/%s has %s", stage.Namespace, stage.Name, said(freight)))
}

// choose is the Freight that a person names: by its name, the first digits of that, or its alias.
func choose(ctx context.Context, s dialect.Session, stage *v1alpha1.Stage, named string) (*v1alpha1.Freight, error) {
	list, err := s.Client().Resource(resource("freights")).Namespace(stage.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Freight of Project %q: %w", stage.Namespace, err)
	}
	const least = 4
	var all, found []*v1alpha1.Freight
	for i := range list.Items {
		f, err := declared.Read[v1alpha1.Freight](&list.Items[i])
		if err != nil {
			return nil, fmt.Errorf("reading Freight %q: %w", list.Items[i].GetName(), err)
		}
		all = append(all, f)
		if named != "" && (f.Name == named || aliasOf(f) == named || len(named) >= least && strings.HasPrefix(f.Name, named)) {
			found = append(found, f)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	slices.SortFunc(all, func(a, b *v1alpha1.Freight) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	rows := [][]string{{"ALIAS", "NAME", "CONTENTS", "AVAILABLE"}}
	for _, f := range all {
		available := "yes"
		if a := plan.Available(stage, f, time.Now()); !a.Now {
			available = a.Why
		}
		rows = append(rows, []string{aliasOf(f), short(f.Name), strings.Join(plan.Contents(plan.Reference(f)), ", "), available})
	}
	if len(all) > 0 {
		if err := s.Table(rows); err != nil {
			return nil, fmt.Errorf("printing the Freight: %w", err)
		}
	}
	next := "headgate get warehouses -n " + stage.Namespace
	if len(all) > 0 {
		next = fmt.Sprintf("headgate promote %s/%s --freight %s", stage.Namespace, stage.Name, cmp.Or(aliasOf(all[0]), all[0].Name))
	}
	switch {
	case len(all) == 0:
		return nil, hint(fmt.Errorf("Project %q has no Freight", stage.Namespace), "%s", next)
	case named == "":
		return nil, hint(errors.New("--freight is missing: set the alias or the name of one of these"), "%s", next)
	case len(found) > 1:
		return nil, hint(fmt.Errorf("--freight %s: %d are called so", named, len(found)), "%s", next)
	}
	return nil, hint(fmt.Errorf("--freight %s: there is none in Project %q", named, stage.Namespace), "%s", next)
}

func hint(err error, format string, arguments ...any) error {
	return &dialect.HintError{Err: err, Next: fmt.Sprintf(format, arguments...)}
}

// said is a Freight for people.
func said(f *v1alpha1.Freight) string {
	return fmt.Sprintf("Freight %s (%s)", cmp.Or(aliasOf(f), short(f.Name)), strings.Join(plan.Contents(plan.Reference(f)), ", "))
}

// approve notes on a Freight that a Stage may have it.
func approve(ctx context.Context, s dialect.Session, stage *v1alpha1.Stage, f *v1alpha1.Freight) error {
	change := fmt.Sprintf(`{"status":{"approvedFor":{%q:{"approvedAt":%q}}}}`, stage.Name, time.Now().UTC().Format(time.RFC3339))
	_, err := s.Client().Resource(resource("freights")).Namespace(f.Namespace).Patch(
		ctx, f.Name, types.MergePatchType, []byte(change), metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		return fmt.Errorf("approving Freight %q for Stage %q: %w", f.Name, stage.Name, err)
	}
	return nil
}

func create(ctx context.Context, s dialect.Session, stage *v1alpha1.Stage, freight *v1alpha1.Freight) (*v1alpha1.Promotion, error) {
	var entropy [10]byte
	if _, err := rand.Read(entropy[:]); err != nil {
		return nil, fmt.Errorf("naming a Promotion: %w", err)
	}
	promotion, err := plan.Promote(stage, freight.Name, plan.PersonActor+person(), tasks(ctx, s, stage.Namespace), time.Now(), entropy)
	if err != nil {
		return nil, fmt.Errorf("Stage %s/%s: %w", stage.Namespace, stage.Name, err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(promotion)
	if err != nil {
		return nil, fmt.Errorf("writing a Promotion: %w", err)
	}
	_, err = s.Client().Resource(resource("promotions")).Namespace(stage.Namespace).Create(
		ctx, &unstructured.Unstructured{Object: fields}, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		return nil, fmt.Errorf("creating Promotion %q: %w", promotion.Name, err)
	}
	return promotion, nil
}

// person is the name of who runs the command.
func person() string {
	if current, err := user.Current(); err == nil && current.Username != "" {
		return current.Username
	}
	return "headgate"
}

// tasks reads the tasks that a template names.
func tasks(ctx context.Context, s dialect.Session, project string) plan.Tasks {
	return func(ref v1alpha1.PromotionTaskReference) (*v1alpha1.PromotionTaskSpec, error) {
		plural, namespace := "promotiontasks", project
		if ref.Kind == v1alpha1.ClusterPromotionTaskKind {
			plural, namespace = "clusterpromotiontasks", ""
		}
		u, err := s.Client().Resource(resource(plural)).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if ref.Kind == v1alpha1.ClusterPromotionTaskKind {
			task, err := declared.Read[v1alpha1.ClusterPromotionTask](u)
			if err != nil {
				return nil, err
			}
			return &task.Spec, nil
		}
		task, err := declared.Read[v1alpha1.PromotionTask](u)
		if err != nil {
			return nil, err
		}
		return &task.Spec, nil
	}
}

// followed is a Promotion that is followed to its end.
type followed struct {
	session dialect.Session
	told    map[string]bool
}

// Done prints what each step does, and reports whether the Promotion has ended.
func (f *followed) Done(u *unstructured.Unstructured) bool {
	p, err := declared.Read[v1alpha1.Promotion](u)
	if err != nil {
		return false
	}
	for _, step := range p.Status.StepExecutionMetadata {
		state := cmp.Or(step.Status, "in progress")
		line := strings.TrimSpace(fmt.Sprintf("step %s %s %s", step.Alias, state, oneLine(step.Message)))
		if !f.told[line] {
			f.told[line] = true
			f.session.Note(line)
		}
	}
	return plan.Terminal(p.Status.Phase)
}
