// Package analysis plans the analyses by which Freight is verified in a Stage, in the form of AnalysisTemplates and AnalysisRuns of Argo Rollouts: what an
// analysis measures, when the next measurement is due, and what follows from it.
//
// It is made of pure values. It refuses providers that it does not know, analyses without an end, and conditions that take more time or memory than
// expressions of promotions may; it measures nothing itself.
package analysis

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The phases of analyses, of their metrics and of measurements.
const (
	Pending      = "Pending"
	Running      = "Running"
	Successful   = "Successful"
	Failed       = "Failed"
	Error        = "Error"
	Inconclusive = "Inconclusive"
)

// Spec is what an AnalysisTemplate or an AnalysisRun declares.
type Spec struct {
	Metrics []Metric   `json:"metrics"`
	Args    []Argument `json:"args,omitempty"`
	// Terminate ends a run.
	Terminate bool `json:"terminate,omitempty"`
}

// Argument is a value for "{{args.NAME}}".
type Argument struct {
	Name      string     `json:"name"`
	Value     *string    `json:"value,omitempty"`
	ValueFrom *ValueFrom `json:"valueFrom,omitempty"`
}

// ValueFrom is where a value comes from that is not said.
type ValueFrom struct {
	SecretKeyRef *SecretKeyRef `json:"secretKeyRef,omitempty"`
}

// SecretKeyRef names a value of a Secret of the namespace.
type SecretKeyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Metric is what is measured.
type Metric struct {
	Name                  string              `json:"name"`
	Interval              string              `json:"interval,omitempty"`
	InitialDelay          string              `json:"initialDelay,omitempty"`
	Count                 *intstr.IntOrString `json:"count,omitempty"`
	SuccessCondition      string              `json:"successCondition,omitempty"`
	FailureCondition      string              `json:"failureCondition,omitempty"`
	FailureLimit          *intstr.IntOrString `json:"failureLimit,omitempty"`
	InconclusiveLimit     *intstr.IntOrString `json:"inconclusiveLimit,omitempty"`
	ConsecutiveErrorLimit *intstr.IntOrString `json:"consecutiveErrorLimit,omitempty"`
	Provider              Provider            `json:"provider"`
}

// Provider is how a metric is measured. Those that are not carried out are known by name, so that they can be refused.
type Provider struct {
	Web        *Web           `json:"web,omitempty"`
	Job        *Job           `json:"job,omitempty"`
	Prometheus any            `json:"prometheus,omitempty"`
	Kayenta    any            `json:"kayenta,omitempty"`
	Datadog    any            `json:"datadog,omitempty"`
	Wavefront  any            `json:"wavefront,omitempty"`
	NewRelic   any            `json:"newRelic,omitempty"`
	CloudWatch any            `json:"cloudWatch,omitempty"`
	Graphite   any            `json:"graphite,omitempty"`
	Influxdb   any            `json:"influxdb,omitempty"`
	SkyWalking any            `json:"skywalking,omitempty"`
	Plugin     map[string]any `json:"plugin,omitempty"`
}

// Job is a Job of Kubernetes that has to complete.
type Job struct {
	Metadata Metadata       `json:"metadata,omitzero"`
	Spec     map[string]any `json:"spec"`
}

// Metadata are labels and annotations of a Job or a Workflow.
type Metadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Workflow is a WorkflowTemplate of the namespace, or a ClusterWorkflowTemplate, a Workflow of which has to succeed.
type Workflow struct {
	Metadata            Metadata          `json:"metadata,omitzero"`
	WorkflowTemplateRef TemplateRef       `json:"workflowTemplateRef"`
	Entrypoint          string            `json:"entrypoint,omitempty"`
	ServiceAccountName  string            `json:"serviceAccountName,omitempty"`
	Arguments           WorkflowArguments `json:"arguments,omitzero"`
}

// TemplateRef names what a Workflow is made of.
type TemplateRef struct {
	Name         string `json:"name"`
	ClusterScope bool   `json:"clusterScope,omitempty"`
}

// WorkflowArguments are the parameters of a Workflow.
type WorkflowArguments struct {
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is one of them.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Web is a request whose response is measured.
type Web struct {
	Method         string      `json:"method,omitempty"`
	URL            string      `json:"url"`
	Headers        []WebHeader `json:"headers,omitempty"`
	Body           string      `json:"body,omitempty"`
	JSONBody       any         `json:"jsonBody,omitempty"`
	TimeoutSeconds int64       `json:"timeoutSeconds,omitempty"`
	JSONPath       string      `json:"jsonPath,omitempty"`
	Insecure       bool        `json:"insecure,omitempty"`
	Authentication any         `json:"authentication,omitempty"`
}

// WebHeader is a header of a request.
type WebHeader struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Status is where an AnalysisRun is.
type Status struct {
	Phase         string         `json:"phase"`
	Message       string         `json:"message,omitempty"`
	StartedAt     *metav1.Time   `json:"startedAt,omitempty"`
	MetricResults []MetricResult `json:"metricResults,omitempty"`
}

// MetricResult is what the measurements of a metric gave.
type MetricResult struct {
	Name             string        `json:"name"`
	Phase            string        `json:"phase"`
	Message          string        `json:"message,omitempty"`
	Count            int32         `json:"count,omitempty"`
	Successful       int32         `json:"successful,omitempty"`
	Failed           int32         `json:"failed,omitempty"`
	Inconclusive     int32         `json:"inconclusive,omitempty"`
	Error            int32         `json:"error,omitempty"`
	ConsecutiveError int32         `json:"consecutiveError,omitempty"`
	Measurements     []Measurement `json:"measurements,omitempty"`
}

// Measurement is one of them. Values that were measured are not kept: they may be anything.
type Measurement struct {
	Phase      string       `json:"phase"`
	Message    string       `json:"message,omitempty"`
	StartedAt  *metav1.Time `json:"startedAt,omitempty"`
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// ResumeAt is when to look again at one that is in progress.
	ResumeAt *metav1.Time `json:"resumeAt,omitempty"`
	// Metadata names the object that measures.
	Metadata map[string]string `json:"metadata,omitempty"`
}

const (
	// maxMeasurements are how many of the last are kept.
	maxMeasurements = 10
	// defaultErrors is how many errors in a row a metric may have.
	defaultErrors = 4
	// errorInterval is when a measurement is repeated that had an error, where the metric has no interval.
	errorInterval = 10 * time.Second
	// maxMetrics bounds the metrics of an analysis.
	maxMetrics = 100
)

// Merge is what a run of several templates measures, with the values of arguments that are given.
func Merge(templates []Spec, given map[string]string) (Spec, error) {
	var all Spec
	for _, t := range templates {
		for _, m := range t.Metrics {
			if slices.ContainsFunc(all.Metrics, func(other Metric) bool { return other.Name == m.Name }) {
				return all, fmt.Errorf("two metrics are named %q", m.Name)
			}
			all.Metrics = append(all.Metrics, m)
		}
		for _, a := range t.Args {
			at := slices.IndexFunc(all.Args, func(other Argument) bool { return other.Name == a.Name })
			switch {
			case at < 0:
				all.Args = append(all.Args, a)
			case all.Args[at].Value == nil && all.Args[at].ValueFrom == nil:
				all.Args[at] = a
			}
		}
	}
	for i := range all.Args {
		a := &all.Args[i]
		if value, is := given[a.Name]; is {
			a.Value, a.ValueFrom = &value, nil
		}
		if a.Value == nil && a.ValueFrom == nil {
			return all, fmt.Errorf("args: %q has no value", a.Name)
		}
	}
	return all, nil
}

// Check reports what is wrong with an analysis.
func (s Spec) Check() error {
	if len(s.Metrics) == 0 || len(s.Metrics) > maxMetrics {
		return fmt.Errorf("metrics: there are %d, want 1 to %d", len(s.Metrics), maxMetrics)
	}
	for _, m := range s.Metrics {
		if err := m.check(); err != nil {
			return fmt.Errorf("metric %q: %w", m.Name, err)
		}
	}
	return nil
}

func (m Metric) check() error {
	if err := m.Provider.check(); err != nil {
		return err
	}
	for field, text := range map[string]string{"interval": m.Interval, "initialDelay": m.InitialDelay} {
		if _, err := duration(text); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
	}
	if m.Interval != "" && m.Count == nil {
		return errors.New("count: it is needed with interval, so that the analysis has an end")
	}
	for field, value := range map[string]*intstr.IntOrString{
		"count": m.Count, "failureLimit": m.FailureLimit, "inconclusiveLimit": m.InconclusiveLimit, "consecutiveErrorLimit": m.ConsecutiveErrorLimit,
	} {
		if value != nil && value.Type != intstr.Int {
			return fmt.Errorf("%s: want a number", field)
		}
	}
	return nil
}

func duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	return d, nil
}

func number(value *intstr.IntOrString, otherwise int32) int32 {
	if value == nil {
		return otherwise
	}
	return value.IntVal
}
