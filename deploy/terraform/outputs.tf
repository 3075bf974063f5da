output "path" {
  description = "Directory of the repository that the cluster begins with, once the cluster is what it says."
  value       = var.path
  depends_on  = [terraform_data.headgate]
}
