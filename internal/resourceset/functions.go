package resourceset

import (
	"fmt"
	"strings"
	"text/template"
	"unicode"

	"github.com/Masterminds/sprig/v3"
	"golang.org/x/text/unicode/norm"
	"sigs.k8s.io/yaml"
)

// chancy are functions of the library that give something else each time, or that ask for much work. The
// library's own list of such functions leaves them in.
var chancy = []string{
	"ago", "shuffle", "randInt", "bcrypt", "htpasswd", "encryptAES", "decryptAES", "derivePassword", "buildCustomCert",
	"genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey", "genSignedCert", "genSignedCertWithKey",
}

// Hermetic are the functions of sprig that give the same for the same arguments, and ask for little work.
func Hermetic() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	for _, name := range chancy {
		delete(all, name)
	}
	bound(all)
	return all
}

// functions are those that templates may use.
func functions() template.FuncMap {
	all := Hermetic()
	all["slugify"] = slugify
	all["toYaml"] = func(value any) string {
		text, err := toYAML(value)
		if err != nil {
			return ""
		}
		return text
	}
	all["mustToYaml"] = toYAML
	all["fromYaml"] = fromYAML
	all["mustFromYaml"] = fromYAML
	return all
}

func toYAML(value any) (string, error) {
	data, err := yaml.Marshal(value)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

func fromYAML(text string) (any, error) {
	var value any
	err := yaml.Unmarshal([]byte(text), &value)
	return value, err
}

// maxLabel is how long the value of a label may be.
const maxLabel = 63

// slugify makes the value of a label out of any text.
func slugify(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
			// What is left of a letter with an accent is the letter.
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-_")
	if len(slug) > maxLabel {
		slug = strings.TrimRight(slug[:maxLabel], "-_")
	}
	return slug
}

// maxTimes bounds how often something may be repeated by one call.
const maxTimes = 100_000

// bound puts a bound on the functions that make much out of a number.
func bound(all template.FuncMap) {
	until, _ := all["until"].(func(int) []int)
	all["until"] = func(n int) ([]int, error) { return until(clamp(n)), tooMany(n) }
	step, _ := all["untilStep"].(func(int, int, int) []int)
	all["untilStep"] = func(from, to, by int) ([]int, error) {
		if err := tooMany(to - from); err != nil {
			return nil, err
		}
		return step(from, to, by), nil
	}
	delete(all, "seq")
	all["repeat"] = func(n int, text string) (string, error) {
		if err := tooMany(n); err != nil || n < 0 {
			return "", err
		}
		if n*len(text) > maxOutput {
			return "", errTooLong
		}
		return strings.Repeat(text, n), nil
	}
	indent := func(n int, text string) (string, error) {
		if err := tooMany(n); err != nil {
			return "", err
		}
		pad := strings.Repeat(" ", max(0, n))
		return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
	}
	all["indent"] = indent
	all["nindent"] = func(n int, text string) (string, error) {
		padded, err := indent(n, text)
		return "\n" + padded, err
	}
}

func clamp(n int) int { return max(-maxTimes, min(n, maxTimes)) }

func tooMany(n int) error {
	if n > maxTimes || n < -maxTimes {
		return fmt.Errorf("%d is more than %d", n, maxTimes)
	}
	return nil
}
