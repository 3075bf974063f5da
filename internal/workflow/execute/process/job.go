package process

import (
	"time"

	"github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// job is all that a keeper needs to know. It has secrets, and is handed over by a pipe.
type job struct {
	// Dir is the directory of the execution.
	Dir string
	// Log is the file for what is printed.
	Log string
	// Command and Env are those of the program, Cwd is its directory.
	Command, Env []string
	Cwd          string
	// Search are the directories in which the command is searched for, Image is what the template says that it is from.
	Search []string
	Image  string
	// Ability says what this machine permits.
	Ability ability
	// Mounts are the paths of its own, in the order in which they are mounted; Private are directories that are there besides.
	Mounts  []mount
	Private []string
	// Outputs are what is taken from it at its end.
	Parameters []v1alpha1.Parameter
	Artifacts  []v1alpha1.Artifact
	// Secrets are values that are not shown.
	Secrets []string
	// Deadline is when it has to end; zero for never.
	Deadline time.Time
	Result   bool
	Limits   Limits
}

// mount is a path of its own: a directory or file of this machine, or files that are kept in memory.
type mount struct {
	Path   string
	Source string
	// Files are contents by their names; File is set for a path that is one file, which has no name.
	Files map[string][]byte
	File  bool
	// Memory is set for what is kept in memory, Size is how large that is.
	Memory   bool
	Size     int64
	Mode     uint32
	ReadOnly bool
}

// report is what is known inside when a program has ended.
type report struct {
	// Setup is why it could not be begun; Missing is set if that is for want of the program.
	Setup   string
	Missing bool
	// Code is what it ended with, Signal is what ended it.
	Code, Signal int
	// Parameters are values by their names, and Artifacts the names of those that were packed.
	Parameters map[string]string
	Artifacts  []string
	// Problem is why an output is missing.
	Problem string
}

// outcome is how an execution ended.
type outcome struct {
	report

	StartedAt, FinishedAt time.Time
	// Stopped is why it was stopped.
	Stopped string
	Result  string
	// Lost is set if it was not even possible to find out.
	Lost bool
}
