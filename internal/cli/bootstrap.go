package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/headgate-dev/headgate/internal/bootstrap"
	"github.com/headgate-dev/headgate/internal/installation"
	"github.com/headgate-dev/headgate/internal/progress"
)

type bootstrapOptions struct {
	*globals
	installing
	repository bootstrap.Repository
	// Files of what may not stand on a command line.
	passwordFile, identityFile, hostsFile, caFile, ageKeyFile string
	newAgeKey, push, withoutInstall, withoutWait              bool
}

func newBootstrap(g *globals) *cobra.Command {
	o := bootstrapOptions{globals: g}
	cmd := &cobra.Command{
		Use:   "bootstrap URL",
		Short: "Connect a cluster to a Git repository: from nothing to what Git says",
		Long: `Connect the cluster of --kubeconfig to a Git repository, in these steps:

  1. install the controller, as "headgate install" does, and wait until it is ready
  2. put the age key into the Secret flux-system/sops-age: that of a file, or a new one, which is shown once
  3. put the credentials of the repository into the Secret flux-system/flux-system
  4. with --push: commit the manifests of the controller and of the root to PATH/flux-system
  5. make the source and the root Kustomization, both flux-system/flux-system
  6. print what happens until everything is ready

Done again, it changes nothing that is as it should be. A cluster whose root is that of another repository or
directory is refused. On a cluster that was deleted, the same command brings everything back.`,
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
	f.StringVar(&o.repository.Path, "path", "", "directory of the repository that the cluster begins with")
	f.DurationVar(&o.repository.Interval, "interval", time.Minute, "how often the repository is looked at when nothing tells of a push")
	f.StringVar(&o.repository.Username, "git-username", "git", "user of an http(s) repository")
	f.StringVar(&o.passwordFile, "git-password-file", "", "file with the password or token of that user (default: the environment variable GIT_PASSWORD)")
	f.StringVar(&o.identityFile, "ssh-key-file", "", "private key of an ssh repository; GIT_PASSWORD opens it")
	f.StringVar(&o.hostsFile, "known-hosts-file", "", "keys of the hosts of an ssh repository")
	f.StringVar(&o.caFile, "git-ca-file", "", "certificates to trust, of an https repository")
	f.StringVar(&o.ageKeyFile, "age-key-file", "", "age identities to decrypt with")
	f.BoolVar(&o.newAgeKey, "new-age-key", false, "make an age key if the cluster has none, and show it once")
	f.BoolVar(&o.push, "push", false, "commit and push the manifests of the controller and of the root")
	f.BoolVar(&o.withoutInstall, "without-install", false, "install no controller: one serves the cluster already")
	f.BoolVar(&o.withoutWait, "without-wait", false, "end when the root is made")
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
	if !o.real() {
		return errNoCluster()
	}
	ageKey, err := o.read()
	if err != nil {
		return err
	}
	options, err := o.options(o.catalogue)
	if err != nil {
		return err
	}
	config, err := o.restConfig()
	if err != nil {
		return err
	}
	if err := bootstrap.Refuse(ctx, config, o.repository); err != nil {
		return unreachable(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	say := progress.New(o.io.Err)
	if !o.withoutInstall {
		if err := o.globals.install(ctx, say, options, o.timeout); err != nil {
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
		return unreachable(err)
	}
	say.Done("root", o.repository.Root()+" of branch "+o.repository.Branch)
	if o.withoutWait {
		return nil
	}
	if err := follow(ctx, config, say); err != nil {
		return err
	}
	say.Done("the cluster", fmt.Sprintf("is what Git says, after %.1fs", time.Since(began).Seconds()))
	return nil
}

// key puts the age key into the cluster, and shows one that was made.
func (o *bootstrapOptions) key(ctx context.Context, config *rest.Config, given []byte, say *progress.Printer) error {
	shown, err := bootstrap.Key(ctx, config, given, o.newAgeKey)
	if err != nil {
		return err
	}
	if shown != "" {
		say.Info("age key", "made; this is the only time that it is shown: keep it, the cluster cannot be restored without it")
		fmt.Fprint(o.io.Out, shown)
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
		say.Done("repository", "has the manifests already")
	} else {
		say.Done("repository", fmt.Sprintf("the manifests are pushed, at %.12s", pushed.Commit))
	}
	if pushed.Advice != "" {
		say.Problem("repository", pushed.Advice)
	}
	return nil
}
