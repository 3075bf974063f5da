package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// table is what was measured.
type table struct {
	world *world
	rows  []string
}

// metrics that the table has, in their order.
var columns = []string{"process_resident_memory_bytes", "go_goroutines", "process_open_fds", "headgate_passes_total", "headgate_panics_total"}

// sample enters how the controller is doing.
func (t *table) sample(ctx context.Context, when, requests string) {
	got, err := scrape(ctx, "http://"+t.world.metrics+"/metrics")
	t.world.mu.Lock()
	age := time.Since(t.world.since).Round(time.Second)
	t.world.mu.Unlock()
	row := fmt.Sprintf("%-8s %9s  %6.0f  %10.0f  %5.0f  %6.0f  %6.0f  %s", when, age, got[columns[0]]/(1<<20), got[columns[1]], got[columns[2]], got[columns[3]], got[columns[4]], requests)
	if err != nil {
		row = fmt.Sprintf("%-8s %9s  does not answer", when, age)
	}
	t.rows = append(t.rows, row)
	fmt.Println(row)
}

// rest counts the requests while nothing happens, and enters how the controller is doing.
func (t *table) rest(ctx context.Context, when string, window time.Duration) error {
	from := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(window):
	}
	asked, err := requests(t.world.audit, from)
	if err != nil {
		return err
	}
	total := 0
	for _, n := range asked {
		total += n
	}
	t.sample(ctx, when, fmt.Sprintf("%d in %s: %s", total, window, most(asked)))
	return nil
}

func (t *table) print(done map[string]int) {
	for _, what := range slices.Sorted(maps.Keys(done)) {
		fmt.Printf("%3d times: %s\n", done[what], what)
	}
	fmt.Println("\nwhen     since its start  RSS MB  goroutines  files  passes  panics  requests at rest")
	for _, row := range t.rows {
		fmt.Println(row)
	}
}

// scrape reads the metrics of the table.
func scrape(ctx context.Context, url string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	got := map[string]float64{}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		if slices.Contains(columns, name) {
			if got[name], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, err
			}
		}
	}
	return got, nil
}

// requests counts those of the controller since a time, by verb and resource, without watches.
func requests(audit string, from time.Time) (map[string]int, error) {
	f, err := os.Open(audit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	asked := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb      string    `json:"verb"`
			UserAgent string    `json:"userAgent"`
			Received  time.Time `json:"requestReceivedTimestamp"`
			Object    struct {
				Resource    string `json:"resource"`
				Subresource string `json:"subresource"`
			} `json:"objectRef"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || !strings.HasPrefix(e.UserAgent, "headgate/") || strings.HasPrefix(e.UserAgent, "headgate/test") ||
			e.Received.Before(from) || e.Verb == "watch" {
			continue
		}
		asked[strings.TrimSuffix(e.Verb+" "+e.Object.Resource+"/"+e.Object.Subresource, "/")]++
	}
	return asked, lines.Err()
}

// most lists the requests that were made most often.
func most(asked map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(asked), func(a, b string) int { return asked[b] - asked[a] })
	var parts []string
	for _, key := range keys[:min(len(keys), 5)] {
		parts = append(parts, fmt.Sprintf("%d %s", asked[key], key))
	}
	return strings.Join(parts, ", ")
}
