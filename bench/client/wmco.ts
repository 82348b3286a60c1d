/** The client for an API server, bundled into one file for the measurement. */
export { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
export { createClient } from '../../src/kube/http-client.ts';
export { nodes } from '../../src/kube/resources.ts';
