package promote

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	// runPoll is how often a run is looked at that Argo Rollouts carries out.
	runPoll = 5 * time.Second
	// maxMeasured bounds a response that is measured, in bytes; measureTimeout is how long a request may take that names no timeout.
	maxMeasured, measureTimeout = 1 << 20, 10 * time.Second
	clusterAnalysisTemplate     = "ClusterAnalysisTemplate"
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
		after, next := p.carryOut(ctx, stage.Namespace, spec, status, now)
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

// elsewhere tells whether Argo Rollouts carries out AnalysisRuns: its own kind is then defined.
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
	fields, err := toFields(spec)
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

func toFields(value any) (map[string]any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	return fields, json.Unmarshal(data, &fields)
}

// carryOut makes the measurements that are due, and says when the next one is.
func (p *part) carryOut(ctx context.Context, namespace string, spec analysis.Spec, status analysis.Status, now time.Time) (analysis.Status, time.Time) {
	if err := spec.Check(); err != nil {
		status.Phase, status.Message = analysis.Error, err.Error()
		return status, time.Time{}
	}
	status = analysis.Begin(spec, status, now)
	due, next := analysis.Due(spec, status, now)
	for _, m := range due {
		one := analysis.Measurement{StartedAt: &metav1.Time{Time: time.Now()}}
		phase, err := p.measure(ctx, namespace, spec, m)
		one.Phase, one.FinishedAt = phase, &metav1.Time{Time: time.Now()}
		if err != nil {
			one.Message = redaction.Text(err.Error())
		}
		status = analysis.Measured(spec, status, m.Name, one)
	}
	if len(due) > 0 {
		_, next = analysis.Due(spec, status, now)
	}
	return status, next
}

// measure measures a metric once.
func (p *part) measure(ctx context.Context, namespace string, spec analysis.Spec, m analysis.Metric) (string, error) {
	values := map[string]string{}
	var secret []string
	for _, a := range spec.Args {
		switch {
		case a.Value != nil:
			values[a.Name] = *a.Value
		case a.ValueFrom != nil && a.ValueFrom.SecretKeyRef != nil:
			ref := a.ValueFrom.SecretKeyRef
			found, err := p.client.CoreV1().Secrets(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return analysis.Error, fmt.Errorf("args: %q: reading Secret %q: %w", a.Name, ref.Name, err)
			}
			values[a.Name] = string(found.Data[ref.Key])
			secret = append(secret, values[a.Name], "…")
		}
	}
	body, err := p.fetch(ctx, *m.Provider.Web, values)
	var value any
	if err == nil {
		value, err = m.Provider.Web.Value(body)
	}
	phase := analysis.Error
	if err == nil {
		phase, err = m.Judge(value, time.Now())
	}
	if err != nil {
		err = errors.New(strings.NewReplacer(secret...).Replace(err.Error()))
	}
	return phase, err
}

// fetch sends the request of a metric.
func (p *part) fetch(ctx context.Context, w analysis.Web, values map[string]string) ([]byte, error) {
	address, err := analysis.Fill(w.URL, values)
	if err != nil {
		return nil, fmt.Errorf("provider.web.url: %w", err)
	}
	text := w.Body
	if w.JSONBody != nil {
		data, err := json.Marshal(w.JSONBody)
		if err != nil {
			return nil, fmt.Errorf("provider.web.jsonBody: %w", err)
		}
		text = string(data)
	}
	if text, err = analysis.Fill(text, values); err != nil {
		return nil, fmt.Errorf("provider.web.body: %w", err)
	}
	timeout := measureTimeout
	if w.TimeoutSeconds > 0 {
		timeout = time.Duration(w.TimeoutSeconds) * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	method := w.Method
	if method == "" {
		method = http.MethodGet
	}
	q, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(text))
	if err != nil {
		return nil, errors.New("provider.web.url: it is not an address")
	}
	if w.JSONBody != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	for i, h := range w.Headers {
		value, err := analysis.Fill(h.Value, values)
		if err != nil {
			return nil, fmt.Errorf("provider.web.headers[%d]: %w", i, err)
		}
		q.Header.Set(h.Key, value)
	}
	client := *p.network.client
	if w.Insecure {
		client.Transport = p.network.insecure
	}
	response, err := client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("sending a request to %s: %w", q.URL.Host, errors.Unwrap(err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s responds %s", q.URL.Host, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMeasured+1))
	if err != nil || len(body) > maxMeasured {
		return nil, fmt.Errorf("the response of %s cannot be read, or has more than %d bytes", q.URL.Host, maxMeasured)
	}
	return body, nil
}
