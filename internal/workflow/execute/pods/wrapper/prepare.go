package wrapper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/headgate-dev/headgate/internal/workflow/artifacts"
)

// prepare lays out the binary, the script and the inputs.
func prepare(dir string) error {
	text, err := taskOf(os.LookupEnv)
	if err != nil {
		return err
	}
	task := &Task{}
	if err := unpack(text, task); err != nil {
		return err
	}
	if err := copySelf(filepath.Join(dir, Binary)); err != nil {
		return fmt.Errorf("copying the binary for the program's container: %w", err)
	}
	if err := keepBundle(dir); err != nil {
		return fmt.Errorf("copying the certificates that this image trusts: %w", err)
	}
	if task.Source != nil {
		if err := makeDir(filepath.Join(dir, Staging)); err != nil {
			return err
		}
		if err := writeTo(filepath.Join(dir, Staging, ScriptFile), 0o755, strings.NewReader(*task.Source)); err != nil {
			return err
		}
	}
	if err := layOut(filepath.Join(dir, Inputs), task); err != nil {
		return err
	}
	return writeTo(filepath.Join(dir, taskFile), 0o644, strings.NewReader(text))
}

// copySelf copies this binary.
func copySelf(to string) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	self, err := os.Open(path)
	if err != nil {
		return err
	}
	defer self.Close()
	return writeTo(to, 0o755, self)
}

// makeDir creates a directory into which programs of any user may write.
func makeDir(path string) error {
	const open = 0o777
	if err := os.MkdirAll(path, open); err != nil {
		return err
	}
	return os.Chmod(path, open)
}

// layOut puts the inputs into a directory, each under its name.
func layOut(dir string, task *Task) error {
	if len(task.Inputs) == 0 {
		return nil
	}
	if err := makeDir(dir); err != nil {
		return err
	}
	// The root of the file system is read-only.
	temp, err := os.MkdirTemp(dir, ".store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	store, err := artifacts.OpenStore(temp, limits)
	if err != nil {
		return err
	}
	places := &artifacts.Places{Store: store, Limits: limits}
	for _, artifact := range task.Inputs {
		if content, handed := task.Contents[artifact.Name]; handed {
			if artifact.Local, err = store.Put(owner, bytes.NewReader(content)); err != nil {
				return err
			}
		}
		place := filepath.Join(dir, artifact.Name)
		if err := places.Put(context.Background(), owner, artifact, variables{}, place); err != nil { //nolint:forbidigo // it ends with the process, whose main this is
			return fmt.Errorf("input %w", err)
		}
		if artifact.Mode == nil {
			if err := open(place); err != nil {
				return fmt.Errorf("input artifact %q: %w", artifact.Name, err)
			}
		}
	}
	return nil
}

// owner stands for the one workflow that there is in a pod.
const owner = "pod"

// limits are those of a machine's disk; the kubelet evicts a pod that takes more than it may.
var limits = artifacts.DefaultLimits()

// variables are the Secrets that artifacts name: the kubelet puts them into environment variables.
type variables struct{}

// Secret is the value of one.
func (variables) Secret(_ context.Context, name, key string) ([]byte, error) {
	value, is := os.LookupEnv(SecretVariable(name, key))
	if !is {
		return nil, fmt.Errorf("Secret %q has no key %q, or does not exist", name, key)
	}
	return []byte(value), nil
}

// secretVariable begins the names of the environment variables that have keys of Secrets.
const secretVariable = "HEADGATE_SECRET_"

// SecretVariable is the environment variable of a key of a Secret.
func SecretVariable(name, key string) string {
	sum := sha256.Sum256([]byte(name + "/" + key))
	return secretVariable + hex.EncodeToString(sum[:8])
}

// open has programs of any user change what is there: it is seen by this pod alone.
func open(place string) error {
	return filepath.WalkDir(place, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.Type()&os.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		const all = 0o666
		mode := info.Mode().Perm() | all
		if info.IsDir() || mode&0o100 != 0 {
			mode |= 0o111
		}
		return os.Chmod(path, mode)
	})
}
