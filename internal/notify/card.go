package notify

import (
	"context"
	"html"
	"net/url"
	"strings"
)

// legacyTeams is the end of the hosts of Teams that take cards of the older form.
const legacyTeams = ".webhook.office.com"

func (c *sender) teams(ctx context.Context, e *Event) error {
	address := c.settings.Address
	u, err := url.Parse(address)
	if err != nil {
		return permanent("spec.address: not a URL")
	}
	if strings.HasSuffix(u.Hostname(), legacyTeams) {
		return c.post(ctx, address, messageCard(e))
	}
	return c.post(ctx, address, adaptiveCard(e))
}

type object = map[string]any

// messageCard is the older form of a card of Teams.
func messageCard(e *Event) object {
	facts := []object{}
	for _, f := range e.facts() {
		facts = append(facts, object{"name": f.key, "value": f.value})
	}
	color := "0076D7"
	if e.Severity == SeverityError {
		color = "FF0000"
	}
	title := e.InvolvedObject.title()
	return object{
		"@type": "MessageCard", "@context": "http://schema.org/extensions", "themeColor": color, "summary": title,
		"sections": []object{{"activityTitle": e.Message, "activitySubtitle": title, "facts": facts}},
	}
}

// adaptiveCard is the form of a card that workflows of Teams take.
func adaptiveCard(e *Event) object {
	text := object{"type": "TextBlock", "text": e.Message, "wrap": true}
	if e.Severity == SeverityError {
		text["color"] = "attention"
	}
	set := object{"type": "FactSet"}
	facts := []object{}
	for _, f := range e.facts() {
		facts = append(facts, object{"title": f.key, "value": f.value})
	}
	if len(facts) > 0 {
		set["facts"] = facts
	}
	title := object{"type": "TextBlock", "text": e.InvolvedObject.title(), "size": "large", "weight": "bolder", "wrap": true}
	return object{"type": "message", "attachments": []object{{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": object{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"msteams": object{"width": "Full"},
			"body":    []object{{"type": "Container", "items": []object{title, text, set}}},
		},
	}}}
}

func (c *sender) googleChat(ctx context.Context, e *Event) error {
	text := html.EscapeString(e.Message)
	if e.Severity == SeverityError {
		text = `<font color="#ff0000">` + text + "</font>"
	}
	sections := []object{{"header": "", "widgets": []object{{"textParagraph": object{"text": text}}}}}
	widgets := []object{}
	for _, f := range e.facts() {
		widgets = append(widgets, object{"keyValue": object{"topLabel": f.key, "content": f.value, "contentMultiline": false}})
	}
	if len(widgets) > 0 {
		sections = append(sections, object{"header": "", "widgets": widgets})
	}
	return c.post(ctx, c.settings.Address, object{"cards": []object{{
		"header": object{"title": e.InvolvedObject.title(), "subtitle": e.ReportingController}, "sections": sections,
	}}})
}
