import { systemClock } from '../../src/base/clock.ts';
import { type PayloadRelease, sandboxPayload } from '../../src/bin/sandbox-factory.ts';
import { operatorName } from '../../src/contract/names.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { runOperator } from '../../src/operator/operator.ts';
import { readOptions, type RunSettings } from '../../src/operator/settings.ts';
import { accountToken } from './account-token.ts';
import { type FreshCluster, makePod } from './fresh-cluster.ts';
import { installManifests } from './install-manifests.ts';
import { tokenKubeconfig } from './operator-scene.ts';
import { type RecordedLog, recordedLog } from './recorded-log.ts';
import { checkCluster, logOutput } from './secret-check.ts';

/** The operator as its Deployment starts it, with the token of its account; its end fails when a secret can be read. */
export interface InstalledOperator extends AsyncDisposable {
  log: RecordedLog;
  /** Resolves with its failure. */
  ended: Promise<unknown>;
  stop(): Promise<void>;
}

export interface InstalledOptions {
  release?: PayloadRelease;
  settings?: Partial<RunSettings>;
}

const payloadBytes = 100_000;

export async function installedOperator(
  fresh: FreshCluster,
  { release = { version: '11.0.0-abc1234' }, settings = {} }: InstalledOptions = {},
): Promise<InstalledOperator> {
  const { admin, cluster, namespace, kind } = fresh;
  const token = await accountToken(admin, namespace, operatorName);
  const connection = loadKubeconfig(tokenKubeconfig(cluster, token));
  const userAgent = `${operatorName}/${release.version}`;
  const options = { userAgent, fieldManager: operatorName };
  const [client, leaseClient] = [createClient(connection, options), createClient(connection, options)];
  const log = recordedLog();
  const stop = new AbortController();
  const ended = runOperator(
    {
      client,
      leaseClient,
      settings: {
        ...(await deployedSettings(fresh, release.version)),
        // The payload of a test stands for the version of the API server.
        kubeletVersion: cluster.version,
        metricsAddress: { host: '127.0.0.1', port: 0 },
        healthAddress: { host: '127.0.0.1', port: 0 },
        ...settings,
      },
      connect: fresh.connect,
      dialTcp: fresh.fleet.dialTcp,
      resolver: fresh.fleet.names,
      payload: sandboxPayload(release, payloadBytes, fresh.platform),
      clock: systemClock,
      log: log.log,
      metrics: new MemoryMetrics(),
      random: Math.random,
    },
    stop.signal,
  ).catch((error: unknown) => error);
  const end = async () => {
    stop.abort();
    await ended;
    await Promise.all([client.close(), leaseClient.close()]);
    await checkCluster(admin, logOutput(`log of the operator on ${kind}`, log.lines));
  };
  let ending: Promise<void> | undefined;
  const stopOnce = () => (ending ??= end());
  return { log, ended, stop: stopOnce, [Symbol.asyncDispose]: stopOnce };
}

interface Container {
  args: string[];
  env: { name: string; value?: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
}

/** Of command line and environment in the Deployment of the manifests. */
async function deployedSettings({ admin, kind, namespace }: FreshCluster, version: string): Promise<RunSettings> {
  const deployment = installManifests(kind).find(each => each.kind === 'Deployment');
  const { template } = (deployment?.['spec'] ?? { template: { spec: { containers: [] } } }) as {
    template: { spec: { containers: Container[] } };
  };
  const [{ args, env } = { args: [], env: [] }] = template.spec.containers;
  const fields: Record<string, string> = {
    'metadata.namespace': namespace,
    'metadata.name': await makePod(admin, { namespace }),
  };
  const environment = Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [name, value ?? fields[valueFrom?.fieldRef.fieldPath ?? '']]),
  );
  const options = readOptions(args, environment, version);
  if (options === undefined) throw new Error('the Deployment does not start the operator');
  return options.settings;
}
