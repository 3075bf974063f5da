package boot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/headgate-dev/headgate/internal/cli/console"
	"github.com/headgate-dev/headgate/internal/runner"
)

// journal keeps what the units did, a line of JSON each, for the logs command. Notes hold no
// secrets. It is safe for concurrent use.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

const journalName = "journal.jsonl"

func newJournal(dir string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &journal{file: f}, nil
}

func (j *journal) note(n runner.Note) {
	data, err := json.Marshal(n)
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	// A journal that cannot be written must not hold up what it records.
	_, _ = j.file.Write(append(data, '\n'))
}

func (j *journal) close() error { return j.file.Close() }

// openJournal opens the journal of the engine that runs, or ran last.
func openJournal(g *console.Globals) (*os.File, error) {
	state, err := g.State()
	if err != nil {
		return nil, err
	}
	dirs := []string{console.ClusterDir(state, true), console.ClusterDir(state, false)}
	if g.Real() {
		config, err := g.RestConfig()
		if err != nil {
			return nil, err
		}
		dirs = []string{console.EngineDir(state, config.Host)}
	}
	for _, dir := range dirs {
		f, err := os.Open(filepath.Join(dir, journalName))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return f, err
	}
	return nil, console.Hint(errors.New("no journal: no engine has run here"), "headgate up PATH")
}
