package boot

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/secrets"
)

// secretStores says whether External Secrets are served, and from where.
type secretStores struct{ from string }

// storesWord is the value of --secrets by which only the stores of the repository are used.
const storesWord = "stores"

func (s *secretStores) bind(f *pflag.FlagSet) {
	f.StringVar(&s.from, "secrets", "", `serve External Secrets: "`+storesWord+`" by the stores that the repository declares, or a FILE (YAML or JSON, also encrypted by SOPS) with the values of stores by name, which are used instead of those`)
}

// check enters the flag into the dialect: a person says that External Secrets are served, or names the groups.
func (s *secretStores) check(o *upOptions) error {
	if s.from == "" {
		return nil
	}
	of := secretsOf(o.Catalogue)
	if of == nil {
		return errors.New("--secrets: this binary does not serve External Secrets")
	}
	of.Told = true
	if s.from == storesWord {
		return nil
	}
	data, err := os.ReadFile(s.from)
	if err != nil {
		return fmt.Errorf("--secrets: %w", err)
	}
	of.Local = &secrets.Local{Path: s.from}
	if !decrypt.IsEncrypted(data, decrypt.FormatOf(s.from)) {
		return nil
	}
	if of.Local.Keys, err = console.UserKeys(o.ageKeyFile); err != nil {
		return fmt.Errorf("--secrets: %w", err)
	}
	return nil
}

// secretsOf is the dialect of External Secrets, nil in a catalogue without it.
func secretsOf(catalogue dialect.Catalogue) *secrets.Dialect {
	for _, d := range catalogue {
		if of, is := d.(*secrets.Dialect); is {
			return of
		}
	}
	return nil
}
