package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/chartserver"
	"github.com/headgate-dev/headgate/internal/guard"
	"github.com/headgate-dev/headgate/internal/source"
)

// LocalCharts serves charts of this machine instead of registries.
type LocalCharts struct {
	Given   []string
	servers []*chartserver.Server
	// from are the addresses that they stand for, in the order of the servers.
	from []string
}

// Bind adds the flag.
func (l *LocalCharts) Bind(f *pflag.FlagSet) {
	f.StringArrayVar(&l.Given, "serve-charts", nil,
		"serve charts from a directory: oci://HOST/PATH=DIR, where DIR/NAME contains the chart oci://HOST/PATH/NAME (repeatable)")
}

// Start serves what was given until stop, and returns the rules with those that lead to it.
func (l *LocalCharts) Start(ctx context.Context, rules source.Rewrites) (source.Rewrites, error) {
	var more []string
	for _, text := range l.Given {
		from, dir, found := strings.Cut(text, "=")
		if !found || !strings.HasPrefix(from, "oci://") {
			return rules, fmt.Errorf("--serve-charts %q: want oci://HOST/PATH=DIR", text)
		}
		server, err := chartserver.Start(ctx, dir)
		if err != nil {
			return rules, fmt.Errorf("--serve-charts: %w", err)
		}
		l.servers, l.from = append(l.servers, server), append(l.from, strings.TrimSuffix(from, "/"))
		more = append(more, strings.TrimSuffix(from, "/")+"=oci://"+server.At)
	}
	rules, err := rules.With(more)
	if err != nil {
		return rules, fmt.Errorf("--serve-charts: %w", err)
	}
	return rules, nil
}

// Watch calls changed with a file of a chart that was saved, and with a function that reports which addresses lead to the chart's directory, until ctx
// ends. Failed is called with why that cannot be noticed.
func (l *LocalCharts) Watch(ctx context.Context, changed func(file string, matches func(url string) bool), failed func(error)) {
	for i, server := range l.servers {
		matches := func(url string) bool {
			rest, below := strings.CutPrefix(strings.TrimPrefix(url, "oci://"), strings.TrimPrefix(l.from[i], "oci://"))
			return below && (rest == "" || rest[0] == '/')
		}
		guard.Guard{}.Go("the watch of charts", func() {
			if err := server.Watch(ctx, func(file string) { changed(file, matches) }); err != nil {
				failed(err)
			}
		})
	}
}

// Stop ends what Start started.
func (l *LocalCharts) Stop(ctx context.Context) error {
	var errs []error
	for _, server := range l.servers {
		errs = append(errs, server.Stop(ctx))
	}
	return errors.Join(errs...)
}
