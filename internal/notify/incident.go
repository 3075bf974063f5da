package notify

import (
	"context"
	"encoding/base64"
	"maps"
	"net/url"
	"strings"
	"time"
)

// login is the header by which a token, or else a name and a password, are shown.
func (s *Settings) login() []string {
	if s.Token == "" && s.Username != "" && s.Password != "" {
		pair := base64.StdEncoding.EncodeToString([]byte(s.Username + ":" + s.Password))
		return []string{"Authorization", "Basic " + pair}
	}
	return bearer(s.Token)
}

func (c *sender) alertmanager(ctx context.Context, e *Event) error {
	annotations := map[string]string{"message": e.Message}
	labels := maps.Clone(e.Metadata)
	if labels == nil {
		labels = map[string]string{}
	}
	if summary, ok := labels[metaSummary]; ok {
		annotations[metaSummary] = summary
		delete(labels, metaSummary)
	}
	o := e.InvolvedObject
	reason := e.Reason
	if reason != "" {
		reason = strings.ToUpper(reason[:1]) + reason[1:]
	}
	maps.Copy(labels, map[string]string{
		"alertname": "Flux" + o.Kind + reason, "severity": e.Severity, "reason": e.Reason, "kind": o.Kind, "name": o.Name,
		"namespace": o.Namespace, "reportingcontroller": e.ReportingController,
	})
	return c.post(ctx, c.settings.Address, []object{{
		"status": "firing", "labels": labels, "annotations": annotations, "startsAt": e.Timestamp.Format(time.RFC3339),
	}}, c.settings.login()...)
}

// pagerDuty opens an incident for an error, and closes it with the next event that is none.
func (c *sender) pagerDuty(ctx context.Context, e *Event) error {
	if e.Reason == reasonProgressing {
		return nil
	}
	u, err := url.Parse(c.settings.Address)
	if err != nil {
		return permanent("spec.address: not a URL")
	}
	base := u.Scheme + "://" + u.Host
	o := e.InvolvedObject
	name := strings.ToLower(o.Kind + "/" + o.Name)
	if summary := e.Metadata[metaSummary]; summary != "" {
		name = strings.ToLower(summary + "/" + o.Kind + "/" + o.Name)
	}
	title, source, at := e.description()+": "+name, "Flux "+e.ReportingController, e.Timestamp.Format(time.RFC3339)
	details := object{"message": e.Message, "metadata": e.Metadata}
	form := object{"routing_key": c.settings.Channel, "event_action": "resolve", "dedup_key": o.UID}
	if e.Severity == SeverityError {
		form["event_action"] = "trigger"
		form["payload"] = object{
			"summary": title, "source": source, "severity": "error", "timestamp": at, "component": o.Name, "group": o.Kind,
			"custom_details": details,
		}
	}
	if err := c.post(ctx, base+"/v2/enqueue", form); err != nil || e.Severity != SeverityInfo {
		return err
	}
	return c.post(ctx, base+"/v2/change/enqueue", object{"routing_key": c.settings.Channel, "payload": object{
		"summary": title, "source": source, "timestamp": at, "custom_details": details,
	}})
}

// grafana makes an annotation of an event.
func (c *sender) grafana(ctx context.Context, e *Event) error {
	tags := []string{"flux", e.ReportingController}
	for _, f := range e.facts() {
		tags = append(tags, strings.ReplaceAll(f.key, ":", "|")+": "+strings.ReplaceAll(f.value, ":", "|"))
	}
	o := e.InvolvedObject
	tags = append(tags, "kind: "+o.Kind, "name: "+o.Name, "namespace: "+o.Namespace)
	return c.post(ctx, c.settings.Address, object{
		"when": e.Timestamp.Unix(), "text": o.title(), "tags": tags,
	}, c.settings.login()...)
}
