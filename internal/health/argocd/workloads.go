package argocd

import "fmt"

type deployment struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Paused   bool   `json:"paused"`
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64       `json:"observedGeneration"`
		Replicas           int32       `json:"replicas"`
		UpdatedReplicas    int32       `json:"updatedReplicas"`
		AvailableReplicas  int32       `json:"availableReplicas"`
		Conditions         []condition `json:"conditions"`
	} `json:"status"`
}

func deploymentHealth(d *deployment) (Health, error) {
	s := d.Status
	switch {
	case d.Spec.Paused:
		return Health{Status: Suspended, Message: "Deployment is paused"}, nil
	case d.Metadata.Generation > s.ObservedGeneration:
		return progressing("Waiting for rollout to finish: observed deployment generation less than desired generation")
	}
	if c, _ := find(s.Conditions, "Progressing"); c.Reason == "ProgressDeadlineExceeded" {
		return degraded(fmt.Sprintf("Deployment %q exceeded its progress deadline", d.Metadata.Name))
	}
	switch {
	case d.Spec.Replicas != nil && s.UpdatedReplicas < *d.Spec.Replicas:
		return progressing("Waiting for rollout to finish: %d out of %d new replicas have been updated...", s.UpdatedReplicas, *d.Spec.Replicas)
	case s.Replicas > s.UpdatedReplicas:
		return progressing("Waiting for rollout to finish: %d old replicas are pending termination...", s.Replicas-s.UpdatedReplicas)
	case s.AvailableReplicas < s.UpdatedReplicas:
		return progressing("Waiting for rollout to finish: %d of %d updated replicas are available...", s.AvailableReplicas, s.UpdatedReplicas)
	}
	return healthy("")
}

type statefulSet struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Replicas       *int32 `json:"replicas"`
		UpdateStrategy struct {
			Type          string `json:"type"`
			RollingUpdate *struct {
				Partition *int32 `json:"partition"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64  `json:"observedGeneration"`
		ReadyReplicas      int32  `json:"readyReplicas"`
		CurrentReplicas    int32  `json:"currentReplicas"`
		UpdatedReplicas    int32  `json:"updatedReplicas"`
		CurrentRevision    string `json:"currentRevision"`
		UpdateRevision     string `json:"updateRevision"`
	} `json:"status"`
}

func statefulSetHealth(set *statefulSet) (Health, error) {
	s, replicas, strategy := set.Status, set.Spec.Replicas, set.Spec.UpdateStrategy
	if s.ObservedGeneration == 0 || set.Metadata.Generation > s.ObservedGeneration {
		return progressing("Waiting for statefulset spec update to be observed...")
	}
	if replicas != nil && s.ReadyReplicas < *replicas {
		return progressing("Waiting for %d pods to be ready...", *replicas-s.ReadyReplicas)
	}
	if strategy.Type == "RollingUpdate" && strategy.RollingUpdate != nil {
		if partition := strategy.RollingUpdate.Partition; replicas != nil && partition != nil && s.UpdatedReplicas < *replicas-*partition {
			return progressing("Waiting for partitioned roll out to finish: %d out of %d new pods have been updated...", s.UpdatedReplicas, *replicas-*partition)
		}
		return healthy(fmt.Sprintf("partitioned roll out complete: %d new pods have been updated...", s.UpdatedReplicas))
	}
	if strategy.Type == "OnDelete" {
		return healthy(fmt.Sprintf("statefulset has %d ready pods", s.ReadyReplicas))
	}
	if s.UpdateRevision != s.CurrentRevision {
		return progressing("waiting for statefulset rolling update to complete %d pods at revision %s...", s.UpdatedReplicas, s.UpdateRevision)
	}
	return healthy(fmt.Sprintf("statefulset rolling update complete %d pods at revision %s...", s.CurrentReplicas, s.CurrentRevision))
}

type replicaSet struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64       `json:"observedGeneration"`
		AvailableReplicas  int32       `json:"availableReplicas"`
		Conditions         []condition `json:"conditions"`
	} `json:"status"`
}

func replicaSetHealth(set *replicaSet) (Health, error) {
	s := set.Status
	if set.Metadata.Generation > s.ObservedGeneration {
		return progressing("Waiting for rollout to finish: observed replica set generation less than desired generation")
	}
	if c, _ := find(s.Conditions, "ReplicaFailure"); c.Status == "True" {
		return degraded(c.Message)
	}
	if replicas := set.Spec.Replicas; replicas != nil && s.AvailableReplicas < *replicas {
		return progressing("Waiting for rollout to finish: %d out of %d new replicas are available...", s.AvailableReplicas, *replicas)
	}
	return healthy("")
}

type daemonSet struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		UpdateStrategy struct {
			Type string `json:"type"`
		} `json:"updateStrategy"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration     int64 `json:"observedGeneration"`
		DesiredNumberScheduled int32 `json:"desiredNumberScheduled"`
		UpdatedNumberScheduled int32 `json:"updatedNumberScheduled"`
		NumberAvailable        int32 `json:"numberAvailable"`
	} `json:"status"`
}

func daemonSetHealth(set *daemonSet) (Health, error) {
	s, name := set.Status, set.Metadata.Name
	switch {
	case set.Metadata.Generation > s.ObservedGeneration:
		return progressing("Waiting for rollout to finish: observed daemon set generation less than desired generation")
	case set.Spec.UpdateStrategy.Type == "OnDelete":
		return healthy(fmt.Sprintf("daemon set %d out of %d new pods have been updated", s.UpdatedNumberScheduled, s.DesiredNumberScheduled))
	case s.UpdatedNumberScheduled < s.DesiredNumberScheduled:
		return progressing("Waiting for daemon set %q rollout to finish: %d out of %d new pods have been updated...", name, s.UpdatedNumberScheduled, s.DesiredNumberScheduled)
	case s.NumberAvailable < s.DesiredNumberScheduled:
		return progressing("Waiting for daemon set %q rollout to finish: %d of %d updated pods are available...", name, s.NumberAvailable, s.DesiredNumberScheduled)
	}
	return healthy("")
}

type job struct {
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

// jobHealth takes a condition for what it names, whatever its status; only of a suspension does the status count. All as Argo
// CD does, and so is the empty message of a Job that is suspended.
func jobHealth(j *job) (Health, error) {
	var failed, ended, suspended bool
	var failure, message string
	for _, c := range j.Status.Conditions {
		switch c.Type {
		case "Failed":
			failed, ended, failure = true, true, c.Message
		case "Complete":
			ended, message = true, c.Message
		case "Suspended":
			ended, message = true, c.Message
			suspended = suspended || c.Status == "True"
		}
	}
	switch {
	case !ended:
		return Health{Status: Progressing, Message: message}, nil
	case failed:
		return degraded(failure)
	case suspended:
		return Health{Status: Suspended, Message: failure}, nil
	}
	return healthy(message)
}
