package boot

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote"
)

// promotions says whether those of Kargo are served.
type promotions struct{ on bool }

func (p *promotions) bind(f *pflag.FlagSet) {
	f.BoolVar(&p.on, "promotions", false, "serve the Warehouses, Stages and Promotions of Kargo: registries and repositories are searched, and commits are pushed as Stages say")
}

// check enters the flag into the dialect.
func (p *promotions) check(o *upOptions) error {
	if !p.on {
		return nil
	}
	of := promotionsOf(o.Catalogue)
	if of == nil {
		return errors.New("--promotions: this binary does not serve promotions")
	}
	of.Told = true
	of.Analyses = !o.Real()
	return nil
}

// promotionsOf is the dialect of promotions, nil in a catalogue without it.
func promotionsOf(catalogue dialect.Catalogue) *promote.Dialect {
	for _, d := range catalogue {
		if of, is := d.(*promote.Dialect); is {
			return of
		}
	}
	return nil
}
