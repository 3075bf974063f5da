package plan

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// maxStatus is how many bytes of nodes a status has before they are compressed; an object may have a megabyte and a half.
const maxStatus = 900 << 10

// ErrTooMany is returned for nodes that do not fit into an object.
var ErrTooMany = errors.New("the nodes do not fit into the status, even compressed: split the workflow, or pass large values as artifacts")

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

// Expanded is a copy of a Workflow with the nodes that its status has compressed.
func Expanded(wf *v1alpha1.Workflow) (*v1alpha1.Workflow, error) {
	copied := wf.DeepCopy()
	if copied.Status.CompressedNodes == "" || copied.Status.OffloadNodeStatusVersion != "" {
		return copied, nil
	}
	nodes, err := unpacked(&copied.Status)
	if err != nil {
		return nil, err
	}
	copied.Status.Nodes, copied.Status.CompressedNodes = nodes, ""
	return copied, nil
}

// Compressed is a status whose nodes fit into an object.
func Compressed(status *v1alpha1.WorkflowStatus) (*v1alpha1.WorkflowStatus, error) {
	data, err := json.Marshal(status.Nodes)
	if err != nil {
		return nil, fmt.Errorf("encoding the nodes: %w", err)
	}
	if len(data) <= maxStatus {
		return status, nil
	}
	var packed bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &packed)
	zipper := gzip.NewWriter(encoder)
	_, err = zipper.Write(data)
	if err = errors.Join(err, zipper.Close(), encoder.Close()); err != nil {
		return nil, fmt.Errorf("compressing the nodes: %w", err)
	}
	if packed.Len() > maxStatus {
		return nil, ErrTooMany
	}
	small := *status
	small.Nodes, small.CompressedNodes = nil, packed.String()
	return &small, nil
}
