package templates

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExecute(t *testing.T) {
	values := map[string][]byte{"user": []byte("ada"), "pass": []byte("pässword"), "json": []byte(`{"a":{"b":"c"}}`)}
	cases := map[string]struct {
		reason string
		parts  []Part
		want   Result
	}{
		"Printf":  {"values are strings", []Part{{Templates: map[string]string{"url": `{{ printf "%s:%s" .user .pass }}`}}}, Result{Data: map[string][]byte{"url": []byte("ada:pässword")}}},
		"Base64":  {"functions of sprig", []Part{{Templates: map[string]string{"b": `{{ .user | toString | b64enc }}-{{ "YQ==" | b64dec }}-{{ trim " x " }}`}}}, Result{Data: map[string][]byte{"b": []byte("YWRh-a-x")}}},
		"Index":   {"keys that are no names", []Part{{Templates: map[string]string{"i": `{{ index . "user" | upper }}`}}}, Result{Data: map[string][]byte{"i": []byte("ADA")}}},
		"JSON":    {"fromJson and fromYaml read values", []Part{{Templates: map[string]string{"j": `{{ (.json | fromJson).a.b }}{{ (fromYaml "x: z").x }}{{ dict "k" 1 | toYaml }}`}}}, Result{Data: map[string][]byte{"j": []byte("czk: 1")}}},
		"Keys":    {"a literal makes keys and values", []Part{{KeysAndValues: true, Templates: map[string]string{"literal": "{{ range $k, $v := . }}{{ if ne $k \"json\" }}{{ $k }}_x: {{ $v | quote }}\n{{ end }}{{ end }}"}}}, Result{Data: map[string][]byte{"user_x": []byte("ada"), "pass_x": []byte("pässword")}}},
		"Targets": {"labels and annotations are templates", []Part{{Target: Labels, Templates: map[string]string{"l": "{{ .user }}"}}, {Target: Annotations, Templates: map[string]string{"a": "x-{{ .user }}"}}}, Result{Labels: map[string]string{"l": "ada"}, Annotations: map[string]string{"a": "x-ada"}}},
		"Order":   {"later parts win", []Part{{Templates: map[string]string{"k": "1"}}, {Templates: map[string]string{"k": "2"}}}, Result{Data: map[string][]byte{"k": []byte("2")}}},
		"Lookup":  {"a key of another Secret", []Part{{Templates: map[string]string{"k": `{{ getSecretKey "s" "ns" "key" }}`}}}, Result{Data: map[string][]byte{"k": []byte("s/ns/key")}}},
	}
	lookup := func(name, namespace, key string) (string, error) { return name + "/" + namespace + "/" + key, nil }
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Execute(Work{Values: values, Parts: tc.parts}, lookup)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			for _, m := range []*map[string]string{&tc.want.Annotations, &tc.want.Labels} {
				if *m == nil {
					*m = map[string]string{}
				}
			}
			if tc.want.Data == nil {
				tc.want.Data = map[string][]byte{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestErrorsHideValues has every failure name where it is, and no value.
func TestErrorsHideValues(t *testing.T) {
	const value = "s3cret"
	cases := map[string]struct {
		reason, text, want string
		secret             bool
	}{
		"Missing":   {"a missing key is an error", "{{ .other }}", `map has no entry for key "other"`, false},
		"Function":  {"a function says what it was given", "{{ .v | fromJson | mustToJson | mustFromJson }}{{ mustFromJson .v }}", "the function mustFromJson failed", false},
		"Date":      {"also in its error", `{{ toDate "2006" .v }}{{ mustToDate "2006" .v }}`, "the function mustToDate failed", false},
		"Fail":      {"a template that fails with a value", `{{ fail .v }}`, "the function fail failed", false},
		"Certs":     {"a value that is no certificate", `{{ pemToPkcs12 .v .v }}`, "the function pemToPkcs12 failed", false},
		"YAML":      {"YAML of a value", `{{ fromYaml .v }}`, "the function fromYaml failed", false},
		"Parse":     {"no template", "{{ .v", "unclosed action", false},
		"Unknown":   {"no function of the environment", `{{ env "HOME" }}`, `function "env" not defined`, false},
		"Resolving": {"nor of names", `{{ getHostByName "example.com" }}`, `function "getHostByName" not defined`, false},
		"Times":     {"what is made is bounded", `{{ repeat 2000000 "x" }}`, "more than 1048576 bytes", false},
		"Until":     {"so are numbers", `{{ until 1000000000 }}`, "until failed", false},
		"Output":    {"and the output", `{{ range until 100000 }}0123456789abcdef{{ end }}`, "more than 1048576 bytes", false},
		"Secret":    {"a template out of a Secret is not shown", `{{ "s3cret" | mustFromJson }}`, "line 1:", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Execute(Work{Values: map[string][]byte{"v": []byte(value)}, Parts: []Part{{Of: "template.data", Templates: map[string]string{"k": tc.text}, Secret: tc.secret}}}, nil)
			switch {
			case err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), `template.data, key "k": `):
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			case strings.Contains(err.Error(), value):
				t.Errorf("%s: the value is shown: %v", tc.reason, err)
			}
		})
	}
	if _, err := Execute(Work{Parts: []Part{{Of: "literal", KeysAndValues: true, Templates: map[string]string{"literal": "[s3cret]"}}}}, nil); err == nil || strings.Contains(err.Error(), value) {
		t.Errorf("a list is no map: %v", err)
	}
	if _, err := Execute(Work{Parts: []Part{{Of: "x", Target: "spec.x", Templates: map[string]string{"k": ""}}}}, nil); err == nil {
		t.Error("an unknown target is taken")
	}
}

func TestLookupFails(t *testing.T) {
	refuse := func(string, string, string) (string, error) { return "", errors.New("another namespace") }
	if _, err := Execute(Work{Parts: []Part{{Templates: map[string]string{"k": `{{ getSecretKey "a" "b" "c" }}`}}}}, refuse); err == nil {
		t.Error("a look-up that is refused is no error")
	}
}

func TestTransform(t *testing.T) {
	got, err := Transform(`{{ .value | upper | replace "/" "_" }}`, []string{"a/b", "c"})
	if diff := cmp.Diff([]string{"A_B", "C"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if _, err := Transform(`{{ .other }}`, []string{"a"}); err == nil {
		t.Error("a missing key is no error")
	}
	if _, err := Transform(`{{ repeat 1000 "0123456789" }}`, make([]string, 200)); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("all keys together have no bound: %v", err)
	}
}

// TestFunctionSet keeps the functions that templates of the field rely on.
func TestFunctionSet(t *testing.T) {
	all := functions(nil)
	for name := range strings.FieldsSeq(`printf_ b64enc b64dec toString trim upper lower replace quote indent nindent default ternary dict list toJson fromJson
		pkcs12key pkcs12keyPass pkcs12cert pkcs12certPass pemToPkcs12 pemToPkcs12Pass fullPemToPkcs12 fullPemToPkcs12Pass pemTruststoreToPKCS12
		pemTruststoreToPKCS12Pass filterPEM filterCertChain jwkPublicKeyPem jwkPrivateKeyPem toYaml fromYaml getSecretKey rsaDecrypt
		genPrivateKey genCA genSelfSignedCert randAlphaNum uuidv4 htpasswd sha256sum now date derivePassword encryptAES`) {
		if _, has := all[name]; !has && name != "printf_" {
			t.Errorf("the function %s is missing", name)
		}
	}
}

func FuzzExecute(f *testing.F) {
	for _, text := range []string{"{{ .v }}", "{{ index . \"v\" | b64enc }}", "{{ range $k, $v := . }}{{ $k }}: {{ $v }}\n{{ end }}", "{{ filterPEM \"X\" .v }}", "{{ mustFromJson .v }}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "s3cretvalue") {
			return
		}
		_, err := Execute(Work{Values: map[string][]byte{"v": []byte("s3cretvalue")}, Parts: []Part{{KeysAndValues: true, Templates: map[string]string{"k": text}}}}, nil)
		if err != nil && strings.Contains(err.Error(), "s3cretvalue") {
			t.Errorf("%q: the value is shown: %v", text, err)
		}
	})
}
