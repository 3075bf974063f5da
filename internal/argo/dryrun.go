package argo

import (
	"github.com/headgate-dev/headgate/internal/argo/operation"
	"github.com/headgate-dev/headgate/internal/engine"
)

// dryRun reports what an operation would do.
func (r *running) dryRun(c *comparison, g gate) operation.Step {
	for _, t := range r.sync.Tasks {
		t.State, t.Code, t.Message = operation.Done, operation.Synced, "would be applied (dry run)"
		switch o := c.find(t.ID); {
		case t.Prune:
			t.Code, t.Message = operation.Pruned, "pruned (dry run)"
		case o == nil:
			if err := g.permits(engine.Entry{ID: t.ID, Version: t.Version}); err != nil {
				t.State, t.Code, t.Message = operation.Failed, operation.SyncFailed, err.Error()
			}
		case o != nil && o.refused != nil:
			t.State, t.Code, t.Message = operation.Failed, operation.SyncFailed, o.refused.Error()
		case o != nil && o.standing.Refused != nil:
			t.State, t.Code, t.Message = operation.Failed, operation.SyncFailed, o.standing.Refused.Error()
		case o != nil && o.standing.Missing:
			t.Message = called(t.ID) + " created (dry run)"
		case o != nil && o.standing.InSync:
			t.Message = called(t.ID) + " unchanged (dry run)"
		}
	}
	return operation.Step{Ended: true, Message: "successfully synced (dry run)"}
}
