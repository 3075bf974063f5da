package flux

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
	reasonVerification     = "VerificationError"
)

// reasonCopyFailure is the reason of Flux for what could not be included.
const reasonCopyFailure = "CopyFailure"

var signatureReasons = map[string]bool{
	reasonVerificationMode: true, reasonGitObject: true, reasonTagSignature: true, reasonCommitSignature: true,
	reasonVerification: true,
}

// failureConditions are the conditions of which a failure sets one.
var failureConditions = []string{
	sourcev1.FetchFailedCondition, sourcev1.IncludeUnavailableCondition, sourcev1.StorageOperationFailedCondition,
	sourcev1.BuildFailedCondition,
}

// sourceFailure is a failure with the words of Flux for it.
type sourceFailure struct {
	// condition is FetchFailed when it is empty.
	condition, reason string
	// terminal is set when only a change of the object can help, woken when what is missing wakes the
	// source.
	terminal, woken bool
	err             error
}

func (f *sourceFailure) Error() string { return f.err.Error() }
func (f *sourceFailure) Unwrap() error { return f.err }

// unavailable is the failure of an include that has nothing to give.
func unavailable(reason string, err error) *sourceFailure {
	return &sourceFailure{condition: sourcev1.IncludeUnavailableCondition, reason: reason, woken: true, err: err}
}

// unsupportedError names a field that would have to be ignored.
type unsupportedError struct{ field, hint string }

func (e *unsupportedError) Error() string { return e.field + " is not supported: " + e.hint }

// failureOf words a failure as Flux does; otherwise is the reason for what has no word of its own.
func failureOf(err error, otherwise string) sourceFailure {
	f := sourceFailure{condition: sourcev1.FetchFailedCondition, reason: otherwise, err: err}
	var known *sourceFailure
	var unsupported *unsupportedError
	switch {
	case errors.As(err, &known):
		f = *known
		f.err = err
		if f.condition == "" {
			f.condition = sourcev1.FetchFailedCondition
		}
	case errors.As(err, &unsupported):
		f.reason, f.terminal = "UnsupportedField", true
	case errors.Is(err, source.ErrInclude):
		f.condition, f.reason = sourcev1.StorageOperationFailedCondition, reasonCopyFailure
	case errors.Is(err, source.ErrNoTag):
		f.reason, f.terminal = reasonVerificationMode, true
	case errors.Is(err, source.ErrUnsigned):
		f.reason = reasonGitObject
	case errors.Is(err, source.ErrTagSignature):
		f.reason = reasonTagSignature
	case errors.Is(err, source.ErrCommitSignature):
		f.reason = reasonCommitSignature
	case errors.Is(err, source.ErrUnsupported):
		f.reason, f.terminal = "UnsupportedField", true
	case errors.Is(err, source.ErrSignature):
		f.reason = reasonVerification
	case errors.Is(err, source.ErrLayer):
		f.reason = sourcev1.OCILayerOperationFailedReason
	case errors.Is(err, source.ErrURL):
		f.reason, f.terminal = sourcev1.URLInvalidReason, true
	case errors.Is(err, source.ErrAuth):
		f.reason = sourcev1.AuthenticationFailedReason
	}
	return f
}
