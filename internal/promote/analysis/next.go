package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Begin is the status of a run before its next measurement.
func Begin(s Spec, status Status, now time.Time) Status {
	if status.StartedAt == nil {
		status.StartedAt = &metav1.Time{Time: now}
	}
	if status.Phase == "" || status.Phase == Pending {
		status.Phase = Running
	}
	for _, m := range s.Metrics {
		if status.result(m.Name) == nil {
			status.MetricResults = append(status.MetricResults, MetricResult{Name: m.Name, Phase: Running})
		}
	}
	return status
}

func (s *Status) result(metric string) *MetricResult {
	for i := range s.MetricResults {
		if s.MetricResults[i].Name == metric {
			return &s.MetricResults[i]
		}
	}
	return nil
}

// Ended reports whether a phase is one that lasts.
func Ended(phase string) bool {
	return slices.Contains([]string{Successful, Failed, Error, Inconclusive}, phase)
}

// Due are the metrics to measure now, and when the next one is due; a zero time where none is.
func Due(s Spec, status Status, now time.Time) (due []Metric, next time.Time) {
	if Ended(status.Phase) {
		return nil, next
	}
	for _, m := range s.Metrics {
		result := status.result(m.Name)
		if result == nil || Ended(result.Phase) {
			continue
		}
		at := m.dueAt(*result, status)
		switch {
		case !at.After(now):
			due = append(due, m)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return due, next
}

func (m Metric) dueAt(result MetricResult, status Status) time.Time {
	if len(result.Measurements) == 0 {
		delay, _ := duration(m.InitialDelay)
		return status.StartedAt.Add(delay)
	}
	last := result.Measurements[len(result.Measurements)-1]
	if last.Phase == Running {
		return last.ResumeAt.Time
	}
	interval, _ := duration(m.Interval)
	if last.Phase == Error {
		interval = cmp.Or(interval, errorInterval)
	}
	return last.FinishedAt.Add(interval)
}

// Next is the measurement of a metric to make: the one in progress, or another one.
func Next(status Status, metric string, now time.Time) Measurement {
	if result := status.result(metric); result != nil && len(result.Measurements) > 0 {
		if last := result.Measurements[len(result.Measurements)-1]; last.Phase == Running {
			last.ResumeAt = nil
			return last
		}
	}
	return Measurement{StartedAt: &metav1.Time{Time: now}}
}

// Number counts the measurements of a metric that have ended, and is the same as long as one is in progress.
func Number(status Status, metric string) int32 {
	if result := status.result(metric); result != nil {
		return result.Count + result.Error
	}
	return 0
}

// Measured is the status of a run after a measurement of a metric, which takes the place of its state so far if it was in progress.
func Measured(s Spec, status Status, metric string, one Measurement) Status {
	status.MetricResults = slices.Clone(status.MetricResults)
	result := status.result(metric)
	at := slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Name == metric })
	if result == nil || at < 0 {
		return status
	}
	m := s.Metrics[at]
	made := slices.Clone(result.Measurements)
	if len(made) > 0 && made[len(made)-1].Phase == Running {
		made = made[:len(made)-1]
	}
	result.Measurements = append(made, one)
	result.Measurements = result.Measurements[max(0, len(result.Measurements)-maxMeasurements):]
	switch one.Phase {
	case Running:
		return status
	case Successful:
		result.Count, result.Successful, result.ConsecutiveError = result.Count+1, result.Successful+1, 0
	case Failed:
		result.Count, result.Failed, result.ConsecutiveError = result.Count+1, result.Failed+1, 0
	case Inconclusive:
		result.Count, result.Inconclusive, result.ConsecutiveError = result.Count+1, result.Inconclusive+1, 0
	default:
		result.Error, result.ConsecutiveError = result.Error+1, result.ConsecutiveError+1
	}
	count := int32(1)
	if m.Count != nil {
		count = max(1, m.Count.IntVal)
	}
	switch {
	case result.Failed > number(m.FailureLimit, 0):
		result.Phase, result.Message = Failed, fmt.Sprintf("failed (%d) > failureLimit (%d)", result.Failed, number(m.FailureLimit, 0))
	case result.Inconclusive > number(m.InconclusiveLimit, 0):
		result.Phase, result.Message = Inconclusive, fmt.Sprintf("inconclusive (%d) > inconclusiveLimit (%d)", result.Inconclusive, number(m.InconclusiveLimit, 0))
	case result.ConsecutiveError > number(m.ConsecutiveErrorLimit, defaultErrors):
		result.Phase, result.Message = Error, one.Message
	case result.Count >= count:
		result.Phase = Successful
	}
	return conclude(s, status)
}

// conclude ends a run whose metrics have ended, or of which one has ended badly.
func conclude(s Spec, status Status) Status {
	all := true
	for _, r := range status.MetricResults {
		switch r.Phase {
		case Failed, Error, Inconclusive:
			status.Phase, status.Message = r.Phase, fmt.Sprintf("metric %q assessed %s: %s", r.Name, r.Phase, r.Message)
			if len(r.Measurements) > 0 {
				if last := r.Measurements[len(r.Measurements)-1].Message; last != "" && last != r.Message {
					status.Message += ": " + last
				}
			}
			return status
		case Successful:
		default:
			all = false
		}
	}
	if all && len(status.MetricResults) >= len(s.Metrics) {
		status.Phase = Successful
	}
	return status
}
