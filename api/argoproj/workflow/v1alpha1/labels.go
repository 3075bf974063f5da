package v1alpha1

// The labels and annotations of workflows and of what they create. Commands and dashboards select by them.
const (
	// LabelCompleted is "true" on a Workflow that has ended, and on its pods once that was recorded.
	LabelCompleted = "workflows.argoproj.io/completed"
	// LabelPhase is the phase of a Workflow.
	LabelPhase = "workflows.argoproj.io/phase"
	// LabelWorkflow names the Workflow of a pod or another object.
	LabelWorkflow = "workflows.argoproj.io/workflow"
	// LabelWorkflowTemplate names the WorkflowTemplate that a Workflow is from.
	LabelWorkflowTemplate = "workflows.argoproj.io/workflow-template"
	// LabelClusterWorkflowTemplate names the ClusterWorkflowTemplate that a Workflow is from.
	LabelClusterWorkflowTemplate = "workflows.argoproj.io/cluster-workflow-template"
	// LabelCronWorkflow names the CronWorkflow that created a Workflow.
	LabelCronWorkflow = "workflows.argoproj.io/cron-workflow"
	// AnnotationNodeID is the ID of the node that a pod or an object belongs to.
	AnnotationNodeID = "workflows.argoproj.io/node-id"
	// AnnotationNodeName is the name of that node.
	AnnotationNodeName = "workflows.argoproj.io/node-name"
	// AnnotationScheduledTime is when the schedule of a CronWorkflow was due, in RFC 3339.
	AnnotationScheduledTime = "workflows.argoproj.io/scheduled-time"
	// AnnotationRetried is on a Workflow that continued after its end: when it was requested, in seconds since 1970.
	AnnotationRetried = "workflows.headgate.dev/retried"
	// AnnotationRun is the attempt that created an object: the UID of the Workflow, when it was retried if it was, and the ID of
	// the node. An object that exists under a generated name is adopted only by the same attempt.
	AnnotationRun = "workflows.headgate.dev/run"
)
