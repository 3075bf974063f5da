package plan

import (
	"crypto/sha3"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	esv1 "github.com/headgate-dev/headgate/api/externalsecrets/v1"
)

// Action is what is done with a Secret.
type Action string

// The actions.
const (
	Keep   Action = "Keep"
	Create Action = "Create"
	Update Action = "Update"
	Delete Action = "Delete"
)

// Made is what was made for a Secret: the values that were fetched, and what templates made of them where there are any.
type Made struct {
	Values map[string][]byte
	// Data, Labels and Annotations are those of templates; Templated reports whether there are templates for data.
	Data                map[string][]byte
	Labels, Annotations map[string]string
	Templated           bool
}

// Step is what comes next for a Secret, and what the status says of it.
type Step struct {
	Action Action
	// Secret is as it is to be.
	Secret       *corev1.Secret
	Ready        bool
	Reason, Text string
	// Contest says which keys another ExternalSecret has written that now change; empty if none.
	Contest string
}

// The reasons and messages of conditions, which are those of the upstream.
const (
	Ready = "Ready"

	ReasonSynced  = "SecretSynced"
	ReasonError   = "SecretSyncedError"
	ReasonDeleted = "SecretDeleted"
	ReasonMissing = "SecretMissing"

	TextSynced    = "secret synced"
	TextRetained  = "secret retained due to DeletionPolicy=Retain"
	TextDeleted   = "secret deleted due to DeletionPolicy=Delete"
	TextMissing   = "secret will not be created due to CreationPolicy=Merge"
	TextFetch     = "could not get secret data from provider"
	TextUpdate    = "could not update secret"
	TextImmutable = "could not update secret, target is immutable"
	TextBecome    = "failed to take ownership of target secret"
	TextOwned     = "target is owned by another ExternalSecret"
	TextOrphaned  = "could not delete orphaned secrets"
	TextDelete    = "could not delete secret"
)

// Refusal is why a Secret is not written, with the message of the upstream.
type Refusal struct{ Text, Detail string }

// Error is the message with what it means here.
func (r *Refusal) Error() string { return r.Text + ": " + r.Detail }

// maxSecret is what a Secret holds, in bytes.
const maxSecret = corev1.MaxSecretSize

// TargetName is the name of the Secret of an ExternalSecret.
func TargetName(es *esv1.ExternalSecret) string {
	if es.Spec.Target.Name != "" {
		return es.Spec.Target.Name
	}
	return es.Name
}

// OwnerLabel is the value of LabelOwner on Secrets that an ExternalSecret makes, as the upstream computes it.
func OwnerLabel(namespace, name string) string {
	sum := sha3.Sum224([]byte(namespace + "/" + name))
	return hex.EncodeToString(sum[:])
}

// managers begins the field managers of ExternalSecrets.
const managers = "externalsecrets.external-secrets.io/"

// Manager is the field manager of the Secret of an ExternalSecret, by which its keys are known.
func Manager(name string) string {
	manager := managers + name
	const longest = 128
	return manager[:min(len(manager), longest)]
}

// Policies refuses combinations of policies that mean nothing.
func Policies(t esv1.Target) error {
	creation, deletion := t.CreationPolicy, t.DeletionPolicy
	switch creation {
	case "", esv1.CreateOwner, esv1.CreateOrphan, esv1.CreateMerge, esv1.CreateNone, esv1.CreateOrMerge:
	default:
		return fmt.Errorf("target.creationPolicy: %q is not one of Owner, Orphan, CreateOrMerge, Merge, None", creation)
	}
	switch deletion {
	case "", esv1.DeleteRetain:
	case esv1.DeleteSecret:
		if creation != "" && creation != esv1.CreateOwner {
			return errors.New("target.deletionPolicy: Delete must not be used when creationPolicy is not Owner")
		}
	case esv1.DeleteKeys:
		if creation == esv1.CreateNone {
			return errors.New("target.deletionPolicy: Merge must not be used when creationPolicy is None, since nothing is written")
		}
	default:
		return fmt.Errorf("target.deletionPolicy: %q is not one of Delete, Merge, Retain", deletion)
	}
	if m := t.Manifest; m != nil && (m.Kind != "Secret" || m.APIVersion != "v1") {
		return fmt.Errorf("target.manifest: objects of kind %s are not supported; only Secrets are written", m.Kind)
	}
	return nil
}

// Target decides what becomes of the Secret of an ExternalSecret; have is the one that there is, or nil.
func Target(es *esv1.ExternalSecret, have *corev1.Secret, made Made) (Step, error) {
	t := es.Spec.Target
	if err := Policies(t); err != nil {
		return Step{}, err
	}
	synced := Step{Action: Keep, Ready: true, Reason: ReasonSynced, Text: TextSynced}
	if t.CreationPolicy == esv1.CreateNone {
		return synced, nil
	}
	if len(made.Values) == 0 {
		switch t.DeletionPolicy {
		case esv1.DeleteSecret:
			return deleted(es, have)
		case "", esv1.DeleteRetain:
			synced.Text = TextRetained
			return synced, nil
		}
	}
	if have == nil && t.CreationPolicy == esv1.CreateMerge {
		return Step{Action: Keep, Reason: ReasonMissing, Text: TextMissing}, nil
	}
	wanted, err := compose(es, have, made)
	if err != nil {
		return Step{}, err
	}
	switch {
	case have == nil:
		synced.Action = Create
	case alike(have, wanted):
		return synced, nil
	case have.Immutable != nil && *have.Immutable:
		return Step{}, &Refusal{TextImmutable, "delete the Secret, so that it is created again"}
	default:
		synced.Action, synced.Contest = Update, contest(es, have, wanted)
	}
	synced.Secret = wanted
	return synced, nil
}

// contest says which keys another ExternalSecret has written that now change. Both are ready, and neither writes again before it is due.
func contest(es *esv1.ExternalSecret, have, wanted *corev1.Secret) string {
	for _, e := range have.ManagedFields {
		other, is := strings.CutPrefix(e.Manager, managers)
		if !is || e.Manager == Manager(es.Name) {
			continue
		}
		var keys []string
		for key := range fields(have.ManagedFields, e.Manager).data {
			before, had := have.Data[key]
			now, has := wanted.Data[key]
			if had && (!has || !Same(string(before), string(now))) {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			slices.Sort(keys)
			return fmt.Sprintf("ExternalSecrets %q and %q both write key %s of Secret %q: leave it to one of them", es.Name, other, strings.Join(keys, ", "), wanted.Name)
		}
	}
	return ""
}

// deleted deletes a Secret, if there is one that belongs to the ExternalSecret.
func deleted(es *esv1.ExternalSecret, have *corev1.Secret) (Step, error) {
	step := Step{Action: Keep, Ready: true, Reason: ReasonDeleted, Text: TextDeleted}
	if have == nil {
		return step, nil
	}
	if !metav1.IsControlledBy(have, es) {
		return Step{}, &Refusal{TextDelete, "the Secret does not belong to this ExternalSecret"}
	}
	step.Action, step.Secret = Delete, have
	return step, nil
}

func alike(a, b *corev1.Secret) bool {
	immutable := func(s *corev1.Secret) bool { return s.Immutable != nil && *s.Immutable }
	return SameData(a.Data, b.Data) && a.Type == b.Type && immutable(a) == immutable(b) && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		len(a.OwnerReferences) == len(b.OwnerReferences) && fmt.Sprint(a.Finalizers) == fmt.Sprint(b.Finalizers)
}

// compose makes the Secret as it is to be.
func compose(es *esv1.ExternalSecret, have *corev1.Secret, made Made) (*corev1.Secret, error) {
	t := es.Spec.Target
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: TargetName(es), Namespace: es.Namespace}, Type: corev1.SecretTypeOpaque}
	if have != nil {
		s = have.DeepCopy()
	}
	own := fields(s.ManagedFields, Manager(es.Name))
	drop(s.Labels, own.labels)
	drop(s.Annotations, own.annotations)
	if !merges(es) {
		s.Data = nil
	} else if t.DeletionPolicy == esv1.DeleteKeys {
		for key := range own.data {
			delete(s.Data, key)
		}
	}
	s.Data = join(s.Data, data(t.Template, made))
	if size := Size(s.Data); size > maxSecret {
		return nil, fmt.Errorf("its data have %d bytes; a Secret holds %d: leave keys out by target.template, or spread them over several objects", size, maxSecret)
	}
	labels, annotations := es.Labels, es.Annotations
	if t.Template != nil {
		labels, annotations = made.Labels, made.Annotations
		if t.Template.Type != "" {
			s.Type = t.Template.Type
		}
		if len(t.Template.Metadata.Finalizers) > 0 {
			s.Finalizers = t.Template.Metadata.Finalizers
		}
	}
	s.Labels, s.Annotations = join(s.Labels, labels), join(s.Annotations, annotations)
	delete(s.Annotations, lastApplied)
	if t.Immutable {
		s.Immutable = &t.Immutable
	}
	if err := belong(es, s); err != nil {
		return nil, err
	}
	s.Labels[LabelManaged] = managed
	s.Annotations[AnnotationHash] = Hash(s.Data, salt(es))
	return s, nil
}

// data are those that an ExternalSecret writes.
func data(t *esv1.Template, made Made) map[string][]byte {
	if t == nil || !made.Templated {
		return made.Values
	}
	if t.MergePolicy == esv1.TemplateMerge {
		return join(maps.Clone(made.Values), made.Data)
	}
	return made.Data
}

// belong makes the Secret one of the ExternalSecret, where it is to be.
func belong(es *esv1.ExternalSecret, s *corev1.Secret) error {
	policy := es.Spec.Target.CreationPolicy
	controller := metav1.GetControllerOf(s)
	mine := controller != nil && controller.UID == es.UID
	if controller != nil && !mine && controller.Kind == esv1.ExternalSecretKind {
		return &Refusal{TextOwned, fmt.Sprintf("it belongs to %q", controller.Name)}
	}
	if policy != "" && policy != esv1.CreateOwner {
		if mine {
			kept := s.OwnerReferences[:0]
			for _, o := range s.OwnerReferences {
				if o.UID != es.UID {
					kept = append(kept, o)
				}
			}
			s.OwnerReferences = kept
		}
		delete(s.Labels, LabelOwner)
		return nil
	}
	switch {
	case controller == nil:
		yes := true
		s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{
			APIVersion: esv1.GroupVersion.String(), Kind: esv1.ExternalSecretKind, Name: es.Name, UID: es.UID, Controller: &yes, BlockOwnerDeletion: &yes,
		})
	case !mine:
		return &Refusal{TextBecome, fmt.Sprintf("it belongs to %s %q", controller.Kind, controller.Name)}
	}
	s.Labels[LabelOwner] = OwnerLabel(es.Namespace, es.Name)
	return nil
}

// join lays a map over another.
func join[V any](below, above map[string]V) map[string]V {
	all := maps.Clone(below)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, above)
	return all
}

func drop(from map[string]string, keys map[string]bool) {
	for key := range keys {
		delete(from, key)
	}
}

// owned are the keys that a field manager wrote.
type owned struct{ data, labels, annotations map[string]bool }

func fields(entries []metav1.ManagedFieldsEntry, manager string) owned {
	all := owned{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, e := range entries {
		if e.Manager != manager || e.FieldsV1 == nil {
			continue
		}
		var set struct {
			Data     map[string]json.RawMessage `json:"f:data"`
			Metadata struct {
				Labels      map[string]json.RawMessage `json:"f:labels"`
				Annotations map[string]json.RawMessage `json:"f:annotations"`
			} `json:"f:metadata"`
		}
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &set) != nil {
			continue
		}
		for to, from := range map[*map[string]bool]map[string]json.RawMessage{&all.data: set.Data, &all.labels: set.Metadata.Labels, &all.annotations: set.Metadata.Annotations} {
			for key := range from {
				if name, is := strings.CutPrefix(key, "f:"); is {
					(*to)[name] = true
				}
			}
		}
	}
	return all
}
