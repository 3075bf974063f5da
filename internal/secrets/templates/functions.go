package templates

import (
	"errors"
	"fmt"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// outside are functions of sprig that reach beyond the values: the environment and name servers.
var outside = []string{"env", "expandenv", "getHostByName"}

// maxTimes bounds what one call makes out of a number.
const maxTimes = 100_000

// functions are those that templates may use.
func functions(lookup Lookup) template.FuncMap {
	all := sprig.TxtFuncMap()
	for _, name := range outside {
		delete(all, name)
	}
	bound(all)
	all["pkcs12key"] = func(in string) (string, error) { return pkcs12key("", in) }
	all["pkcs12keyPass"] = pkcs12key
	all["pkcs12cert"] = func(in string) (string, error) { return pkcs12cert("", in) }
	all["pkcs12certPass"] = pkcs12cert
	all["pemToPkcs12"] = func(cert, key string) (string, error) { return pemToPKCS12(cert, key, "") }
	all["pemToPkcs12Pass"] = pemToPKCS12
	all["fullPemToPkcs12"] = func(cert, key string) (string, error) { return fullPEMToPKCS12(cert, key, "") }
	all["fullPemToPkcs12Pass"] = fullPEMToPKCS12
	all["pemTruststoreToPKCS12"] = func(certs string) (string, error) { return truststore(certs, "") }
	all["pemTruststoreToPKCS12Pass"] = truststore
	all["filterPEM"] = filterPEM
	all["filterCertChain"] = filterCertChain
	all["jwkPublicKeyPem"] = jwkPublicKeyPEM
	all["jwkPrivateKeyPem"] = jwkPrivateKeyPEM
	all["rsaDecrypt"] = rsaDecrypt
	all["toYaml"] = toYAML
	all["fromYaml"] = fromYAML
	all["getSecretKey"] = func(name, namespace, key string) (string, error) {
		if lookup == nil {
			return "", errors.New("there are no Secrets here")
		}
		return lookup(name, namespace, key)
	}
	return all
}

func toYAML(value any) (string, error) {
	data, err := yaml.Marshal(value)
	return strings.TrimSuffix(string(data), "\n"), err
}

func fromYAML(text string) (map[string]any, error) {
	made := map[string]any{}
	err := yaml.Unmarshal([]byte(text), &made)
	return made, err
}

// bound bounds the functions that make much out of a number.
func bound(all template.FuncMap) {
	until, _ := all["until"].(func(int) []int)
	all["until"] = func(n int) ([]int, error) {
		if err := few(n); err != nil {
			return nil, err
		}
		return until(n), nil
	}
	step, _ := all["untilStep"].(func(int, int, int) []int)
	all["untilStep"] = func(from, to, by int) ([]int, error) {
		if err := few(to - from); err != nil {
			return nil, err
		}
		return step(from, to, by), nil
	}
	seq, _ := all["seq"].(func(...int) string)
	all["seq"] = func(params ...int) (string, error) {
		for _, n := range params {
			if err := few(n); err != nil {
				return "", err
			}
		}
		return seq(params...), nil
	}
	all["repeat"] = func(n int, text string) (string, error) {
		if n < 0 || n*len(text) > maxOutput || few(n) != nil {
			return "", errTooLong
		}
		return strings.Repeat(text, n), nil
	}
	indent := func(n int, text string) (string, error) {
		if n < 0 || few(n) != nil || n*(1+strings.Count(text, "\n")) > maxOutput {
			return "", errTooLong
		}
		pad := strings.Repeat(" ", n)
		return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
	}
	all["indent"] = indent
	all["nindent"] = func(n int, text string) (string, error) {
		made, err := indent(n, text)
		return "\n" + made, err
	}
	for _, name := range []string{"randAlphaNum", "randAlpha", "randAscii", "randNumeric"} {
		random, _ := all[name].(func(int) string)
		all[name] = func(n int) (string, error) {
			if err := few(n); err != nil || n < 0 {
				return "", errTooLong
			}
			return random(n), nil
		}
	}
	bytes, _ := all["randBytes"].(func(int) (string, error))
	all["randBytes"] = func(n int) (string, error) {
		if err := few(n); err != nil || n < 0 {
			return "", errTooLong
		}
		return bytes(n)
	}
}

func few(n int) error {
	if n > maxTimes || n < -maxTimes {
		return fmt.Errorf("%d is more than %d", n, maxTimes)
	}
	return nil
}
