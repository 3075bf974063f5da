output "path" {
  description = "Directory of the repository that the cluster is synced from, available once everything in it is ready."
  value       = var.path
  depends_on  = [terraform_data.headgate]
}
