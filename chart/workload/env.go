package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Env are variables with values, sorted by their names.
func Env(values map[string]string) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, corev1.EnvVar{Name: name, Value: values[name]})
	}
	return all
}

// SecretEnv is a variable with the value of a key of a Secret.
func SecretEnv(name, secret, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key,
	}}}
}

// ConfigMapEnv is a variable with the value of a key of a ConfigMap.
func ConfigMapEnv(name, config, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: config}, Key: key,
	}}}
}

// FieldEnv is a variable with the value of a field of the pod, as metadata.namespace.
func FieldEnv(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// FromSecrets are all keys of Secrets as variables.
func FromSecrets(names ...string) []corev1.EnvFromSource {
	var all []corev1.EnvFromSource
	for _, name := range names {
		all = append(all, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	return all
}

// FromConfigMaps are all keys of ConfigMaps as variables.
func FromConfigMaps(names ...string) []corev1.EnvFromSource {
	var all []corev1.EnvFromSource
	for _, name := range names {
		all = append(all, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}})
	}
	return all
}

// Mount mounts a volume into the container of an index, and adds the volume to the pod if it has none of the name.
func Mount(pod *corev1.PodSpec, container int, volume corev1.Volume, path string) {
	if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
		pod.Volumes = append(pod.Volumes, volume)
	}
	c := &pod.Containers[container]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume.Name, MountPath: path})
}
