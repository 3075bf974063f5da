package plan

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// maxNodes bounds nodes once they are unpacked, in bytes: a status of a megabyte may have a thousand times as much in it.
const maxNodes = 32 << 20

var (
	errElsewhere = errors.New("its nodes are in a database of Argo Workflows: let its controller finish the workflow, or submit it again")
	errTooLarge  = fmt.Errorf("they are larger than %d MiB", maxNodes>>20)
)

// unpack makes nodes readable that the upstream's controller has stored in its own way. Without them, what has succeeded would be
// executed again; so nothing happens to a workflow whose nodes cannot be read.
func (p *planner) unpack() bool {
	status := &p.wf.Status
	if status.CompressedNodes == "" && status.OffloadNodeStatusVersion == "" {
		return true
	}
	nodes, err := unpacked(status)
	if err != nil {
		p.condition(v1alpha1.Condition{Type: v1alpha1.ConditionSpecError, Status: "True", Message: err.Error()})
		return false
	}
	for id, node := range nodes {
		p.nodes[id] = &node
	}
	status.CompressedNodes = ""
	return true
}

// unpacked are the nodes that a status has as text.
func unpacked(status *v1alpha1.WorkflowStatus) (v1alpha1.Nodes, error) {
	if status.OffloadNodeStatusVersion != "" {
		return nil, errElsewhere
	}
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(status.CompressedNodes)))
	if err != nil {
		return nil, fmt.Errorf("reading status.compressedNodes: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(reader, maxNodes+1))
	if err == nil && len(data) > maxNodes {
		err = errTooLarge
	}
	nodes := v1alpha1.Nodes{}
	if err == nil {
		err = json.Unmarshal(data, &nodes)
	}
	if err != nil {
		return nil, fmt.Errorf("reading status.compressedNodes: %w", err)
	}
	return nodes, nil
}
