package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/chartserver"
	"github.com/headgate-dev/headgate/internal/source"
)

// localCharts serves charts of this machine instead of registries.
type localCharts struct {
	given   []string
	servers []*chartserver.Server
}

func (l *localCharts) bind(f *pflag.FlagSet) {
	f.StringArrayVar(&l.given, "serve-charts", nil,
		"serve charts from a directory: oci://HOST/PATH=DIR, where DIR/NAME contains the chart oci://HOST/PATH/NAME (repeatable)")
}

// start serves what was given until stop, and returns the rules with those that lead to it.
func (l *localCharts) start(ctx context.Context, rules source.Rewrites) (source.Rewrites, error) {
	var more []string
	for _, text := range l.given {
		from, dir, found := strings.Cut(text, "=")
		if !found || !strings.HasPrefix(from, "oci://") {
			return rules, fmt.Errorf("--serve-charts %q: want oci://HOST/PATH=DIR", text)
		}
		server, err := chartserver.Start(ctx, dir)
		if err != nil {
			return rules, fmt.Errorf("--serve-charts: %w", err)
		}
		l.servers = append(l.servers, server)
		more = append(more, strings.TrimSuffix(from, "/")+"/=oci://"+server.Host+"/")
	}
	rules, err := rules.With(more)
	if err != nil {
		return rules, fmt.Errorf("--serve-charts: %w", err)
	}
	return rules, nil
}

func (l *localCharts) stop(ctx context.Context) error {
	var errs []error
	for _, server := range l.servers {
		errs = append(errs, server.Stop(ctx))
	}
	return errors.Join(errs...)
}
