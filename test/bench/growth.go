package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// growth measures how the cost of a unit grows with the number of units. Each number is measured in a process of its own, so that none
// inherits the memory of another.
type growth struct {
	// units are numbers, separated by commas; dialect is one, or empty for both.
	units, dialect string
	// spread has the objects of each hundred units in a namespace of their own.
	spread bool
}

const growthHeading = "growth  units  ready s  cpu s/unit  of the first  rss MB  peak MB  push→applied ms"

func (g growth) measure(ctx context.Context) error {
	for _, d := range []dialect{ofFlux, ofArgo} {
		if g.dialect != "" && g.dialect != string(d) {
			continue
		}
		first := 0.0
		for text := range strings.SplitSeq(g.units, ",") {
			units, err := strconv.Atoi(text)
			if err != nil || units < 1 {
				return fmt.Errorf("-growth: %q is not a number of units", text)
			}
			f, err := g.apart(ctx, d, units)
			if err != nil {
				return err
			}
			if first == 0 {
				first = f.CPU.Seconds()
			}
			fmt.Printf("%6s  %5d  %7.2f  %10.3f  %12.2f  %6d  %7d  %15d\n",
				d, units, f.Ready.Seconds(), f.CPU.Seconds(), f.CPU.Seconds()/first, f.Memory, f.Peak, f.Latency.Milliseconds())
		}
	}
	return nil
}

// apart measures a number of units in another process.
func (g growth) apart(ctx context.Context, d dialect, units int) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	cmd := exec.CommandContext(ctx, self, "-units", strconv.Itoa(units), "-dialect", string(d), "-spread="+strconv.FormatBool(g.spread))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return figures{}, fmt.Errorf("%d units of %s: %w", units, d, err)
	}
	var f figures
	if err := json.Unmarshal(out, &f); err != nil {
		return f, fmt.Errorf("the figures of %d units of %s: %w", units, d, err)
	}
	return f, nil
}

// measureOne measures a number of units in this process, and prints the figures as JSON.
func measureOne(ctx context.Context, d dialect, units int, spread bool, heap string) error {
	if d == "" {
		d = ofFlux
	}
	r := run{dialect: d, units: units, depth: 1, spread: spread, heap: heap}
	f, err := r.figures(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}
