package process

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
)

// marker, in the environment, has this binary be a keeper, or what starts a program in its own place.
const marker = "HEADGATE_STEP"

const (
	roleKeeper = "keeper"
	roleInside = "inside"
)

// The numbers of the files that these processes inherit besides the first three: what they are to do, and, for a keeper, the lock and the pipe, or,
// inside, where the report goes.
const (
	jobFile = 3 + iota
	secondFile
	thirdFile
)

// Serve makes this process a keeper or what is inside, if it was started as one, and returns its exit code at its end. It has to be
// called before anything else.
func Serve() (code int, is bool) {
	role, is := os.LookupEnv(marker)
	if !is {
		return 0, false
	}
	switch role {
	case roleKeeper:
		return keep(), true
	case roleInside:
		return inside(), true
	default:
		return exitUsage, true
	}
}

// The exit codes of these processes. No one takes them for that of a program, which is in the report.
const (
	exitDone  = 0
	exitUsage = 64
)

// receiveJob reads what is to be done. It fails if what wrote it was killed before the end.
func receiveJob() (*job, error) {
	f := os.NewFile(jobFile, "job")
	defer f.Close()
	var j job
	if err := json.NewDecoder(f).Decode(&j); err != nil {
		return nil, err
	}
	if j.Dir == "" {
		return nil, errors.New("the job has no directory")
	}
	return &j, nil
}

// missing is what is said of a program that is not on this machine.
func missing(j *job) string {
	if strings.Contains(j.Command[0], "/") {
		return "image " + quoted(j.Image) + " is not pulled: there is no " + quoted(j.Command[0]) + " on this machine; install it, or run the workflow on a cluster with nodes"
	}
	return "image " + quoted(j.Image) + " is not pulled: command " + quoted(j.Command[0]) + " is not on this machine's PATH (" + strings.Join(j.Search, ":") +
		"); install it, or run the workflow on a cluster with nodes"
}
