package cloud

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// store keeps a state and the audit log in a directory; without one, nowhere.
type store struct{ dir string }

const (
	stateFile = "cloud.json"
	auditFile = "audit.jsonl"
)

// load reads what an earlier process stored.
func (s store) load() (State, Log, error) {
	var state State
	if s.dir == "" {
		return state, nil, nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return state, nil, fmt.Errorf("creating the directory of the simulated cloud: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(s.dir, stateFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return state, nil, nil
	case err == nil:
		err = json.Unmarshal(data, &state)
	}
	if err != nil {
		return state, nil, fmt.Errorf("reading the state of the simulated cloud in %q: %w", s.dir, err)
	}
	log, err := s.entries()
	if last := state.Last; last != nil && err == nil && !slices.ContainsFunc(log, func(e Entry) bool { return e.ID == last.ID }) {
		// The process was killed between the two files.
		log, err = append(log, *last), s.log(*last)
	}
	return state, log, err
}

// entries reads the audit log. A line that a killed process did not finish is none.
func (s store) entries() (Log, error) {
	file, err := os.Open(filepath.Join(s.dir, auditFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log of the simulated cloud: %w", err)
	}
	defer file.Close()
	var log Log
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 2*maxRequest)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			log = append(log, e)
		}
	}
	return log, lines.Err()
}

// append stores the state with the entry of the audit log that explains it, and then that entry in the log.
func (s store) append(e Entry, state *State) error {
	state.Last = &e
	if err := s.save(state); err != nil {
		return err
	}
	return s.log(e)
}

// log adds an entry to the audit log, on a line of its own even if a killed process left half of one.
func (s store) log(e Entry) error {
	if s.dir == "" {
		return nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("storing the audit log: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(s.dir, auditFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("storing the audit log: %w", err)
	}
	_, err = file.Write(append([]byte{'\n'}, line...))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("storing the audit log: %w", err)
	}
	return nil
}

// save stores a state in one step.
func (s store) save(state *State) error {
	if s.dir == "" {
		return nil
	}
	kept := *state
	kept.Images = slices.DeleteFunc(slices.Clone(state.Images), func(i *Image) bool { return i.Public })
	data, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("storing the state: %w", err)
	}
	at := filepath.Join(s.dir, stateFile)
	if err := os.WriteFile(at+".new", data, 0o600); err != nil {
		return fmt.Errorf("storing the state: %w", err)
	}
	if err := os.Rename(at+".new", at); err != nil {
		return fmt.Errorf("storing the state: %w", err)
	}
	return nil
}
