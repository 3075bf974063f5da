package access

import (
	"errors"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/headgate-dev/headgate/internal/source"
)

// Reasons of Flux for signatures that were not found.
const (
	reasonVerificationMode = "InvalidVerificationMode"
	reasonGitObject        = "InvalidGitObject"
	reasonTagSignature     = "InvalidTagSignature"
	reasonCommitSignature  = "InvalidCommitSignature"
	ReasonVerification     = "VerificationError"
)

// reasonCopyFailure is the reason of Flux for what could not be included.
const reasonCopyFailure = "CopyFailure"

// SignatureReasons are those of the failures that are about a signature.
var SignatureReasons = map[string]bool{
	reasonVerificationMode: true, reasonGitObject: true, reasonTagSignature: true, reasonCommitSignature: true,
	ReasonVerification: true,
}

// FailureConditions are the conditions of which a failure sets one.
var FailureConditions = []string{
	sourcev1.FetchFailedCondition, sourcev1.IncludeUnavailableCondition, sourcev1.StorageOperationFailedCondition,
	sourcev1.BuildFailedCondition,
}

// Failure is a failure with the words of Flux for it.
type Failure struct {
	// Condition is FetchFailed when it is empty.
	Condition, Reason string
	// Terminal is set when only a change of the object can help, woken when what is missing wakes the
	// source.
	Terminal, Woken bool
	Err             error
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Unavailable is the failure of an include that has nothing to give.
func Unavailable(reason string, err error) *Failure {
	return &Failure{Condition: sourcev1.IncludeUnavailableCondition, Reason: reason, Woken: true, Err: err}
}

// UnsupportedError names a field that would have to be ignored.
type UnsupportedError struct{ Field, Hint string }

func (e *UnsupportedError) Error() string { return e.Field + " is not supported: " + e.Hint }

// FailureOf words a failure as Flux does; otherwise is the reason for what has no word of its own.
func FailureOf(err error, otherwise string) Failure {
	f := Failure{Condition: sourcev1.FetchFailedCondition, Reason: otherwise, Err: err}
	var known *Failure
	var unsupported *UnsupportedError
	switch {
	case errors.As(err, &known):
		f = *known
		f.Err = err
		if f.Condition == "" {
			f.Condition = sourcev1.FetchFailedCondition
		}
	case errors.As(err, &unsupported):
		f.Reason, f.Terminal = "UnsupportedField", true
	case errors.Is(err, source.ErrInclude):
		f.Condition, f.Reason = sourcev1.StorageOperationFailedCondition, reasonCopyFailure
	case errors.Is(err, source.ErrNoTag):
		f.Reason, f.Terminal = reasonVerificationMode, true
	case errors.Is(err, source.ErrUnsigned):
		f.Reason = reasonGitObject
	case errors.Is(err, source.ErrTagSignature), errors.Is(err, source.ErrTagName):
		f.Reason = reasonTagSignature
	case errors.Is(err, source.ErrCommitSignature):
		f.Reason = reasonCommitSignature
	case errors.Is(err, source.ErrUnsupported):
		f.Reason, f.Terminal = "UnsupportedField", true
	case errors.Is(err, source.ErrSignature):
		f.Reason = ReasonVerification
	case errors.Is(err, source.ErrLayer):
		f.Reason = sourcev1.OCILayerOperationFailedReason
	case errors.Is(err, source.ErrURL):
		f.Reason, f.Terminal = sourcev1.URLInvalidReason, true
	case errors.Is(err, source.ErrAuth):
		f.Reason = sourcev1.AuthenticationFailedReason
	}
	return f
}
