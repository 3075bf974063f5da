package decrypt

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/getsops/sops/v3"
	sopsage "github.com/getsops/sops/v3/age"
	vault "github.com/hashicorp/vault/api"
	"google.golang.org/grpc/status"
)

// NoKeyError is returned when none of the keys can open something.
type NoKeyError struct {
	// Recipients are those that it was closed for, sorted: age recipients as they are, others after
	// the name that SOPS has for their kind, such as "pgp", "kms" or "hc_vault".
	Recipients []string
	// Reasons are why services did not open it, sorted; none when no service was asked.
	Reasons []string
	// Lacking says which keys are missing, if that is known.
	Lacking string
	// none is set when there were no keys at all.
	none bool
}

// Error names the recipients, long ones shortened, and the reasons.
func (e *NoKeyError) Error() string {
	var names []string
	for _, name := range e.Recipients {
		// A post-quantum recipient is two thousand letters long.
		names = append(names, short(name, 160))
	}
	text := "none of the keys can decrypt it"
	if e.none {
		text = "no decryption key"
	}
	if e.Lacking != "" {
		text += ": " + e.Lacking
	}
	text += "; it is encrypted for " + strings.Join(names, ", ")
	if len(e.Reasons) > 0 {
		text += "; " + strings.Join(e.Reasons, "; ")
	}
	return text
}

// Recipients names those that a tree is encrypted for, as NoKeyError does.
func Recipients(tree *sops.Tree) []string {
	var all []string
	for _, group := range tree.Metadata.KeyGroups {
		for _, key := range group {
			if a, ok := key.(*sopsage.MasterKey); ok {
				all = append(all, a.Recipient)
				continue
			}
			all = append(all, key.TypeToIdentifier()+" "+key.ToString())
		}
	}
	if len(all) == 0 {
		return []string{"nobody"}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// reason is what a service answered, in a line without what differs from one answer to the next.
func reason(err error) string {
	return short(strings.Join(strings.Fields(answer(err)), " "), 200)
}

func answer(err error) string {
	var coded interface {
		ErrorCode() string
		ErrorMessage() string
	}
	var azure *azcore.ResponseError
	var signIn *azidentity.AuthenticationFailedError
	var vaulted *vault.ResponseError
	var sent *url.Error
	var called interface{ GRPCStatus() *status.Status }
	switch {
	case errors.As(err, &coded):
		return coded.ErrorCode() + ": " + coded.ErrorMessage()
	case errors.As(err, &azure):
		return fmt.Sprintf("status %d %s", azure.StatusCode, azure.ErrorCode)
	case errors.As(err, &signIn):
		// Its text has the time and the numbers of the request.
		return "sign-in failed " + signInCode.FindString(signIn.Error())
	case errors.As(err, &vaulted):
		return fmt.Sprintf("status %d: %s", vaulted.StatusCode, strings.Join(vaulted.Errors, ", "))
	case errors.Is(err, context.DeadlineExceeded):
		return "no response in time"
	case errors.As(err, &sent):
		return sent.Error()
	case errors.As(err, &called) && called.GRPCStatus() != nil:
		return called.GRPCStatus().Code().String() + ": " + called.GRPCStatus().Message()
	default:
		return err.Error()
	}
}

// signInCode is the number by which Azure documents why a sign-in failed.
var signInCode = regexp.MustCompile(`AADSTS\d+`)

// short cuts the middle out of a text that is longer than a line.
func short(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	const end = 12
	return string(runes[:most-end]) + "…" + string(runes[len(runes)-end:])
}
