package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/headgate-dev/headgate/chart"
	"github.com/headgate-dev/headgate/chart/typed"
)

// ServiceProps describe the Service of a workload. The zero value is a Service with the ports of the containers.
type ServiceProps struct {
	// Name of the Service; that of its path if empty. Its namespace is that of the workload.
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	// Port of the Service, if the containers have a single one; that of the container if 0.
	Port int32
	// Ports instead of those of the containers.
	Ports []corev1.ServicePort
	// Type of the Service, left to the API server if empty.
	Type corev1.ServiceType
	// Headless Services have no address of their own.
	Headless bool
}

// Service is the Service of a workload.
type Service struct {
	typed.Object[*corev1.Service]
	scope chart.Scope
}

// ExposeViaService puts a Service of the workload's pods beside the workload.
func (w Workload[T]) ExposeViaService(id string, props ServiceProps) Service {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: props.Name, Namespace: w.meta.Namespace, Labels: maps.Clone(props.Labels), Annotations: maps.Clone(props.Annotations),
		},
		Spec: corev1.ServiceSpec{Type: props.Type, Selector: maps.Clone(w.Selector.MatchLabels), Ports: slices.Clone(props.Ports)},
	}
	if props.Headless {
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	made := Service{Object: typed.Add(w.scope, id, service), scope: w.scope}
	if len(props.Ports) == 0 {
		service.Spec.Ports = ports(w.Template.Spec)
		made.number(props.Port)
	}
	return made
}

// number sets the port of a Service that has a single one.
func (s Service) number(port int32) {
	switch found := s.Value.Spec.Ports; {
	case len(found) == 0:
		s.Node().Errorf("the containers have no ports; give them some, or the Service")
	case port != 0 && len(found) > 1:
		s.Node().Errorf("the containers have %d ports, and Port is for a single one; list Ports", len(found))
	case port != 0:
		found[0].Port = port
	}
}

// ports are those of the containers, as a Service has them: by name where there is one.
func ports(pod corev1.PodSpec) []corev1.ServicePort {
	var all []corev1.ServicePort
	for _, c := range pod.Containers {
		for _, port := range c.Ports {
			one := corev1.ServicePort{Name: port.Name, Port: port.ContainerPort, TargetPort: intstr.FromInt32(port.ContainerPort)}
			if port.Name != "" {
				one.TargetPort = intstr.FromString(port.Name)
			}
			if port.Protocol != corev1.ProtocolTCP {
				one.Protocol = port.Protocol
			}
			all = append(all, one)
		}
	}
	if len(all) < 2 {
		return all
	}
	for i := range all {
		if all[i].Name == "" { // the API wants names if there are several
			all[i].Name = strings.ToLower(fmt.Sprintf("%s-%d", first(all[i].Protocol, corev1.ProtocolTCP), all[i].Port))
		}
	}
	return all
}

func first(protocol, other corev1.Protocol) corev1.Protocol {
	if protocol == "" {
		return other
	}
	return protocol
}

// IngressProps describe the Ingress of a Service.
type IngressProps struct {
	// Name of the Ingress; that of its path if empty.
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	// Class of the Ingress, left to the cluster if empty.
	Class string
	// Host of the rule, any if empty.
	Host string
	// Path is "/" if empty, and PathType Prefix.
	Path     string
	PathType networkingv1.PathType
	// Port of the Service, by its number; its only one if 0.
	Port int32
	// TLSSecret has the certificate of the host; none if empty.
	TLSSecret string
}

// ExposeViaIngress puts an Ingress of the Service beside it.
func (s Service) ExposeViaIngress(id string, props IngressProps) typed.Object[*networkingv1.Ingress] {
	ingress := Ingress(s.scope, id, props, s.Name(), s.port(props.Port))
	ingress.Value.Namespace = s.Value.Namespace
	return ingress
}

// port is the one that an Ingress leads to.
func (s Service) port(wanted int32) int32 {
	if ports := s.Value.Spec.Ports; wanted == 0 && len(ports) == 1 {
		return ports[0].Port
	}
	var numbers []string
	for _, port := range s.Value.Spec.Ports {
		if port.Port == wanted {
			return wanted
		}
		numbers = append(numbers, fmt.Sprint(port.Port))
	}
	s.Node().Errorf("an Ingress leads to port %d of the Service; it has: %s", wanted, strings.Join(numbers, ", "))
	return wanted
}

// Ingress puts an Ingress with one rule below scope, for a Service that is somewhere else.
func Ingress(scope chart.Scope, id string, props IngressProps, service string, port int32) typed.Object[*networkingv1.Ingress] {
	if props.Path == "" {
		props.Path = "/"
	}
	if props.PathType == "" {
		props.PathType = networkingv1.PathTypePrefix
	}
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
		Name: props.Name, Labels: maps.Clone(props.Labels), Annotations: maps.Clone(props.Annotations),
	}}
	ingress.Spec.Rules = []networkingv1.IngressRule{Rule(props.Host, props.Path, props.PathType, service, port)}
	if props.Class != "" {
		ingress.Spec.IngressClassName = &props.Class
	}
	if props.TLSSecret != "" {
		tls := networkingv1.IngressTLS{SecretName: props.TLSSecret}
		if props.Host != "" {
			tls.Hosts = []string{props.Host}
		}
		ingress.Spec.TLS = []networkingv1.IngressTLS{tls}
	}
	return typed.Add(scope, id, ingress)
}

// Rule is a rule of an Ingress: a path of a host leads to a port of a Service.
func Rule(host, path string, pathType networkingv1.PathType, service string, port int32) networkingv1.IngressRule {
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: service, Port: networkingv1.ServiceBackendPort{Number: port},
	}}
	return networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
		Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: &pathType, Backend: backend}},
	}}}
}
