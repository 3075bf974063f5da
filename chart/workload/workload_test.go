package workload_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/workload"
)

func Example() {
	app := chart.NewApp(chart.Settings{})
	shop := chart.New(app, "shop", chart.Props{Namespace: "shop"})
	web := workload.Deployment(shop, "web", workload.Props{
		Pod: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "web", Image: "example.org/web:1.4.0", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			ReadinessProbe: workload.Timing{Period: 10}.HTTP("/ready", intstr.FromString("http")),
			Env:            []corev1.EnvVar{workload.SecretEnv("TOKEN", "web", "token")},
		}}},
		Policies: []workload.Policy{workload.Restricted{}},
	})
	web.ExposeViaService("service", workload.ServiceProps{Port: 80}).
		ExposeViaIngress("ingress", workload.IngressProps{Host: "shop.example.org", TLSSecret: "shop-tls"})
	result, err := app.Synth()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(result.YAML()))
	// Output:
	// apiVersion: apps/v1
	// kind: Deployment
	// metadata:
	//   name: shop-web
	//   namespace: shop
	// spec:
	//   selector:
	//     matchLabels:
	//       app.kubernetes.io/name: shop-web
	//   template:
	//     metadata:
	//       labels:
	//         app.kubernetes.io/name: shop-web
	//     spec:
	//       containers:
	//         - env:
	//             - name: TOKEN
	//               valueFrom:
	//                 secretKeyRef:
	//                   key: token
	//                   name: web
	//           image: example.org/web:1.4.0
	//           name: web
	//           ports:
	//             - containerPort: 8080
	//               name: http
	//           readinessProbe:
	//             httpGet:
	//               path: /ready
	//               port: http
	//             periodSeconds: 10
	//           securityContext:
	//             allowPrivilegeEscalation: false
	//             capabilities:
	//               drop:
	//                 - ALL
	//       securityContext:
	//         runAsNonRoot: true
	//         seccompProfile:
	//           type: RuntimeDefault
	// ---
	// apiVersion: v1
	// kind: Service
	// metadata:
	//   name: shop-service
	//   namespace: shop
	// spec:
	//   ports:
	//     - name: http
	//       port: 80
	//       targetPort: http
	//   selector:
	//     app.kubernetes.io/name: shop-web
	// ---
	// apiVersion: networking.k8s.io/v1
	// kind: Ingress
	// metadata:
	//   name: shop-ingress
	//   namespace: shop
	// spec:
	//   rules:
	//     - host: shop.example.org
	//       http:
	//         paths:
	//           - backend:
	//               service:
	//                 name: shop-service
	//                 port:
	//                   number: 80
	//             path: /
	//             pathType: Prefix
	//   tls:
	//     - hosts:
	//         - shop.example.org
	//       secretName: shop-tls
}

// scope is a chart in an App of its own.
func scope() (*chart.App, *chart.Chart) {
	app := chart.NewApp(chart.Settings{})
	return app, chart.New(app, "c", chart.Props{Namespace: "shop"})
}

func pod(ports ...corev1.ContainerPort) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "one", Ports: ports}}}
}

func TestSelector(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		props          workload.Props
		selector, pods map[string]string
		mistake        string
	}{
		"Name":     {"nothing is given", workload.Props{Name: "web"}, map[string]string{"app.kubernetes.io/name": "web"}, map[string]string{"app.kubernetes.io/name": "web"}, ""},
		"Labels":   {"labels select", workload.Props{Labels: map[string]string{"app": "web"}}, map[string]string{"app": "web"}, map[string]string{"app": "web"}, ""},
		"Selector": {"a selector is among the labels of pods", workload.Props{Labels: map[string]string{"v": "1"}, Selector: map[string]string{"app": "web"}, PodLabels: map[string]string{"x": "y"}}, map[string]string{"app": "web"}, map[string]string{"app": "web", "v": "1", "x": "y"}, ""},
		"Never":    {"a selector that would never find the pods", workload.Props{Selector: map[string]string{"app": "web"}, PodLabels: map[string]string{"app": "other"}}, map[string]string{"app": "web"}, map[string]string{"app": "other"}, "the selector has app=web, and the pods have app=other; it would not find them"},
	} {
		t.Run(name, func(t *testing.T) {
			app, c := scope()
			web := workload.Deployment(c, "web", tc.props)
			if diff := cmp.Diff(tc.selector, web.Value.Spec.Selector.MatchLabels); diff != "" {
				t.Errorf("%s: selector (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.pods, web.Value.Spec.Template.Labels); diff != "" {
				t.Errorf("%s: pods (-want +got):\n%s", tc.reason, diff)
			}
			expect(t, app, tc.mistake)
		})
	}
}

// expect synthesizes, and wants a mistake or none.
func expect(t *testing.T, app *chart.App, mistake string) {
	t.Helper()
	_, err := app.Synth()
	if mistake == "" && err != nil || mistake != "" && (err == nil || !strings.Contains(err.Error(), mistake)) {
		t.Errorf("error %v, want %q", err, mistake)
	}
}

func TestServicePorts(t *testing.T) {
	http, dns := corev1.ContainerPort{Name: "http", ContainerPort: 80}, corev1.ContainerPort{ContainerPort: 53, Protocol: corev1.ProtocolUDP}
	for name, tc := range map[string]struct {
		reason  string
		ports   []corev1.ContainerPort
		props   workload.ServiceProps
		want    []corev1.ServicePort
		mistake string
	}{
		"Number": {"a port without a name is meant by its number", []corev1.ContainerPort{{ContainerPort: 80}}, workload.ServiceProps{}, []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(80)}}, ""},
		"Mapped": {"the Service has another port", []corev1.ContainerPort{http}, workload.ServiceProps{Port: 8080}, []corev1.ServicePort{{Name: "http", Port: 8080, TargetPort: intstr.FromString("http")}}, ""},
		"Several": {"the API demands names of several", []corev1.ContainerPort{http, dns}, workload.ServiceProps{}, []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "udp-53", Protocol: "UDP", Port: 53, TargetPort: intstr.FromInt32(53)},
		}, ""},
		"Given": {"ports that are given", nil, workload.ServiceProps{Ports: []corev1.ServicePort{{Port: 1}}}, []corev1.ServicePort{{Port: 1}}, ""},
		"None":  {"no ports at all", nil, workload.ServiceProps{}, nil, "the containers have no ports"},
		"Ambiguous": {"one port for several", []corev1.ContainerPort{http, dns}, workload.ServiceProps{Port: 1}, []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}, {Name: "udp-53", Protocol: "UDP", Port: 53, TargetPort: intstr.FromInt32(53)},
		}, "the containers have 2 ports, and Port is for a single one"},
	} {
		t.Run(name, func(t *testing.T) {
			app, c := scope()
			service := workload.Deployment(c, "web", workload.Props{Pod: pod(tc.ports...)}).ExposeViaService("service", tc.props)
			if diff := cmp.Diff(tc.want, service.Value.Spec.Ports); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			expect(t, app, tc.mistake)
		})
	}
}

func TestIngress(t *testing.T) {
	app, c := scope()
	service := workload.Deployment(c, "web", workload.Props{Namespace: "other", Pod: pod(corev1.ContainerPort{ContainerPort: 80}, corev1.ContainerPort{ContainerPort: 81})}).
		ExposeViaService("service", workload.ServiceProps{})
	ingress := service.ExposeViaIngress("ingress", workload.IngressProps{Port: 81, Path: "/x", PathType: networkingv1.PathTypeExact, Class: "nginx"})
	path := ingress.Value.Spec.Rules[0].HTTP.Paths[0]
	if path.Backend.Service.Port.Number != 81 || path.Path != "/x" || *path.PathType != networkingv1.PathTypeExact || *ingress.Value.Spec.IngressClassName != "nginx" {
		t.Errorf("the rule is %+v", path)
	}
	if service.Namespace() != "other" || ingress.Namespace() != "other" {
		t.Errorf("the Service is in %s and the Ingress in %s, want the namespace of the workload", service.Namespace(), ingress.Namespace())
	}
	expect(t, app, "")
	service.ExposeViaIngress("nowhere", workload.IngressProps{Port: 82})
	expect(t, app, "an Ingress leads to port 82 of the Service; it has: 80, 81")
}

func TestGovern(t *testing.T) {
	app, c := scope()
	set := workload.StatefulSet(c, "db", workload.Props{Pod: pod(corev1.ContainerPort{ContainerPort: 5432})})
	service := workload.Govern(set, "service", workload.ServiceProps{})
	if set.Value.Spec.ServiceName != service.Name() || service.Value.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("serviceName %q of a Service %q with the address %q", set.Value.Spec.ServiceName, service.Name(), service.Value.Spec.ClusterIP)
	}
	expect(t, app, "")
}

func TestPoliciesKeepWhatIsSet(t *testing.T) {
	yes, no := true, false
	cpu := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	all := []workload.Policy{
		workload.Restricted{ReadOnlyRoot: true}, workload.NoToken{}, workload.Resources{Requests: cpu}, workload.PullSecrets{"login"}, workload.Pull(corev1.PullAlways),
	}
	open := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "init"}}, Containers: []corev1.Container{{Name: "one"}}}
	for _, policy := range all {
		policy.Apply(&open)
	}
	for _, c := range append(open.InitContainers, open.Containers...) {
		if s := c.SecurityContext; *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" || c.ImagePullPolicy != "Always" || len(c.Resources.Requests) != 1 {
			t.Errorf("the container is %+v", c)
		}
	}
	if *open.AutomountServiceAccountToken || open.ImagePullSecrets[0].Name != "login" || !*open.SecurityContext.RunAsNonRoot {
		t.Errorf("the pod is %+v", open)
	}
	set := corev1.PodSpec{
		AutomountServiceAccountToken: &yes, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "own"}},
		SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &no, SeccompProfile: &corev1.SeccompProfile{Type: "Unconfined"}},
		Containers: []corev1.Container{{
			ImagePullPolicy: corev1.PullNever, Resources: corev1.ResourceRequirements{Limits: cpu},
			SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &yes, ReadOnlyRootFilesystem: &no, Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}},
		}},
	}
	want := set.DeepCopy()
	for _, policy := range all {
		policy.Apply(&set)
	}
	if diff := cmp.Diff(want, &set); diff != "" {
		t.Errorf("policies changed what is set (-want +got):\n%s", diff)
	}
	app, c := scope()
	bare := workload.Deployment(c, "bare", workload.Props{Name: "bare", Pod: pod()})
	if diff := cmp.Diff(corev1.PodSpec{Containers: []corev1.Container{{Name: "one"}}}, bare.Template.Spec); diff != "" {
		t.Errorf("without policies nothing is filled in (-want +got):\n%s", diff)
	}
	expect(t, app, "")
}

func TestPropsAreCopied(t *testing.T) {
	app, c := scope()
	props := workload.Props{Name: "web", Labels: map[string]string{"app": "web"}, Pod: pod()}
	web := workload.Deployment(c, "web", props)
	web.Value.Labels["more"] = "x"
	web.Template.Spec.Containers[0].Image = "changed"
	if len(props.Labels) != 1 || props.Pod.Containers[0].Image != "" {
		t.Error("the props changed with the Deployment")
	}
	result, err := app.Synth()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(result.YAML()), "image: changed") {
		t.Error("what was changed in the value is not written")
	}
}

func TestProbes(t *testing.T) {
	timing := workload.Timing{InitialDelay: 1, Period: 2, Timeout: 3, Failures: 4, Successes: 5}
	base := corev1.Probe{InitialDelaySeconds: 1, PeriodSeconds: 2, TimeoutSeconds: 3, FailureThreshold: 4, SuccessThreshold: 5}
	for name, tc := range map[string]struct {
		got  *corev1.Probe
		want corev1.ProbeHandler
	}{
		"HTTP":    {timing.HTTP("/x", intstr.FromInt32(80)), corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/x", Port: intstr.FromInt32(80)}}},
		"TCP":     {timing.TCP(80), corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}}},
		"GRPC":    {timing.GRPC(80), corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 80}}},
		"Command": {timing.Command("true"), corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			want := base
			want.ProbeHandler = tc.want
			if diff := cmp.Diff(&want, tc.got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
