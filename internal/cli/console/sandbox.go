package console

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

// SandboxFlags say what rendering charts and Jsonnet may take.
type SandboxFlags struct {
	memory  string
	timeout time.Duration
}

// Bind adds the flags.
func (s *SandboxFlags) Bind(f *pflag.FlagSet) {
	f.StringVar(&s.memory, "render-memory", "", "memory that a process may use in which charts and Jsonnet are rendered (default 512Mi, or a quarter of the memory of the container if that is less); 0 renders in this process, without limits")
	f.DurationVar(&s.timeout, "render-timeout", sandbox.DefaultTime, "how long rendering one chart or one file of Jsonnet may take")
}

// Limits are what the flags say, in a container that has so much memory, in bytes; zero where that is unlimited.
func (s *SandboxFlags) Limits(container int64) (sandbox.Limits, error) {
	l := sandbox.DefaultLimits()
	if s.timeout > 0 {
		l.Time = s.timeout
	}
	if s.memory != "" {
		said, err := resource.ParseQuantity(s.memory)
		const least = 64 << 20
		if err != nil || said.Value() != 0 && said.Value() < least {
			return l, fmt.Errorf("--render-memory: %q is no amount of memory; use 0, or 64Mi or more", s.memory)
		}
		l.Memory = said.Value()
	}
	return l.Within(container, s.memory != ""), nil
}

// Sandbox returns where charts and Jsonnet are rendered for as long as ctx lasts. dir is what outlives the process, if anything does.
func (i IO) Sandbox(ctx context.Context, l sandbox.Limits, dir string, problem func(text string)) *sandbox.Pool {
	config := sandbox.Config{Limits: l, Dir: dir, Problem: problem}
	if i.Child {
		config.Program = sandbox.Self()
	}
	return sandbox.New(ctx, config)
}
