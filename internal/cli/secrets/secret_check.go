package secrets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/gitserver"
	"github.com/headgate-dev/headgate/internal/render/decrypt"
	"github.com/headgate-dev/headgate/internal/sopsfile"
)

func newSecretCheck(g *console.Globals) *cobra.Command {
	var ageKeyFile string
	var cluster bool
	cmd := &cobra.Command{
		Use:   "check [PATH]",
		Short: "Find values that should be encrypted, and files that cannot be decrypted",
		Long: `Check a repository, in these steps:

  1. list the files below PATH that Git tracks or does not ignore; without Git, all files
  2. report each clear-text value that the creation rules of .sops.yaml encrypt, and each clear-text
     value that was added to an encrypted file
  3. report encrypted files with damaged metadata
  4. with keys, report encrypted files that none of them decrypts, with the recipients, and files
     that were changed by hand

A rule that matches any file of a directory is taken to mean only Secrets among Kubernetes
objects; one that matches any file at all, only Kubernetes objects. The exit code is 1
if something was found. Values are never printed.`,
		Example: "  headgate secret check\n  headgate secret check clusters --cluster",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) > 0 {
				path = args[0]
			}
			return runSecretCheck(cmd.Context(), g, path, ageKeyFile, cluster)
		},
	}
	bindSecretKeys(cmd, &ageKeyFile)
	cmd.Flags().BoolVar(&cluster, "cluster", false, "also decrypt with the keys of the cluster's Secret "+keyNamespace+"/"+keySecret+" as well")
	return cmd
}

func runSecretCheck(ctx context.Context, g *console.Globals, path, ageKeyFile string, cluster bool) error {
	keys, err := console.UserKeys(ageKeyFile)
	if err != nil {
		return err
	}
	if cluster {
		held, err := clusterKeys(ctx, g)
		if err != nil {
			return err
		}
		keys = decrypt.Merge(keys, held)
	}
	if keys.Empty() {
		fmt.Fprintln(g.IO.Err, "no keys given: not checking whether encrypted files can be decrypted")
	}
	files, err := filesBelow(ctx, path)
	if err != nil {
		return err
	}
	findings, err := sopsfile.Check(files, keys)
	if err != nil {
		return err
	}
	for _, f := range findings {
		fmt.Fprintln(g.IO.Out, f)
	}
	if len(findings) > 0 {
		return console.ErrNo
	}
	return nil
}

// filesBelow lists the files that belong to a repository: those that Git tracks or does not ignore.
func filesBelow(ctx context.Context, path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the repository: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	if gitserver.Current(ctx) != nil {
		return walkBelow(path)
	}
	list := exec.CommandContext(ctx, "git", "-C", path, "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit",
		"ls-files", "-z", "--cached", "--others", "--exclude-standard")
	out, err := list.Output()
	if err != nil {
		return walkBelow(path)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		files = append(files, filepath.Join(path, name))
	}
	// Git lists a file with a conflict once for each side.
	return slices.Compact(files), nil
}

func walkBelow(path string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.IsDir():
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walking through %s: %w", path, err)
	}
	return files, nil
}
