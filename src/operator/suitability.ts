import type { Clock } from '#base/clock.ts';
import { AppError, attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type CheckResult, checkCluster } from '#cluster/openshift.ts';
import type { DetectedCluster } from '#cluster/detect.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { checkServerVersion } from '#cluster/server-version.ts';
import { storeSuitability } from '#cluster/suitability-condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { configMaps } from '#kube/resources.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { RunSettings } from './settings.ts';

/** Checks that only an administrator can fix. Others may pass later, and the operator waits for them. */
const essential: readonly string[] = ['network type', 'hybrid overlay', 'service network', 'platform', 'TLS profile'];

/** Fails when the payload does not support the API server, or the CRD is missing. */
export function checkServer({ serverVersion, serves }: DetectedCluster, { kubeletVersion }: RunSettings): void {
  checkServerVersion(serverVersion, kubeletVersion);
  if (serves(windowsInstances)) return;
  throw new AppError('CLUSTER_UNSUITABLE', 'the API server does not serve the resource windowsinstances', {
    remedy: 'Run `kubectl apply -f deploy/crd/windowsinstances.yaml`, then restart the operator.',
  });
}

export interface SuitabilityParts {
  kind: DetectedCluster['kind'];
  facts: FactsSource;
  settings: RunSettings;
  client: Pick<Client, 'find' | 'create' | 'patch'>;
  clock: Clock;
  log: Log;
}

/** Runs once the caches are synced, and stops the operator if the cluster does not support Windows nodes. */
export function suitability(parts: SuitabilityParts): Runnable {
  const { kind, facts, settings, log } = parts;
  return {
    name: 'cluster checks',
    run: async (signal, ready) => {
      const problems = kind === 'openshift' ? openshiftProblems(facts, settings) : [];
      for (const { check, detail, error } of problems)
        log.error('failed to validate required cluster configuration', { check, detail, error });
      const [first] = problems;
      if (first !== undefined) {
        await storeProblems(problems, parts, signal);
        throw first.error ?? new Error(first.detail);
      }
      const platform = attempt(() => facts.read().facts?.platform ?? 'unknown');
      log.info('platform', { type: platform.ok ? platform.value : 'unknown' });
      ready();
      await whenAborted(signal);
    },
  };
}

/** For `wmco status`: an operator that has exited cannot answer. */
async function storeProblems(
  problems: readonly CheckResult[],
  { client, clock, log, settings: { namespace } }: SuitabilityParts,
  signal: AbortSignal,
): Promise<void> {
  const errors = problems.flatMap(({ error }) => error ?? []);
  try {
    const stored = await client.find(configMaps, configMapName.operatorStatus, { namespace, signal });
    await storeSuitability(stored, errors, { client, namespace, clock }, signal);
  } catch (error) {
    log.warn('Writing the condition of the cluster failed', { error });
  }
}

function openshiftProblems(facts: FactsSource, settings: RunSettings): CheckResult[] {
  // checkServer has checked the version of the API server.
  return checkCluster(facts.objects(), settings, 'none').filter(({ check, ok }) => !ok && essential.includes(check));
}
