package steps

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
)

// compose makes outputs of its configuration, whose expressions have been evaluated.
func (*step) compose(_ context.Context, data []byte) (map[string]any, error) {
	const most = 128 << 10
	if len(data) > most {
		return nil, fail("the outputs have %d bytes together, more than %d", len(data), most)
	}
	config, err := decode[map[string]any](data)
	if err != nil {
		return nil, err
	}
	if len(config) == 0 {
		return nil, fail("there are no outputs")
	}
	return config, nil
}

type fileWriteConfig struct {
	Path        string  `json:"path"`
	Contents    *string `json:"contents"`
	Permissions string  `json:"permissions"`
	Overwrite   bool    `json:"overwrite"`
}

// fileWrite writes a file. One that has the same contents is taken for what an earlier attempt wrote.
func (s *step) fileWrite(_ context.Context, data []byte) (map[string]any, error) {
	config, err := decode[fileWriteConfig](data)
	if err != nil {
		return nil, err
	}
	at, err := clean("path", config.Path)
	if err != nil {
		return nil, err
	}
	if config.Contents == nil {
		return nil, fail("contents: it is missing")
	}
	mode := uint64(0o600)
	if config.Permissions != "" {
		if mode, err = strconv.ParseUint(config.Permissions, 8, 32); err != nil || len(config.Permissions) != 4 || mode > 0o777 {
			return nil, fail("permissions: %q is not an octal mode such as 0644", config.Permissions)
		}
	}
	exists, err := s.exists(at)
	if err != nil {
		return nil, err
	}
	if exists && !config.Overwrite {
		there, err := s.read(at)
		if err != nil {
			return nil, err
		}
		if string(there) != *config.Contents {
			return nil, fail("path: there is a file %q: set overwrite to replace it", at)
		}
	}
	if err := s.write(at, []byte(*config.Contents)); err != nil {
		return nil, err
	}
	if err := s.root.Chmod(at, fs.FileMode(mode)); err != nil {
		return nil, fmt.Errorf("setting the permissions of %q: %w", at, err)
	}
	return nil, nil
}
