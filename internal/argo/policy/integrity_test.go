package policy

import (
	"testing"

	"github.com/headgate-dev/headgate/api/argoproj/v1alpha1"
	"github.com/headgate-dev/headgate/internal/source"
)

const (
	key, otherKey = "4AEE18F83AFDEB23", "D56C4FCA57A46444"
	fingerprint   = "5de3e0509c47ea3cf04a42d34aee18f83afdeb23"
)

// verified is a policy for repositories.
func verified(mode string, keys []string, repos ...string) v1alpha1.SourceIntegrityGitPolicy {
	p := v1alpha1.SourceIntegrityGitPolicy{GPG: &v1alpha1.SourceIntegrityGitPolicyGPG{Mode: mode, Keys: keys}}
	for _, url := range repos {
		p.Repos = append(p.Repos, v1alpha1.SourceIntegrityGitPolicyRepo{URL: url})
	}
	return p
}

// TestPermitsRevision asks whether a commit may be used that is signed in some way, for repositories as they are written.
func TestPermitsRevision(t *testing.T) {
	const repo = "https://git.example/team/app.git"
	signatures := func(keys ...string) v1alpha1.AppProjectSpec {
		var spec v1alpha1.AppProjectSpec
		for _, id := range keys {
			spec.SignatureKeys = append(spec.SignatureKeys, v1alpha1.SignatureKey{KeyID: id})
		}
		return spec
	}
	policies := func(all ...v1alpha1.SourceIntegrityGitPolicy) v1alpha1.AppProjectSpec {
		return v1alpha1.AppProjectSpec{SourceIntegrity: &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{Policies: all}}}
	}
	both := policies(verified("head", []string{key}, "*"))
	both.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: otherKey}}
	by := func(result, key, primary string) source.Signatory {
		return source.Signatory{Revision: "abc", By: "dev <dev@example.dev>", Result: result, Key: key, Primary: primary}
	}
	good, unsigned := by(source.Good, key, key), by(source.Unsigned, "", "")
	const failed = "GIT/GPG: Failed verifying revision abc by 'dev <dev@example.dev>': "
	const refused = failed + "unsigned (key_id=)"
	const strict = `GPG mode "strict" of spec.sourceIntegrity in project 'p' is not supported: use head, which verifies the commit or the tag, but not its history`
	for name, c := range map[string]struct {
		reason  string
		spec    v1alpha1.AppProjectSpec
		address string
		signer  source.Signatory
		want    string
	}{
		"Nothing":       {"nothing is required", v1alpha1.AppProjectSpec{}, repo, unsigned, ""},
		"Key":           {"a listed key", signatures(otherKey, key), repo, good, ""},
		"Fingerprint":   {"a key is named by its fingerprint", signatures(fingerprint), repo, good, ""},
		"LowerCase":     {"in small letters", signatures("4aee18f83afdeb23"), repo, good, ""},
		"Subkey":        {"a subkey of a listed key", signatures(key), repo, by(source.Good, otherKey, key), ""},
		"Unsigned":      {"no signature", signatures(key), repo, unsigned, refused},
		"Unlisted":      {"a key in the ring that the project does not list", signatures(otherKey), repo, good, failed + "signed with unallowed key (key_id=" + key + ")"},
		"Missing":       {"a listed key that is not in the ring", signatures(key), repo, by(source.MissingKey, key, ""), failed + "signed with key not in keyring (key_id=" + key + ")"},
		"Bad":           {"a signature of something else", signatures(key), repo, by(source.BadSignature, key, key), failed + "bad signature (key_id=" + key + ")"},
		"NoKey":         {"what is no identity of a key lets nothing through", signatures("", "x"), repo, by(source.Good, "", ""), failed + "signed with unallowed key (key_id=)"},
		"NoKeys":        {"a policy without keys permits none", policies(verified("head", nil, "*")), repo, good, failed + "signed with unallowed key (key_id=" + key + ")"},
		"Policy":        {"a policy for the repository", policies(verified("head", []string{key}, "https://git.example/*")), repo, unsigned, refused},
		"Elsewhere":     {"a policy for another one", policies(verified("head", []string{key}, "https://other.example/*")), repo, unsigned, ""},
		"UpperCase":     {"another way to write an address", policies(verified("head", []string{key}, "https://git.example/*")), "https://GIT.example/team/app", unsigned, refused},
		"Login":         {"with a login in it", policies(verified("head", []string{key}, "https://git.example/*")), "https://x@git.example/team/app", unsigned, refused},
		"Left out":      {"a policy that leaves the repository out", policies(verified("head", []string{key}, "*", "!https://git.example/team/*")), repo, unsigned, ""},
		"Mode none":     {"nothing is verified", policies(verified("none", nil, "*")), repo, unsigned, ""},
		"Mode strict":   {"the history is not verified, and that is said", policies(verified("strict", []string{key}, "*")), repo, good, strict},
		"Several":       {"a mistake must not end the verification", policies(verified("none", nil, "*"), verified("head", nil, repo)), repo, good, "multiple (2) git source integrity policies found for repo URL: " + repo},
		"Both, refused": {"each list has to have the key", both, repo, good, failed + "signed with unallowed key (key_id=" + key + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			p := project(t, c.spec)
			if got := text(p.PermitsRevision(Revision{Address: c.address, Signatory: c.signer})); got != c.want {
				t.Errorf("%s: %q, want %q", c.reason, got, c.want)
			}
			if required := p.RequiresSignature(c.address); c.want != "" && !required {
				t.Errorf("%s: nothing is required", c.reason)
			}
		})
	}
}

// TestIntegrityOfBadPatterns has a pattern that cannot be read cover everything.
func TestIntegrityOfBadPatterns(t *testing.T) {
	for _, pattern := range []string{"[", "[a"} {
		spec := v1alpha1.AppProjectSpec{SourceIntegrity: &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{
			Policies: []v1alpha1.SourceIntegrityGitPolicy{verified("head", []string{key}, pattern, "!"+pattern)},
		}}}
		declared := &v1alpha1.AppProject{Spec: spec}
		declared.Name = "p"
		p, err := Effective(declared, nil, nil)
		if err == nil {
			t.Errorf("%s: it is not said that it cannot be read", pattern)
		}
		if !p.RequiresSignature("https://git.example/app") {
			t.Errorf("%s: nothing is required", pattern)
		}
	}
}
