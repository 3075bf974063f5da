package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// ability is what this machine permits.
type ability struct {
	// Host is its name.
	Host string
	// Reason is why processes are not confined, and have no paths of their own; empty if they are.
	Reason string
	// User is set if that takes a user namespace.
	User bool
}

// probe finds out what this machine permits, by trying.
func probe(ctx context.Context, program, dir string) ability {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	var seen []string
	for _, a := range candidates() {
		a.Host = host
		err := try(ctx, program, dir, a)
		if err == nil {
			return a
		}
		if !slices.Contains(seen, err.Error()) {
			seen = append(seen, err.Error())
		}
	}
	return ability{Host: host, Reason: explained(seen, os.DirFS("/"), os.Geteuid() == 0)}
}

// Unable is why processes cannot be confined on this machine, and what would change that; empty if they can. The program is this binary.
func Unable(ctx context.Context, program string) (string, error) {
	dir, err := os.MkdirTemp("", "headgate-confined-")
	if err != nil {
		return "", fmt.Errorf("finding out whether processes can be confined: %w", err)
	}
	defer os.RemoveAll(dir)
	return probe(ctx, program, dir).Reason, nil
}

// try sets everything up as for a program, and runs none.
func try(ctx context.Context, program, dir string, a ability) error {
	const most = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	temp, err := os.MkdirTemp(dir, ".probe-")
	if err != nil {
		return err
	}
	defer func() { _ = discard(temp) }()
	j := &job{Dir: temp, Ability: a, Mounts: []mount{{Path: "/argo/staging", Memory: true, Files: map[string][]byte{"probe": nil}}}}
	for _, part := range []string{filepath.Join(privateDir, "root"), outDir} {
		if err := os.MkdirAll(filepath.Join(temp, part), 0o700); err != nil {
			return err
		}
	}
	jobRead, jobWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	reportRead, reportWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reportRead.Close()
	cmd := exec.CommandContext(ctx, program) //nolint:gosec // it is this binary
	cmd.Args = []string{"headgate-step"}
	cmd.Env = []string{marker + "=" + roleInside}
	cmd.ExtraFiles = []*os.File{jobRead, reportWrite}
	cmd.SysProcAttr = a.inner()
	if err := cmd.Start(); err != nil {
		jobWrite.Close()
		return fmt.Errorf("starting a process in namespaces: %w", err)
	}
	jobRead.Close()
	reportWrite.Close()
	err = errors.Join(json.NewEncoder(jobWrite).Encode(j), jobWrite.Close())
	var r report
	if err == nil {
		err = json.NewDecoder(reportRead).Decode(&r)
	}
	_ = cmd.Wait()
	if err == nil && r.Setup != "" {
		err = errors.New(r.Setup)
	}
	return err
}
