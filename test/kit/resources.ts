import type { KubeResource } from '../../src/kube/resource.ts';
import { ofCluster, ofNamespace, type SubjectAccessReview } from '../../src/kube/resources.ts';

/** Resources that only tests ask for. */
interface Service extends KubeResource {
  spec?: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    ports?: { name?: string; port: number; targetPort?: number | string; protocol?: string }[];
  };
}

export const services = ofNamespace<Service>('v1', 'Service', 'services');
export const selfSubjectAccessReviews = ofCluster<SubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);
