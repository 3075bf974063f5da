package execute

import "context"

// Keeping is an Executor that keeps something where nothing else removes it with its workflow.
type Keeping interface {
	// Kept are the workflows of which anything is kept: those that were deleted while no engine was running are forgotten at the start.
	Kept(ctx context.Context) ([]Workflow, error)
}

// Ending is an Executor with something that ends after the context of the engine, and is waited for.
type Ending interface {
	// Wait waits until it has ended. It is called once nothing is started anymore.
	Wait()
}
