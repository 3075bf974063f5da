# Connects a cluster to a Git repository with one apply, as "headgate bootstrap" does. It needs no provider
# except the built-in one of Terraform and OpenTofu, and keeps no secret in the state: key files are
# referenced by name, and the password comes from the environment variable GIT_PASSWORD.

locals {
  cluster = concat(
    var.kubeconfig == "" ? [] : ["--kubeconfig", var.kubeconfig],
    var.context == "" ? [] : ["--context", var.context],
  )
  installation = concat(
    ["--serve", join(",", var.serve)],
    var.image == "" ? [] : ["--image", var.image],
    flatten([for path, value in var.values : ["--set", "${path}=${value}"]]),
  )
  repository = concat(
    [var.repository, "--branch", var.branch, "--path", var.path],
    var.git_username == "" ? [] : ["--git-username", var.git_username],
    var.git_password_file == "" ? [] : ["--git-password-file", var.git_password_file],
    var.ssh_key_file == "" ? [] : ["--ssh-key-file", var.ssh_key_file],
    var.known_hosts_file == "" ? [] : ["--known-hosts-file", var.known_hosts_file],
    var.age_key_file == "" ? [] : ["--age-key-file", var.age_key_file],
    var.push ? ["--push"] : [],
  )
  bootstrap = concat([var.headgate, "bootstrap"], local.repository, local.installation, local.cluster, ["--timeout", var.timeout])
  uninstall = concat([var.headgate, "uninstall"], local.installation, local.cluster)
}

resource "terraform_data" "headgate" {
  # A change of any of these runs the command again; it is idempotent.
  triggers_replace = [local.bootstrap, var.again]

  # What destroy needs: it may refer to nothing else.
  input = {
    uninstall = [for word in local.uninstall : "'${replace(word, "'", "'\\''")}'"]
    keep      = var.keep
  }

  provisioner "local-exec" {
    command = join(" ", [for word in local.bootstrap : "'${replace(word, "'", "'\\''")}'"])
  }

  # What the repository declared stays as it is; the controller is removed only on request.
  provisioner "local-exec" {
    when    = destroy
    command = self.input.keep ? "true" : join(" ", self.input.uninstall)
  }
}
