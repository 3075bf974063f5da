package v1alpha1

// The labels and annotations of what a Build creates: runs, Secrets, images. People and garbage collection select by them.
const (
	// LabelBuild names the Build that something belongs to.
	LabelBuild = "build.headgate.dev/build"
	// LabelBuildNamespace is its namespace, on objects that have none or another one.
	LabelBuildNamespace = "build.headgate.dev/namespace"
	// AnnotationDigest is the digest of the inputs that something was made of.
	AnnotationDigest = "build.headgate.dev/digest"
	// AnnotationEpoch is how many rebuilds without a change of inputs had been requested by then.
	AnnotationEpoch = "build.headgate.dev/rebuild-epoch"
	// AnnotationAttempt is the number of a run for its digest.
	AnnotationAttempt = "build.headgate.dev/attempt"
	// AnnotationRun and AnnotationRunUID name the run that made an output, and AnnotationBuiltAt is when it ended.
	AnnotationRun     = "build.headgate.dev/run"
	AnnotationRunUID  = "build.headgate.dev/run-uid"
	AnnotationBuiltAt = "build.headgate.dev/built-at"
	// AnnotationOutputs is the digest of the declaration by which an output was written.
	AnnotationOutputs = "build.headgate.dev/outputs"
)
