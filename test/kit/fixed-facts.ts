import { AppError } from '../../src/base/errors.ts';
import type { ClusterFacts, FactsReading, OperatorSettings } from '../../src/cluster/facts.ts';
import type { FactsSource } from '../../src/cluster/facts-source.ts';
import type { KubeObject } from '../../src/contract/object.ts';
import { noReservations } from '../../src/contract/reserved.ts';
import { benchNamespace, benchVersion } from './source-bench.ts';

/** Facts that a test sets and changes. */
export interface FixedFacts extends FactsSource {
  /** Undefined for a cluster with incomplete facts. */
  become(facts: Partial<ClusterFacts> | undefined): void;
  listeners(): number;
}

export const defaultFacts: ClusterFacts = {
  platform: 'None',
  apiServerUrl: 'https://api-int.example.com:6443',
  network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
  kubeletArguments: {},
  workerFiles: {},
  kubeletCa: 'kubelet-ca',
  registryBundles: [],
  proxy: {},
  trustedCa: undefined,
  reserved: noReservations,
};

export const benchSettings: OperatorSettings = {
  namespace: benchNamespace,
  version: benchVersion,
  debug: false,
  logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
  proxy: {},
};

export function fixedFacts(initial: Partial<ClusterFacts> = {}, objects: KubeObject[] = []): FixedFacts {
  const listeners = new Set<() => void>();
  let known = readingOf(initial);
  return {
    read: () => known,
    objects: () => objects,
    onChange: listener => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    become: facts => {
      known = readingOf(facts);
      for (const listener of listeners) listener();
    },
    listeners: () => listeners.size,
  };
}

/** Facts of a cluster that are incomplete. */
export function unknownFacts(): FixedFacts {
  const facts = fixedFacts();
  facts.become(undefined);
  return facts;
}

function readingOf(facts: Partial<ClusterFacts> | undefined): FactsReading {
  if (facts !== undefined) return { facts: { ...defaultFacts, ...facts }, findings: [] };
  const finding = new AppError('RENDERED_WORKER_MISSING', 'no config', { remedy: 'Wait.' });
  return { facts: undefined, findings: [finding] };
}
