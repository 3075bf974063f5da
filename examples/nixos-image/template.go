package main

import (
	corev1 "k8s.io/api/core/v1"

	workflow "github.com/headgate-dev/headgate/api/argoproj/workflow/v1alpha1"
)

// buildScript makes the image, by Nix where that is installed and by a shell elsewhere.
const buildScript = `set -eu
if command -v nix-build >/dev/null; then
  # A store of its own, nothing fetched, nothing of the machine changed.
  export HOME=/work NIX_STORE_DIR=/work/store NIX_STATE_DIR=/work/state NIX_LOG_DIR=/work/log NIX_CONF_DIR=/work/etc
  result=$(nix-build /recipe/image.nix --no-out-link --option sandbox false --option substituters '' --option build-users-group '')
  by=nix
else
  result=/work/result by=sh
  out=$result configuration=/recipe/configuration.nix sh /recipe/disk.sh
fi
cp "$result/nixos.img.gz" /out/nixos.img.gz
echo "$by" > /out/by
echo "$result, built by $by"
`

// uploadScript leaves the image where it is uploaded from.
const uploadScript = `set -eu
gzip -t < /in/nixos.img.gz
cp /in/nixos.img.gz /out/nixos.img.gz
printf %s "$URL" > /out/url
echo "to $URL"
`

// address is where an image is uploaded to.
const address = "{{workflow.parameters.bucket}}/nixos/{{workflow.name}}.img.gz"

// imageWorkflow is how an image is built and uploaded.
func imageWorkflow(account string) workflow.WorkflowSpec {
	spec := workflow.WorkflowSpec{
		Entrypoint: "image",
		Arguments: workflow.Arguments{Parameters: []workflow.Parameter{
			{Name: bucket, ValueFrom: &workflow.ValueFrom{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: bucket}, Key: "url",
			}}},
			// These are inputs of the Build.
			{Name: "recipe"},
			{Name: "builder"},
			{Name: "configuration"},
		}},
		Templates: []workflow.Template{imageSteps(), buildStep(), uploadStep()},
	}
	spec.ServiceAccountName = account
	return spec
}

// imageSteps builds, then uploads.
func imageSteps() workflow.Template {
	build := workflow.DAGTask{Execution: workflow.Execution{Name: "build", Call: workflow.Call{Template: "build"}}}
	upload := workflow.DAGTask{Depends: build.Name, Execution: workflow.Execution{Name: "upload", Call: workflow.Call{
		Template: "upload", Arguments: workflow.Arguments{Artifacts: []workflow.Artifact{{Name: "image", From: "{{tasks.build.outputs.artifacts.image}}"}}},
	}}}
	return workflow.Template{
		Name: "image", DAG: &workflow.DAGTemplate{Tasks: []workflow.DAGTask{build, upload}},
		Outputs: workflow.Outputs{Parameters: []workflow.Parameter{
			{Name: "url", ValueFrom: &workflow.ValueFrom{Parameter: "{{tasks.upload.outputs.parameters.url}}"}},
			{Name: "by", ValueFrom: &workflow.ValueFrom{Parameter: "{{tasks.build.outputs.parameters.by}}"}},
		}},
	}
}

// buildStep makes the image of the inputs.
func buildStep() workflow.Template {
	input := func(name, file string) workflow.Artifact {
		return workflow.Artifact{Name: name, Path: "/recipe/" + file, ArtifactLocation: workflow.ArtifactLocation{
			Raw: &workflow.RawArtifact{Data: "{{workflow.parameters." + name + "}}"},
		}}
	}
	step := workflow.Template{
		Name:   "build",
		Inputs: workflow.Inputs{Artifacts: []workflow.Artifact{input("recipe", "image.nix"), input("builder", "disk.sh"), input("configuration", "configuration.nix")}},
		Script: &workflow.ScriptTemplate{Source: buildScript, Container: corev1.Container{
			Image: "nixos/nix", Command: []string{"sh"}, VolumeMounts: []corev1.VolumeMount{{Name: "work", MountPath: "/work"}},
		}},
		Outputs: workflow.Outputs{
			Parameters: []workflow.Parameter{{Name: "by", ValueFrom: &workflow.ValueFrom{Path: "/out/by"}}},
			Artifacts:  []workflow.Artifact{{Name: "image", Path: "/out/nixos.img.gz", Archive: asItIs()}},
		},
	}
	step.Volumes = []corev1.Volume{{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	return step
}

// uploadStep uploads an image. What it leaves is uploaded by PUT.
func uploadStep() workflow.Template {
	login := func(key string) *corev1.SecretKeySelector {
		return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: bucket}, Key: key}
	}
	return workflow.Template{
		Name:   "upload",
		Inputs: workflow.Inputs{Artifacts: []workflow.Artifact{{Name: "image", Path: "/in/nixos.img.gz"}}},
		Script: &workflow.ScriptTemplate{Source: uploadScript, Container: corev1.Container{
			Image: "alpine", Command: []string{"sh"}, Env: []corev1.EnvVar{{Name: "URL", Value: address}},
		}},
		Outputs: workflow.Outputs{
			Parameters: []workflow.Parameter{{Name: "url", ValueFrom: &workflow.ValueFrom{Path: "/out/url"}}},
			Artifacts: []workflow.Artifact{{Name: "image", Path: "/out/nixos.img.gz", Archive: asItIs(), ArtifactLocation: workflow.ArtifactLocation{
				HTTP: &workflow.HTTPArtifact{URL: address, Auth: &workflow.HTTPAuth{BasicAuth: &workflow.BasicAuth{UsernameSecret: login("username"), PasswordSecret: login("password")}}},
			}}},
		},
	}
}

// asItIs has an artifact neither packed nor compressed.
func asItIs() *workflow.ArchiveStrategy {
	return &workflow.ArchiveStrategy{None: &workflow.NoneStrategy{}}
}
