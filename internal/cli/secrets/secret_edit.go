package secrets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/sopsfile"
)

// editOptions are those of secret edit.
type editOptions struct {
	*console.Globals
	file, ageKeyFile    string
	allowTmp, ignoreMAC bool
}

func newSecretEdit(g *console.Globals) *cobra.Command {
	o := editOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "edit FILE",
		Short: "Edit an encrypted file",
		Long: `Edit an encrypted file, in these steps:

  1. decrypt it as "headgate secret decrypt" does
  2. write the clear text to a private directory in memory
  3. run $EDITOR on it, or vi; again if the saved file is invalid
  4. encrypt it for the same recipients; the ciphertext of unchanged values stays the same
  5. replace FILE, unless nothing was changed

Without a directory in memory, --allow-tmp is required. Files that the editor itself keeps
elsewhere, such as an undo history, are not removed.`,
		Example: "  EDITOR=nano headgate secret edit apps/shop/password.sops.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return runSecretEdit(cmd.Context(), o)
		},
	}
	bindSecretKeys(cmd, &o.ageKeyFile)
	cmd.Flags().BoolVar(&o.ignoreMAC, "ignore-mac", false, "decrypt a file even if it was changed by hand")
	cmd.Flags().BoolVar(&o.allowTmp, "allow-tmp", false, "write the clear text to disk if there is no directory in memory")
	return cmd
}

func runSecretEdit(ctx context.Context, o editOptions) error {
	file, before, err := openSecret(o.file, o.ageKeyFile, o.ignoreMAC)
	if err != nil {
		return err
	}
	dir, err := o.workDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	after, err := o.edit(ctx, file, filepath.Join(dir, filepath.Base(o.file)))
	if err != nil || after == nil {
		return err
	}
	// Another process may have been faster.
	if now, err := os.ReadFile(o.file); err != nil || !bytes.Equal(now, before) {
		return console.Hint(fmt.Errorf("%s was changed in the meantime; nothing was written", o.file), "headgate secret edit %s", o.file)
	}
	return replaceFile(o.file, after)
}

// workDir makes a directory for the clear text that only its user can read.
func (o editOptions) workDir() (string, error) {
	parent := memoryDir()
	if parent == "" && !o.allowTmp {
		return "", console.Hint(errors.New("no directory in memory for the clear text"), "headgate secret edit --allow-tmp %s", o.file)
	}
	dir, err := os.MkdirTemp(parent, "headgate-")
	if err != nil {
		return "", fmt.Errorf("creating a directory for the clear text: %w", err)
	}
	return dir, nil
}

// edit has the user change the content of a file, and returns it encrypted, or nil when it has not
// changed. It goes on while what was saved cannot be encrypted, until an editor leaves it as it is.
func (o editOptions) edit(ctx context.Context, file *sopsfile.File, name string) ([]byte, error) {
	last := file.Plain()
	if err := os.WriteFile(name, last, 0o600); err != nil {
		return nil, fmt.Errorf("writing the clear text: %w", err)
	}
	var failed error
	for {
		if err := o.runEditor(ctx, name); err != nil {
			return nil, err
		}
		saved, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the saved file: %w", err)
		}
		if bytes.Equal(saved, last) {
			return nil, failed
		}
		if bytes.Equal(saved, file.Plain()) {
			return nil, nil
		}
		after, err := file.Replace(saved)
		if err == nil {
			return after, nil
		}
		last, failed = saved, fmt.Errorf("the saved file was not encrypted, and %s is unchanged: %w", o.file, err)
		fmt.Fprintln(o.IO.Err, "the saved file cannot be encrypted: "+err.Error())
	}
}

// runEditor runs the editor of the user, which may have arguments, on a file.
func (o editOptions) runEditor(ctx context.Context, name string) error {
	editor := os.Getenv("EDITOR")
	if editor == "" {
		editor = "vi"
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, editor, name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.IO.In, o.IO.Out, o.IO.Err
	// An editor that is asked to end gives the terminal back.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running the editor %q: %w; nothing was written", editor, err)
	}
	return nil
}
