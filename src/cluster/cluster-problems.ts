import { type AppError, attempt } from '#base/errors.ts';
import type { DetectedCluster } from './detect.ts';
import type { OperatorSettings } from './facts.ts';
import type { FactsSource } from './facts-source.ts';
import { checkCluster } from './openshift.ts';
import { checkServerVersion } from './server-version.ts';

export interface ClusterProblemsInput {
  kind: DetectedCluster['kind'];
  facts: Pick<FactsSource, 'read' | 'objects'>;
  settings: OperatorSettings;
  /** The gitVersion of the API server. */
  serverVersion: string;
  /** Of the payload. */
  kubeletVersion: string;
}

/** What is wrong with the cluster, each problem once: on OpenShift by the checks of `wmco check cluster`. */
export function clusterProblems(input: ClusterProblemsInput): AppError[] {
  const all = input.kind === 'openshift' ? openshiftProblems(input) : kubernetesProblems(input);
  return [...new Map(all.map(error => [error.message, error])).values()];
}

function openshiftProblems({ facts, settings, serverVersion, kubeletVersion }: ClusterProblemsInput): AppError[] {
  return checkCluster(facts.objects(), settings, serverVersion, kubeletVersion).flatMap(({ error }) => error ?? []);
}

function kubernetesProblems({ facts, serverVersion, kubeletVersion }: ClusterProblemsInput): AppError[] {
  const version = attempt(() => checkServerVersion(serverVersion, kubeletVersion));
  return [...(version.ok ? [] : [version.error]), ...facts.read().findings];
}
