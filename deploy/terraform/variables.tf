variable "repository" {
  type        = string
  description = "URL of the Git repository: https:// or ssh://, without credentials."
}

variable "branch" {
  type    = string
  default = "main"
}

variable "path" {
  type        = string
  description = "Directory of the repository that the cluster is synced from, such as clusters/prod."
}

variable "kubeconfig" {
  type        = string
  default     = ""
  description = "Path of the kubeconfig. Empty: the default kubeconfig, with the given context."
}

variable "context" {
  type        = string
  default     = ""
  description = "Context of the kubeconfig."

  validation {
    condition     = var.context != "" || var.kubeconfig != ""
    error_message = "Name the cluster: set kubeconfig, or context, or both."
  }
}

variable "serve" {
  type        = list(string)
  default     = ["flux"]
  description = "API groups that the controller serves; flux stands for all of Flux's."
}

variable "image" {
  type        = string
  default     = ""
  description = "Image of the controller. Empty: the image that the chart names."
}

variable "values" {
  type        = map(string)
  default     = {}
  description = "Values of the chart, such as { replicas = 2 }."
}

variable "git_username" {
  type    = string
  default = ""
}

variable "git_password_file" {
  type        = string
  default     = ""
  description = "File with the password or token of the repository. Empty: the environment variable GIT_PASSWORD."
}

variable "ssh_key_file" {
  type    = string
  default = ""
}

variable "known_hosts_file" {
  type    = string
  default = ""
}

variable "age_key_file" {
  type        = string
  default     = ""
  description = "File with the age identities that decrypt the secrets of the repository."
}

variable "push" {
  type        = bool
  default     = false
  description = "Commit the manifests of the controller to the repository, so that it manages itself."
}

variable "timeout" {
  type        = string
  default     = "15m"
  description = "How long everything may take to become ready."
}

variable "keep" {
  type        = bool
  default     = true
  description = "Leave the controller in the cluster on destroy."
}

variable "again" {
  type        = string
  default     = ""
  description = "Change it to run the command again, for example to the id of a recreated cluster."
}

variable "headgate" {
  type        = string
  default     = "headgate"
  description = "The command."
}
