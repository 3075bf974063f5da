package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/virtual/plan"
)

var credentials = plan.Credentials{
	Server: "https://127.0.0.1:7001/", Kubeconfig: []byte("kind: Config"), CA: []byte("ca"), Certificate: []byte("certificate"), Key: []byte("key"),
}

func TestAccess(t *testing.T) {
	want := plan.Secret{Name: "vc-vcluster-dev-helm", Data: map[string][]byte{
		"config": []byte("kind: Config"), "certificate-authority": []byte("ca"), "client-certificate": []byte("certificate"), "client-key": []byte("key"), "token": {},
	}}
	if diff := cmp.Diff(want, plan.Access("vcluster-dev-helm", credentials)); diff != "" {
		t.Errorf("the Secret that scripts read (-want +got):\n%s", diff)
	}
}

func TestRegistered(t *testing.T) {
	labels := map[string]string{"environment": "dev", "argocd.argoproj.io/secret-type": "repository"}
	got, err := plan.Registered("dev-vcluster", labels, credentials)
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Secret{
		Name:   "cluster-dev-vcluster",
		Labels: map[string]string{"environment": "dev", "argocd.argoproj.io/secret-type": "cluster"},
		Data: map[string][]byte{
			"name": []byte("dev-vcluster"), "server": []byte("https://127.0.0.1:7001"),
			"config": []byte(`{"tlsClientConfig":{"insecure":false,"caData":"Y2E=","certData":"Y2VydGlmaWNhdGU=","keyData":"a2V5"}}`),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the Secret that Argo CD reads (-want +got):\n%s", diff)
	}
	if labels["argocd.argoproj.io/secret-type"] != "repository" {
		t.Error("the labels of the caller were changed")
	}
}

func TestRegisteredRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Credentials)
		want   string
	}{
		"Clear":      {change: func(c *plan.Credentials) { c.Server = "http://127.0.0.1:7001" }, want: `virtual cluster "v": its address is not one of https`},
		"Unverified": {change: func(c *plan.Credentials) { c.CA = nil }, want: `virtual cluster "v": no certificate authority to verify it with`},
		"NoClient":   {change: func(c *plan.Credentials) { c.Key = nil }, want: `virtual cluster "v": neither a client certificate with its key nor a token`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := credentials
			c.change(&changed)
			if _, err := plan.Registered("v", nil, changed); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}
