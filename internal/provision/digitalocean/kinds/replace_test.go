package kinds_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/provision/digitalocean/kinds"
)

func TestReplace(t *testing.T) {
	image := kinds.Change{Field: "image", Want: "8", Have: "7"}
	data := kinds.Change{Field: "userData"}
	another := kinds.Outcome{Condition: kinds.Available, Replace: []kinds.Change{image}}
	two := kinds.Outcome{Condition: kinds.Available, Replace: []kinds.Change{image, data}}
	required := func(message string) kinds.Replacement {
		return kinds.Replacement{Step: kinds.Keep, Reason: "ReplacementRequired", Message: message}
	}
	for name, tc := range map[string]struct {
		reason string
		of     kinds.Outcome
		facts  kinds.ReplaceFacts
		want   kinds.Replacement
	}{
		"Same":       {"nothing needs another object", kinds.Outcome{Condition: kinds.Available}, kinds.ReplaceFacts{Policy: kinds.Recreate, Usable: true}, kinds.Replacement{Step: kinds.Keep}},
		"Never":      {"the policy forbids it", another, kinds.ReplaceFacts{Policy: kinds.Never, Usable: true}, required(`another object is needed to change image ("7", not "8"): the replacement policy is Never`)},
		"None":       {"no policy is the same", another, kinds.ReplaceFacts{Usable: true}, required(`another object is needed to change image ("7", not "8"): the replacement policy is Never`)},
		"Recreate":   {"deleted, and created since it is missing", another, kinds.ReplaceFacts{Policy: kinds.Recreate, Usable: true}, kinds.Replacement{Step: kinds.Delete}},
		"Unusable":   {"nothing is deleted before the next one can be created", another, kinds.ReplaceFacts{Policy: kinds.Recreate, Unusable: "the image 8 is pending"}, required(`another object is needed to change image ("7", not "8"): the image 8 is pending`)},
		"Busy":       {"nor while an action is in progress", kinds.Outcome{Condition: kinds.Creating, Wait: true, Replace: []kinds.Change{image}}, kinds.ReplaceFacts{Policy: kinds.Recreate, Usable: true}, required(`another object is needed to change image ("7", not "8"): an action is in progress`)},
		"Gone":       {"what is missing is created anyhow", kinds.Outcome{Condition: kinds.Missing, Replace: []kinds.Change{image}}, kinds.ReplaceFacts{Policy: kinds.Recreate, Usable: true}, kinds.Replacement{Step: kinds.Keep}},
		"Rebuild":    {"another image, in place", another, kinds.ReplaceFacts{Policy: kinds.RebuildInPlace, Usable: true}, kinds.Replacement{Step: kinds.Rebuild}},
		"NotRebuilt": {"other fields cannot be, and secrets are not shown", two, kinds.ReplaceFacts{Policy: kinds.RebuildInPlace, Usable: true}, required(`another object is needed to change image ("7", not "8"), userData: only another image can be given to it in place`)},
		"First":      {"the next one is created first", two, kinds.ReplaceFacts{Policy: kinds.CreateBeforeDestroy, Usable: true, Successor: kinds.Missing}, kinds.Replacement{Step: kinds.CreateSuccessor}},
		"Second":     {"and waited for", two, kinds.ReplaceFacts{Policy: kinds.CreateBeforeDestroy, Usable: true, Successor: kinds.Creating}, kinds.Replacement{Step: kinds.AwaitSuccessor}},
		"Third":      {"and then takes over", two, kinds.ReplaceFacts{Policy: kinds.CreateBeforeDestroy, Usable: true, Successor: kinds.Available}, kinds.Replacement{Step: kinds.Promote}},
		"Changed":    {"also when the policy has changed meanwhile", two, kinds.ReplaceFacts{Policy: kinds.Never, Successor: kinds.Available}, kinds.Replacement{Step: kinds.Promote}},
		"Lost":       {"and when the object was deleted meanwhile", kinds.Outcome{Condition: kinds.Missing}, kinds.ReplaceFacts{Successor: kinds.Available}, kinds.Replacement{Step: kinds.Promote}},
		"Reverted":   {"unless it is not needed any more", kinds.Outcome{Condition: kinds.Available}, kinds.ReplaceFacts{Policy: kinds.CreateBeforeDestroy, Usable: true, Successor: kinds.Creating}, kinds.Replacement{Step: kinds.DropSuccessor}},
		"Stuck":      {"one that is not well is waited for, and gets no sibling", two, kinds.ReplaceFacts{Policy: kinds.CreateBeforeDestroy, Usable: true, Successor: kinds.Unavailable}, kinds.Replacement{Step: kinds.AwaitSuccessor}},
	} {
		if diff := cmp.Diff(tc.want, kinds.Replace(tc.of, tc.facts)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		built bool
		want  kinds.Policy
		fails bool
	}{
		"Default": {"", false, kinds.Never, false},
		"Built":   {"", true, kinds.Recreate, false},
		"Said":    {"CreateBeforeDestroy", false, kinds.CreateBeforeDestroy, false},
		"Wins":    {"Never", true, kinds.Never, false},
		"Wrong":   {"recreate", true, kinds.Never, true},
	} {
		got, err := kinds.ParsePolicy(tc.text, tc.built)
		if got != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
