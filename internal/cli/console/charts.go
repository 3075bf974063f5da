package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/chartserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// LocalCharts serves charts of this machine instead of registries.
type LocalCharts struct {
	Given   []string
	servers []*chartserver.Server
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
		l.servers = append(l.servers, server)
		more = append(more, strings.TrimSuffix(from, "/")+"/=oci://"+server.At+"/")
	}
	rules, err := rules.With(more)
	if err != nil {
		return rules, fmt.Errorf("--serve-charts: %w", err)
	}
	return rules, nil
}

// Stop ends what Start started.
func (l *LocalCharts) Stop(ctx context.Context) error {
	var errs []error
	for _, server := range l.servers {
		errs = append(errs, server.Stop(ctx))
	}
	return errors.Join(errs...)
}
