package kinds

import (
	"slices"
	"strconv"
	"strings"
)

// ManagedTag is on everything that managed resources created, so that one list has all of it.
const ManagedTag = "headgate-managed"

// The tags by which an object is found again whose creation was not answered.
const (
	ownerTag   = "headgate-uid:"
	attemptTag = "headgate-gen:"
)

// OwnerTag is on everything that a managed resource created; it is the one to list by.
func OwnerTag(uid string) string { return ownerTag + uid }

// OwnTags are the tags of an object that a managed resource creates in an attempt.
func OwnTags(uid string, attempt int) []string {
	return []string{ManagedTag, OwnerTag(uid), attemptTag + strconv.Itoa(attempt)}
}

// Attempt is the one in which an object was created by a managed resource; false when it was not.
func Attempt(tags []string, uid string) (int, bool) {
	owned, attempt := false, 0
	for _, tag := range tags {
		owned = owned || strings.EqualFold(tag, OwnerTag(uid))
		if n, is := strings.CutPrefix(strings.ToLower(tag), attemptTag); is {
			attempt, _ = strconv.Atoi(n)
		}
	}
	return attempt, owned
}

// declaredTags are those of an object that users manage: all but ours.
func declaredTags(tags []string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool {
		lower := strings.ToLower(tag)
		return lower == ManagedTag || strings.HasPrefix(lower, ownerTag) || strings.HasPrefix(lower, attemptTag)
	})
}

// retag compares tags.
func (o *Outcome) retag(want, have []string) {
	want, have = declaredOrNil(want), declaredTags(have)
	add, remove := set(want, have)
	if len(add)+len(remove) == 0 {
		return
	}
	c := Change{"tags", listed(want), listed(have)}
	if len(add) > 0 {
		o.change(c, Call{Verb: Tag, To: add[0]})
		return
	}
	o.change(c, Call{Verb: Untag, To: remove[0]})
}

// declaredOrNil leaves out what a user declares of our tags: that an object is another's is not up to its manifest.
func declaredOrNil(tags []string) []string {
	if tags == nil {
		return nil
	}
	return declaredTags(tags)
}
