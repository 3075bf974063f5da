package object

import (
	"context"
	"fmt"

	"github.com/itchyny/gojq"
	"k8s.io/client-go/util/jsonpath"

	"github.com/headgate-dev/headgate/internal/jq"
	"github.com/headgate-dev/headgate/internal/sandbox"
)

// query is a path or a filter over an object. Both are programs of tenants: a value that holds itself twice, sixty times over, has no end
// as a text, and an index of a few digits asks for gigabytes. Neither library can be interrupted in that.
type query struct {
	Path, Filter string
	Object       any
}

// String is the field that has it.
func (q query) String() string {
	if q.Path != "" {
		return fmt.Sprintf("jsonPath %q", q.Path)
	}
	return fmt.Sprintf("jqFilter %q", q.Filter)
}

// Jobs are what this package has done in the sandbox.
func Jobs() []sandbox.Job { return []sandbox.Job{queryJob{}} }

// queryJob evaluates a query.
type queryJob struct{}

// Name is that of the job.
func (queryJob) Name() string { return "query" }

// Run gives the value.
func (queryJob) Run(input []byte, _ sandbox.Asker) ([]byte, error) {
	var q query
	if err := sandbox.Decode(input, &q); err != nil {
		return nil, err
	}
	// The object goes through JSON once more: the libraries know its numbers as those of a decoded text alone.
	plain, err := plainOf(q.Object)
	if err != nil {
		return nil, err
	}
	value, err := q.evaluate(context.Background(), plain) //nolint:forbidigo // a job ends with its process
	return []byte(value), err
}

const (
	// longestSmall is how long a small query is at most, in bytes.
	longestSmall = 1000
	// mostParts is how many parts a small path has.
	mostParts = 32
)

// small reports whether a query names parts of the object and nothing else, so that no process is needed to bound it.
func (q query) small() bool {
	if len(q.Path)+len(q.Filter) > longestSmall {
		return false
	}
	if q.Path != "" {
		parsed, err := jsonpath.Parse("output", q.Path)
		if err != nil {
			return true // that is all that comes of it
		}
		left := mostParts
		return smallNodes(parsed.Root, &left)
	}
	parsed, err := gojq.Parse(q.Filter)
	return err != nil || jq.Small(parsed)
}

// smallNodes reports whether a path goes down only, and each part once.
func smallNodes(list *jsonpath.ListNode, left *int) bool {
	for _, node := range list.Nodes {
		if *left--; *left < 0 {
			return false
		}
		switch n := node.(type) {
		case *jsonpath.TextNode, *jsonpath.FieldNode, *jsonpath.ArrayNode, *jsonpath.WildcardNode, *jsonpath.IntNode, *jsonpath.FloatNode, *jsonpath.BoolNode:
		case *jsonpath.ListNode:
			if !smallNodes(n, left) {
				return false
			}
		case *jsonpath.FilterNode:
			if !smallNodes(n.Left, left) || !smallNodes(n.Right, left) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
