package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/kit"
)

// atRest counts the requests of the engine while nothing happens.
func (r *run) atRest(ctx context.Context, audit string) (string, error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(2 * time.Second):
	}
	from := time.Now()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case <-time.After(r.idle):
	}
	asked, watches, err := requests(audit, from)
	if err != nil {
		return "", err
	}
	total := 0
	for _, n := range asked {
		total += n
	}
	text := fmt.Sprintf("%d in %s, and %d watch restarts", total, r.idle, watches)
	if total > 0 {
		text += ": " + most(asked)
	}
	return text, nil
}

// most lists the requests that were made most often.
func most(asked map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(asked), func(a, b string) int { return asked[b] - asked[a] })
	var parts []string
	for _, key := range keys[:min(len(keys), 12)] {
		parts = append(parts, fmt.Sprintf("%d %s", asked[key], key))
	}
	return strings.Join(parts, ", ")
}

// requests counts those of the engine since a time, by verb and resource, and the watches beside them. The parts of the control
// plane have other user agents.
func requests(audit string, from time.Time) (asked map[string]int, watches int, err error) {
	f, err := os.Open(audit)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	asked = map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb      string    `json:"verb"`
			UserAgent string    `json:"userAgent"`
			Received  time.Time `json:"requestReceivedTimestamp"`
			URI       string    `json:"requestURI"`
			Object    struct {
				Resource    string `json:"resource"`
				Subresource string `json:"subresource"`
			} `json:"objectRef"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.UserAgent != kit.UserAgent || e.Received.Before(from) {
			continue
		}
		if e.Verb == "watch" {
			watches++
			continue
		}
		what := e.Object.Resource
		if what == "" {
			what, _, _ = strings.Cut(e.URI, "?")
		}
		if e.Object.Subresource != "" {
			what += "/" + e.Object.Subresource
		}
		asked[e.Verb+" "+what]++
	}
	return asked, watches, lines.Err()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rss is the resident memory of the process, control plane included, in MB.
func rss() int { return resident("VmRSS") }

// resident is a field of the process's status that reports its memory, in MB.
func resident(field string) int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kb int
		if n, _ := fmt.Sscanf(line, field+": %d kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
