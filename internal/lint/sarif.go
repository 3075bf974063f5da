package lint

import (
	"net/url"
	"path/filepath"
)

// Rule is a rule as SARIF lists it.
type Rule struct{ Name, Summary string }

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID          string    `json:"id"`
		Description sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

func sarif(by Tool, findings []Finding) sarifLog {
	driver := sarifDriver{Name: by.Name, Rules: []sarifRule{}}
	for _, r := range by.Rules {
		driver.Rules = append(driver.Rules, sarifRule{ID: r.Name, Description: sarifText{r.Summary}})
	}
	results := []sarifResult{}
	for _, f := range findings {
		level := f.Severity
		if level == "info" {
			level = "note"
		}
		result := sarifResult{RuleID: f.Rule, Level: level, Message: sarifText{f.said()}}
		if f.File != "" {
			address := url.URL{Path: filepath.ToSlash(f.File)}
			result.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{address.EscapedPath()}, sarifRegion{max(f.Line, 1)}}}}
		}
		results = append(results, result)
	}
	return sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, Results: results}},
	}
}
