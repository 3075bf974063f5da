package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
	"github.com/headgate-dev/headgate/internal/workflow/plan"
)

const (
	// temporary is where programs put files of their own.
	temporary = "/tmp"
	// staging is where the upstream has the source of scripts.
	staging    = "/argo/staging"
	scriptName = "script"
	// searchPath is where programs are, besides what is of NixOS and of Nix.
	searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin"
)

// preparation puts a job together.
type preparation struct {
	executor  *Executor
	x         *execution
	run       *plan.Run
	container *corev1.Container
	account   *account
	job       *job
	// values is the environment so far, in the order of names.
	values map[string]string
	names  []string
}

// containerOf is the container that a template has.
func containerOf(t *v1alpha1.Template) *corev1.Container {
	if t.Script != nil {
		return &t.Script.Container
	}
	return t.Container
}

// private is a directory of the process.
func (p *preparation) private(name string) (string, error) {
	dir := filepath.Join(p.x.file(privateDir), name)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the directory above is closed to others
		return "", fmt.Errorf("preparing %s: %w", p.run.NodeID, err)
	}
	return dir, nil
}

// able reports whether the process can have paths of its own.
func (p *preparation) able() bool { return p.executor.ability.Reason == "" }

func (p *preparation) mount(m mount) { p.job.Mounts = append(p.job.Mounts, m) }

// standard are the paths that every process has for itself, and those that it does not see.
func (p *preparation) standard(context.Context) error {
	const sticky = os.ModeSticky | 0o777
	p.values = map[string]string{}
	home := temporary
	p.job.Cwd = p.container.WorkingDir
	for _, path := range []string{temporary, "/var/tmp"} {
		dir, err := p.private(strings.ReplaceAll(path[1:], "/", "-"))
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, sticky); err != nil {
			return fmt.Errorf("preparing %s: %w", p.run.NodeID, err)
		}
		if !p.able() {
			home = dir
			break
		}
		p.mount(mount{Path: path, Source: dir})
	}
	p.set("PATH", searchPath)
	p.set("HOME", home)
	p.set("TMPDIR", home)
	if !p.able() {
		p.job.Cwd = home
		return nil
	}
	if p.job.Cwd == "" {
		p.job.Cwd = "/"
	} else if _, err := os.Stat(p.job.Cwd); err != nil {
		p.job.Private = append(p.job.Private, p.job.Cwd)
	}
	p.mount(mount{Path: "/dev/shm", Memory: true})
	return p.emptied()
}

// emptied puts an empty directory of the step's own instead of each hidden one. A template may have paths below it, such as
// /root/.docker/config.json, and programs may write there.
func (p *preparation) emptied() error {
	for i, hidden := range p.executor.options.Hidden {
		if info, err := os.Stat(hidden); err != nil || !info.IsDir() || filepath.Clean(hidden) == "/" || strings.HasPrefix(resolve(hidden)+"/", temporary+"/") {
			continue
		}
		dir, err := p.private(fmt.Sprintf("hidden-%d", i))
		if err != nil {
			return err
		}
		p.mount(mount{Path: hidden, Source: dir})
	}
	return nil
}

// inputs puts artifacts where the template wants them.
func (p *preparation) inputs(ctx context.Context) error {
	for i := range p.run.Template.Inputs.Artifacts {
		a := p.run.Template.Inputs.Artifacts[i]
		dir, err := p.private("inputs")
		if err != nil {
			return err
		}
		file := filepath.Join(dir, fmt.Sprint(i))
		err = p.executor.options.Places.Put(ctx, p.x.intent.UID, a, p.account, file)
		switch {
		case errors.Is(err, artifacts.ErrNone):
			return never("inputs.artifacts: %s", err)
		case err != nil:
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("inputs.artifacts: %w", err)
		}
		p.mount(mount{Path: a.Path, Source: file, File: !info.IsDir()})
	}
	return nil
}

// outputs has directories for the files that are taken at the end.
func (p *preparation) outputs(context.Context) error {
	var paths []string
	for _, parameter := range p.run.Template.Outputs.Parameters {
		if from := parameter.ValueFrom; from != nil && from.Path != "" {
			paths = append(paths, from.Path)
		}
	}
	for _, a := range p.run.Template.Outputs.Artifacts {
		paths = append(paths, a.Path)
	}
	for _, path := range paths {
		if dir := filepath.Dir(filepath.Clean(path)); filepath.IsAbs(path) && dir != "/" && !slices.Contains(p.job.Private, dir) {
			p.job.Private = append(p.job.Private, dir)
		}
	}
	return nil
}

// command is what is executed, with its environment.
func (p *preparation) command(context.Context) error {
	command := append(slices.Clone(p.container.Command), p.container.Args...)
	if script := p.run.Template.Script; script != nil {
		file := filepath.Join(staging, scriptName)
		if p.able() {
			p.mount(mount{Path: staging, Memory: true, Mode: 0o755, Files: map[string][]byte{scriptName: []byte(script.Source)}})
		} else {
			file = filepath.Join(p.x.file(privateDir), scriptName)
			if err := os.WriteFile(file, []byte(script.Source), 0o700); err != nil { //nolint:gosec // a script may be executed
				return fmt.Errorf("preparing %s: %w", p.run.NodeID, err)
			}
		}
		command = append(command, file)
	}
	for i := range command {
		command[i] = expand(command[i], p.values)
	}
	p.job.Command = command
	for _, name := range p.names {
		p.job.Env = append(p.job.Env, name+"="+p.values[name])
	}
	p.job.Search = filepath.SplitList(p.values["PATH"])
	return nil
}

// set adds a value to the environment.
func (p *preparation) set(name, value string) {
	if _, has := p.values[name]; !has {
		p.names = append(p.names, name)
	}
	p.values[name] = value
}

// hide has a value not shown in anything that is kept.
func (p *preparation) hide(value []byte) {
	p.job.Secrets = append(p.job.Secrets, string(value))
}

// expand replaces references to the environment, as in containers: $(NAME), and $$ for one dollar sign. What has no value stays.
func expand(text string, values map[string]string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		if at < 0 || at+1 == len(text) {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at])
		text = text[at:]
		if text[1] == '$' {
			out.WriteByte('$')
			text = text[2:]
			continue
		}
		end := strings.IndexByte(text, ')')
		if text[1] != '(' || end < 0 {
			out.WriteByte('$')
			text = text[1:]
			continue
		}
		value, has := values[text[2:end]]
		if !has {
			value = text[:end+1]
		}
		out.WriteString(value)
		text = text[end+1:]
	}
}
