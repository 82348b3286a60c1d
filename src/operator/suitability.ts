import { AppError, attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { type CheckResult, checkCluster } from '#cluster/openshift.ts';
import type { DetectedCluster } from '#cluster/detect.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { checkServerVersion } from '#cluster/server-version.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { RunSettings } from './settings.ts';

/** What only an administrator can change. Everything else may come later, and is waited for. */
const essential: readonly string[] = ['network type', 'hybrid overlay', 'service network', 'platform', 'TLS profile'];

/** Throws when the API server cannot be the one for our payload, or lacks our own resource. */
export function checkServer({ serverVersion, serves }: DetectedCluster, { kubeletVersion }: RunSettings): void {
  checkServerVersion(serverVersion, kubeletVersion);
  if (serves(windowsInstances)) return;
  throw new AppError('CLUSTER_UNSUITABLE', 'the API server does not know the resource windowsinstances', {
    remedy: 'Apply deploy/crd/windowsinstances.yaml, then start the operator again.',
  });
}

/** Runs once the objects of the cluster are there, and ends everything if it cannot take Windows nodes as it is. */
export function suitability(
  kind: DetectedCluster['kind'],
  facts: FactsSource,
  settings: RunSettings,
  log: Log,
): Runnable {
  return {
    name: 'checks of the cluster',
    run: async (signal, ready) => {
      const problems = kind === 'openshift' ? openshiftProblems(facts, settings) : [];
      for (const { check, detail, error } of problems)
        log.error('failed to validate required cluster configuration', { check, detail, error });
      const [first] = problems;
      if (first !== undefined) throw first.error ?? new Error(first.detail);
      const platform = attempt(() => facts.read().facts?.platform ?? 'unknown');
      log.info('platform', { type: platform.ok ? platform.value : 'unknown' });
      ready();
      await whenAborted(signal);
    },
  };
}

function openshiftProblems(facts: FactsSource, settings: RunSettings): CheckResult[] {
  // The version of the server has been checked by itself.
  return checkCluster(facts.objects(), settings, 'none').filter(({ check, ok }) => !ok && essential.includes(check));
}
