package steps

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/sjson"

	"github.com/headgate-dev/headgate/internal/sandbox"
)

const (
	// maxKey bounds the key of an update, in bytes, and maxIndex the number of an item in it: what is before that is filled with null.
	maxKey   = 1024
	maxIndex = 10_000
)

// names are a key that takes as long as one reading of the file: names and numbers with dots between them, and anything behind a backslash.
// Whatever else a key has is a program of GJSON, of which a few hundred bytes may double their value with each step.
var names = regexp.MustCompile(`^(?:[^.\\|#@*?\[\]{}!]|\\.)+(?:\.(?:[^.\\|#@*?\[\]{}!]|\\.)+)*$`)

// Jobs are what steps have done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{setJob{}} }

// setting is a value in a file of JSON.
type setting struct {
	Content []byte
	Key     string
	Value   any
}

func (s setting) apply() ([]byte, error) { return sjson.SetBytes(s.Content, s.Key, s.Value) }

// setJob sets a value.
type setJob struct{}

// Name tells it apart.
func (setJob) Name() string { return "json-update" }

// Run gives the file.
func (setJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var s setting
	if err := sandbox.Decode(input, &s); err != nil {
		return nil, err
	}
	return s.apply()
}

// set sets a value in a file of JSON.
func (s *step) set(ctx context.Context, content []byte, key string, value any) ([]byte, error) {
	one := setting{content, key, value}
	if err := indices(key); err != nil {
		return nil, err
	}
	if names.MatchString(key) {
		return one.apply()
	}
	input, err := sandbox.Encode(one)
	if err != nil {
		return nil, err
	}
	return s.runner.Sandbox.For(s.project(), "Promotion "+s.work.Promotion).Do(ctx, setJob{}, input, nil)
}

// indices refuses a key that is long, or has an item far behind the others.
func indices(key string) error {
	if len(key) > maxKey {
		return fmt.Errorf("it has %d bytes; at most %d are permitted", len(key), maxKey)
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(key, `\`, ""), ".") {
		n, err := strconv.ParseUint(part, 10, 64)
		if err == nil && n > maxIndex || errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("item %s is beyond %d", part, maxIndex)
		}
	}
	return nil
}
