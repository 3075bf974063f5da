package promote

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/headgate-dev/headgate/api/kargo/v1alpha1"
	"github.com/headgate-dev/headgate/internal/promote/analysis"
	"github.com/headgate-dev/headgate/internal/promote/expressions"
	"github.com/headgate-dev/headgate/internal/promote/plan"
	"github.com/headgate-dev/headgate/internal/redaction"
)

// The kinds of Argo Rollouts by which Freight is verified.
var (
	rolloutsGroup            = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}
	analysisRuns             = rolloutsGroup.WithResource("analysisruns")
	analysisTemplates        = rolloutsGroup.WithResource("analysistemplates")
	clusterAnalysisTemplates = rolloutsGroup.WithResource("clusteranalysistemplates")
)

const (
	// runPoll is how often the state is read of a run that Argo Rollouts carries out, and of a Job or a Workflow that measures.
	runPoll                 = 5 * time.Second
	clusterAnalysisTemplate = "ClusterAnalysisTemplate"
)

// verify notes how the verification of what the Stage has stands, and says when to look again; a zero time if nothing is awaited.
func (p *part) verify(ctx context.Context, stage *v1alpha1.Stage, now time.Time) time.Time {
	current := plan.Current(stage.Status.FreightHistory)
	if current == nil {
		return time.Time{}
	}
	var check *plan.Check
	var again time.Time
	last := (*v1alpha1.VerificationInfo)(nil)
	if len(current.VerificationHistory) > 0 && !plan.VerificationEnded(current.VerificationHistory[0].Phase) {
		last = &current.VerificationHistory[0]
	}
	if stage.Spec.Verification != nil && last != nil && stage.Status.CurrentPromotion == nil {
		var err error
		if check, again, err = p.analyse(ctx, stage, current, last, now); err != nil {
			var no denied
			if !errors.As(err, &no) {
				p.Log.V(1).Info("a verification is tried again", "stage", stage.Namespace+"/"+stage.Name, "error", redaction.Text(err.Error()))
				return now.Add(runPoll)
			}
			check = &plan.Check{Phase: v1alpha1.VerificationError, Message: redaction.Text(err.Error())}
		}
	}
	v := plan.Verify(stage, check, string(uuid.NewUUID()), now)
	if v.Info != nil {
		current.VerificationHistory = plan.Record(current.VerificationHistory, *v.Info)
	}
	if v.Start {
		again = now
	}
	if v.Stop && last != nil && last.AnalysisRun != nil {
		p.terminate(ctx, last.AnalysisRun)
	}
	return again
}

// analyse has the AnalysisRun of a verification be there, carries it out unless Argo Rollouts does, and says where it is.
func (p *part) analyse(
	ctx context.Context, stage *v1alpha1.Stage, current *v1alpha1.FreightCollection, info *v1alpha1.VerificationInfo, now time.Time,
) (*plan.Check, time.Time, error) {
	name, freight, err := runName(stage, current, info)
	if err != nil {
		return nil, time.Time{}, err
	}
	client := p.Home.Dynamic.Resource(analysisRuns).Namespace(stage.Namespace)
	run, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		if run, err = p.newRun(ctx, stage, current, name, freight); err == nil {
			run, err = p.createRun(ctx, run)
		}
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	spec, status, err := readRun(run)
	if err != nil {
		return nil, time.Time{}, denied{err}
	}
	again := now.Add(runPoll)
	elsewhere, err := p.elsewhere(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	if !elsewhere && !analysis.Ended(status.Phase) {
		after, next := p.carryOut(ctx, run, spec, status, now)
		if err := p.recordRun(ctx, run, after); err != nil {
			return nil, time.Time{}, err
		}
		status, again = after, next
	}
	check := &plan.Check{Message: status.Message, Run: &v1alpha1.AnalysisRunReference{Namespace: stage.Namespace, Name: name, Phase: status.Phase}}
	switch status.Phase {
	case analysis.Successful, analysis.Failed, analysis.Error, analysis.Inconclusive, analysis.Running:
		check.Phase = v1alpha1.VerificationPhase(status.Phase)
	default:
		check.Phase = v1alpha1.VerificationPending
	}
	return check, again, nil
}

// elsewhere reports whether Argo Rollouts carries out AnalysisRuns: its own kind is then defined.
func (p *part) elsewhere(ctx context.Context) (bool, error) {
	_, err := p.Home.Dynamic.Resource(rolloutsGroup.WithResource("rollouts")).List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading whether Argo Rollouts is there: %w", err)
	}
	return true, nil
}

// runName is the name of the run of a verification: it follows from that, so that a run is made once.
func runName(stage *v1alpha1.Stage, current *v1alpha1.FreightCollection, info *v1alpha1.VerificationInfo) (name, freight string, err error) {
	for _, item := range current.Items {
		if freight == "" || item.Name < freight {
			freight = item.Name
		}
	}
	began := time.Time{}
	if info.StartTime != nil {
		began = info.StartTime.Time
	}
	sum := sha256.Sum256([]byte(info.ID))
	var entropy [10]byte
	copy(entropy[:], sum[:])
	name, err = plan.PromotionName(stage.Name, freight, began, entropy)
	return name, freight, err
}

// newRun is the run of what a Stage declares.
func (p *part) newRun(ctx context.Context, stage *v1alpha1.Stage, current *v1alpha1.FreightCollection, name, freight string) (*unstructured.Unstructured, error) {
	declared := stage.Spec.Verification
	scope := &expressions.Scope{Project: stage.Namespace, Stage: stage.Name, Now: time.Now(), Requests: stage.Spec.RequestedFreight}
	for _, item := range current.Items {
		scope.Freight = append(scope.Freight, item)
		if item.Name == freight {
			scope.Target = item
		}
	}
	var err error
	if scope.Vars, err = expressions.Vars(stage.Spec.Vars, scope); err != nil {
		return nil, denied{fmt.Errorf("spec.%w", err)}
	}
	given := map[string]string{}
	for i, arg := range declared.Args {
		config, err := expressions.Config(v1alpha1.Config{"value": arg.Value}, scope)
		if err != nil {
			return nil, denied{fmt.Errorf("spec.verification.args[%d]: %w", i, err)}
		}
		given[arg.Name] = fmt.Sprint(config["value"])
	}
	var templates []analysis.Spec
	for _, ref := range declared.AnalysisTemplates {
		template, err := p.template(ctx, stage.Namespace, ref)
		if err != nil {
			return nil, err
		}
		templates = append(templates, template)
	}
	spec, err := analysis.Merge(templates, given)
	if err != nil {
		return nil, denied{fmt.Errorf("spec.verification: %w", err)}
	}
	elsewhere, err := p.elsewhere(ctx)
	if err != nil {
		return nil, err
	}
	if !elsewhere {
		if err := spec.Check(); err != nil {
			return nil, denied{fmt.Errorf("spec.verification: %w", err)}
		}
	}
	fields, err := analysis.Fields(spec)
	if err != nil {
		return nil, denied{err}
	}
	run := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	run.SetAPIVersion(rolloutsGroup.String())
	run.SetKind("AnalysisRun")
	run.SetNamespace(stage.Namespace)
	run.SetName(name)
	labels := map[string]string{v1alpha1.StageLabel: stage.Name, v1alpha1.FreightLabel: freight}
	if m := declared.AnalysisRunMetadata; m != nil {
		for key, value := range m.Labels {
			labels[key] = value
		}
		run.SetAnnotations(m.Annotations)
	}
	run.SetLabels(labels)
	run.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(stage, v1alpha1.GroupVersion.WithKind(v1alpha1.StageKind))})
	return run, nil
}

func (p *part) template(ctx context.Context, namespace string, ref v1alpha1.AnalysisTemplateReference) (analysis.Spec, error) {
	kind := ref.Kind
	of := analysisTemplates
	if kind == clusterAnalysisTemplate {
		of, namespace = clusterAnalysisTemplates, ""
	} else {
		kind = "AnalysisTemplate"
	}
	u, err := p.Home.Dynamic.Resource(of).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return analysis.Spec{}, denied{fmt.Errorf("spec.verification.analysisTemplates: there is no %s %q", kind, ref.Name)}
	}
	if err != nil {
		return analysis.Spec{}, fmt.Errorf("reading %s %q: %w", kind, ref.Name, err)
	}
	spec, _, err := readRun(u)
	if err != nil {
		return spec, denied{fmt.Errorf("%s %q: %w", kind, ref.Name, err)}
	}
	return spec, nil
}

// readRun reads what a run, or a template, declares, and where it is.
func readRun(u *unstructured.Unstructured) (analysis.Spec, analysis.Status, error) {
	var o struct {
		Spec   analysis.Spec   `json:"spec"`
		Status analysis.Status `json:"status"`
	}
	data, err := u.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return o.Spec, o.Status, fmt.Errorf("reading %s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return o.Spec, o.Status, nil
}
