// Package secrets has the commands for files that SOPS encrypts: keys, rules, edits and checks.
package secrets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/sopsfile"
)

// NewSecret is the command for encrypted files.
func NewSecret(g *console.Globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "secret",
		Short: "Create keys, and edit and check files that are encrypted with SOPS",
		Long: `Create keys, and edit and check files that are encrypted with SOPS. The files are compatible with the
sops command in both directions.

Age identities come from --age-key-file or, without it, from all of SOPS_AGE_KEY, the file of
SOPS_AGE_KEY_FILE, and sops/age/keys.txt in the user's configuration directory.`,
	}
	cmd.AddCommand(newSecretKeygen(g), newSecretEncrypt(g), newSecretDecrypt(g), newSecretEdit(g), newSecretCheck(g))
	return cmd
}

func newSecretKeygen(g *console.Globals) *cobra.Command {
	var quantum bool
	var output string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Create an age identity",
		Long: `Create an age identity, in these steps:

  1. generate a key
  2. print it with its public key, in the format of age-keygen; or write it to a new file with mode
     0600, and print the public key to standard error

An existing file is never overwritten.`,
		Example: "  headgate secret keygen -o age.agekey\n  headgate secret keygen --pq",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runSecretKeygen(g, quantum, output) },
	}
	cmd.Flags().BoolVar(&quantum, "pq", false, "create a post-quantum identity")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file")
	return cmd
}

func runSecretKeygen(g *console.Globals, quantum bool, output string) error {
	identity, recipient, err := sopsfile.NewIdentity(quantum, time.Now())
	if err != nil {
		return err
	}
	if output == "" {
		_, err = g.IO.Out.Write(identity)
		return err
	}
	file, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return console.Hint(fmt.Errorf("%s already exists, and may be the only copy of a key", output), "headgate secret keygen -o OTHER")
	}
	if err != nil {
		return fmt.Errorf("creating the key file: %w", err)
	}
	_, err = file.Write(identity)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing the key file: %w", err), os.Remove(output))
	}
	fmt.Fprintln(g.IO.Err, "public key: "+recipient)
	return nil
}

func newSecretEncrypt(g *console.Globals) *cobra.Command {
	var inPlace bool
	cmd := &cobra.Command{
		Use:   "encrypt FILE...",
		Short: "Encrypt files by the rules of their repository",
		Long: `Encrypt files, in these steps:

  1. find the nearest .sops.yaml above each file, and the first creation rule that matches the file
  2. encrypt the values that the rule selects, for the recipients of the rule
  3. print the result; or, with -i, write all files once all are encrypted

Key services use the same credentials as the sops command; PGP recipients require the gpg
command.`,
		Example: "  headgate secret encrypt -i apps/shop/password.sops.yaml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runSecretEncrypt(g, args, inPlace) },
	}
	cmd.Flags().BoolVarP(&inPlace, "in-place", "i", false, "write to the files instead of printing")
	return cmd
}

func runSecretEncrypt(g *console.Globals, files []string, inPlace bool) error {
	if len(files) > 1 && !inPlace {
		return console.Hint(errors.New("several files cannot be printed as one"), "headgate secret encrypt -i FILE...")
	}
	var encrypted [][]byte
	for _, name := range files {
		plain, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading the file: %w", err)
		}
		data, err := sopsfile.Encrypt(name, plain)
		if err != nil {
			return encryptHint(fmt.Errorf("encrypting %s: %w", name, err), name)
		}
		encrypted = append(encrypted, data)
	}
	if !inPlace {
		_, err := g.IO.Out.Write(encrypted[0])
		return err
	}
	for i, name := range files {
		if err := replaceFile(name, encrypted[i]); err != nil {
			return err
		}
	}
	return nil
}

// encryptHint gives an error of encryption the next command to try.
func encryptHint(err error, name string) error {
	if errors.Is(err, sopsfile.ErrEncrypted) {
		return console.Hint(err, "headgate secret edit %s", name)
	}
	return err
}

func newSecretDecrypt(g *console.Globals) *cobra.Command {
	var ageKeyFile string
	var ignoreMAC bool
	cmd := &cobra.Command{
		Use:   "decrypt FILE",
		Short: "Decrypt a file",
		Long: `Decrypt a file, in these steps:

  1. decrypt its data key with an age identity
  2. decrypt its values, and verify its message authentication code
  3. print it`,
		Example: "  headgate secret decrypt apps/shop/password.sops.yaml --age-key-file age.agekey",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, _, err := openSecret(args[0], ageKeyFile, ignoreMAC)
			if err != nil {
				return err
			}
			_, err = g.IO.Out.Write(file.Plain())
			return err
		},
	}
	bindSecretKeys(cmd, &ageKeyFile)
	cmd.Flags().BoolVar(&ignoreMAC, "ignore-mac", false, "decrypt a file even if it was changed by hand")
	return cmd
}

func bindSecretKeys(cmd *cobra.Command, ageKeyFile *string) {
	cmd.Flags().StringVar(ageKeyFile, "age-key-file", "", "file with age identities to decrypt with, instead of those of the user")
}

// openSecret opens an encrypted file, and returns its bytes as well.
func openSecret(name, ageKeyFile string, ignoreMAC bool) (*sopsfile.File, []byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the file: %w", err)
	}
	keys, err := console.UserKeys(ageKeyFile)
	if err != nil {
		return nil, nil, err
	}
	file, err := sopsfile.Open(name, data, keys, ignoreMAC)
	if err != nil {
		err = fmt.Errorf("opening %s: %w", name, err)
		if keys.Empty() {
			err = console.Hint(err, "headgate secret decrypt %s --age-key-file KEY", name)
		}
		return nil, nil, err
	}
	return file, data, nil
}

// replaceFile writes a file by putting another into its place, with the mode that it had.
func replaceFile(name string, data []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("reading the file: %w", err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return fmt.Errorf("reading the file: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".headgate-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Close()); err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
