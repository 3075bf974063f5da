package boot

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/bootstrap"
	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/progress"
)

type bootstrapOptions struct {
	*console.Globals
	installing
	repository bootstrap.Repository
	// Files of what may not stand on a command line.
	passwordFile, identityFile, hostsFile, caFile, ageKeyFile string
	newAgeKey, push, withoutInstall, withoutWait              bool
}

// NewBootstrap is the command that has a cluster begin with a repository.
func NewBootstrap(g *console.Globals) *cobra.Command {
	o := bootstrapOptions{Globals: g}
	cmd := &cobra.Command{
		Use:   "bootstrap URL",
		Short: "Install Headgate into a cluster and connect it to a Git repository",
		Long: `Connect the cluster of --kubeconfig to a Git repository, in these steps:

  1. install the controller, as "headgate install" does, and wait until it is ready
  2. store the age key in the Secret flux-system/sops-age: from a file, or a new one, which is shown once
  3. store the credentials of the repository in the Secret flux-system/flux-system
  4. with --push: commit the manifests of the controller and of the root to PATH/flux-system
  5. create the source and the root Kustomization, both flux-system/flux-system
  6. print progress until everything is ready

The command is idempotent. A cluster whose root is that of another repository or
directory is refused. The same command restores a cluster that was deleted.`,
		Example: `  headgate bootstrap https://example.com/fleet.git --path clusters/prod --age-key-file age.agekey
  headgate bootstrap ssh://git@example.com/fleet.git --path clusters/prod --ssh-key-file id_ed25519 --known-hosts-file known_hosts
  GIT_PASSWORD=... headgate bootstrap https://example.com/fleet.git --path clusters/prod --git-username me --push --new-age-key`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.repository.URL = args[0]
			return runBootstrap(cmd.Context(), &o)
		},
	}
	f := cmd.Flags()
	o.installing.bind(f)
	f.StringVar(&o.repository.Branch, "branch", "main", "branch")
	f.StringVar(&o.repository.Path, "path", "", "directory of the repository that the cluster is synced from")
	f.DurationVar(&o.repository.Interval, "interval", time.Minute, "how often the repository is fetched without a webhook")
	f.StringVar(&o.repository.Username, "git-username", "git", "user of an http(s) repository")
	f.StringVar(&o.passwordFile, "git-password-file", "", "file with the password or token of that user (default: the environment variable GIT_PASSWORD)")
	f.StringVar(&o.identityFile, "ssh-key-file", "", "private key of an ssh repository; GIT_PASSWORD opens it")
	f.StringVar(&o.hostsFile, "known-hosts-file", "", "keys of the hosts of an ssh repository")
	f.StringVar(&o.caFile, "git-ca-file", "", "certificates to trust, of an https repository")
	f.StringVar(&o.ageKeyFile, "age-key-file", "", "file with age identities to decrypt with")
	f.BoolVar(&o.newAgeKey, "new-age-key", false, "create an age key if the cluster has none, and show it once")
	f.BoolVar(&o.push, "push", false, "commit and push the manifests of the controller and of the root")
	f.BoolVar(&o.withoutInstall, "without-install", false, "do not install a controller: the cluster already has one")
	f.BoolVar(&o.withoutWait, "without-wait", false, "exit when the root is created")
	return cmd
}

// read reads the files that the flags name.
func (o *bootstrapOptions) read() (ageKey []byte, err error) {
	r := &o.repository
	r.Password = os.Getenv("GIT_PASSWORD")
	for _, one := range []struct {
		flag, name string
		to         func([]byte)
	}{
		{"git-password-file", o.passwordFile, func(data []byte) { r.Password = strings.TrimSpace(string(data)) }},
		{"ssh-key-file", o.identityFile, func(data []byte) { r.Identity, r.Username = data, "" }},
		{"known-hosts-file", o.hostsFile, func(data []byte) { r.KnownHosts = data }},
		{"git-ca-file", o.caFile, func(data []byte) { r.CA = data }},
		{"age-key-file", o.ageKeyFile, func(data []byte) { ageKey = data }},
	} {
		if one.name == "" {
			continue
		}
		data, err := os.ReadFile(one.name)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", one.flag, err)
		}
		one.to(data)
	}
	if r.Password == "" && len(r.Identity) == 0 {
		r.Username = ""
	}
	return ageKey, r.Check()
}

func runBootstrap(ctx context.Context, o *bootstrapOptions) error {
	if !o.Real() {
		return errNoCluster()
	}
	ageKey, err := o.read()
	if err != nil {
		return err
	}
	options, err := o.options(o.Catalogue)
	if err != nil {
		return err
	}
	config, err := o.RestConfig()
	if err != nil {
		return err
	}
	if err := bootstrap.Refuse(ctx, config, o.repository); err != nil {
		return console.Unreachable(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	say := progress.New(o.IO.Err)
	if !o.withoutInstall {
		if err := installChart(ctx, o.Globals, say, options, o.timeout); err != nil {
			return err
		}
	}
	if err := o.key(ctx, config, ageKey, say); err != nil {
		return err
	}
	if o.push {
		if err := o.pushTo(ctx, options, say); err != nil {
			return err
		}
	}
	if err := bootstrap.Connect(ctx, config, o.repository); err != nil {
		return console.Unreachable(err)
	}
	say.Done("root", o.repository.Root()+" of branch "+o.repository.Branch)
	if o.withoutWait {
		return nil
	}
	if err := followUnits(ctx, o.Globals, config, say); err != nil {
		return err
	}
	say.Done("the cluster", fmt.Sprintf("matches Git, after %.1fs", time.Since(began).Seconds()))
	return nil
}

// key puts the age key into the cluster, and shows one that was made.
func (o *bootstrapOptions) key(ctx context.Context, config *rest.Config, given []byte, say *progress.Printer) error {
	shown, err := bootstrap.Key(ctx, config, given, o.newAgeKey)
	if err != nil {
		return err
	}
	if shown != "" {
		say.Info("age key", "created; it is shown only once: keep it, the cluster cannot be restored without it")
		fmt.Fprint(o.IO.Out, shown)
	}
	return nil
}

func (o *bootstrapOptions) pushTo(ctx context.Context, options installation.Options, say *progress.Printer) error {
	options.WithoutDefinitions = true
	objects, err := installation.Objects(ctx, options)
	if err != nil {
		return err
	}
	pushed, err := bootstrap.Push(ctx, o.repository, objects)
	if err != nil {
		return err
	}
	if pushed.Commit == "" {
		say.Done("repository", "already has the manifests")
	} else {
		say.Done("repository", fmt.Sprintf("manifests pushed, at %.12s", pushed.Commit))
	}
	if pushed.Advice != "" {
		say.Problem("repository", pushed.Advice)
	}
	return nil
}
