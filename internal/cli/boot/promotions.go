package boot

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/promote"
)

// promotions says whether those of Kargo are served, and whether also those that others wrote.
type promotions struct{ on, foreign bool }

const foreignPromotionsFlag = "allow-remote-promotions"

func (p *promotions) bind(f *pflag.FlagSet) {
	f.BoolVar(&p.on, "promotions", false, "serve the Warehouses, Stages and Promotions of Kargo: registries and repositories are searched, and commits are pushed as Stages say")
	f.BoolVar(&p.foreign, foreignPromotionsFlag, false, "carry out promotions of a repository by URL, too: its authors choose what is cloned, changed and pushed, with the credentials that the cluster has")
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

// permitted refuses to clone, change and push what the authors of a repository elsewhere say, unless a person permits that.
func (p *promotions) permitted(o *upOptions) error {
	served, by := p.on, "--promotions"
	if of := promotionsOf(o.Catalogue); of != nil && len(o.serving.serve) > 0 {
		for _, group := range of.Groups() {
			if slices.Contains(o.serving.groups.Names(), group.Name) {
				served, by = true, "--serve kargo"
			}
		}
	}
	if !served || p.foreign || !o.foreign() {
		return nil
	}
	return console.Hint(errors.New(by+": the repository is elsewhere, and its authors would choose what is cloned, changed and pushed from here: read its Stages, and permit it by --"+foreignPromotionsFlag),
		"headgate up URL %s --%s", by, foreignPromotionsFlag)
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
