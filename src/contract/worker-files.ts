/** Files of the Linux workers that Windows nodes get too, by their path on Linux. */
export const workerFile = {
  cloudConfig: '/etc/kubernetes/cloud.conf',
  credentialProviders: '/etc/kubernetes/credential-providers/ecr-credential-provider.yaml',
  acrCredentialProvider: '/etc/kubernetes/credential-providers/acr-credential-provider.yaml',
  gcrCredentialProvider: '/etc/kubernetes/credential-providers/gcr-credential-provider.yaml',
} as const;
