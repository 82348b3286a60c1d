import { setTimeout as delay } from 'node:timers/promises';
import type { WindowsInstance } from '../src/cluster/windows-instance-resource.ts';
import { configureSteps } from '../src/node/lifecycle/configure/steps.ts';
import { events, leases } from '../src/kube/resources.ts';
import { costOf, demand } from './join/measure.ts';
import { machineLoad, Scene } from './join/scene.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description = 'hosts that join while the API server is slow, or busy for a minute [HOSTS] [slow | busy]';

const payloadBytes = 2_000_000;
const latencyMs = 2000;
const busyMs = 60_000;

/** `npm run bench -- slow-server [HOSTS] [slow | busy]`; exit code 1 if a host is not Ready or the Lease is lost. */
export async function run(report: Report, [hosts = '100', only]: readonly string[]): Promise<void> {
  machineLoad(report);
  const count = wholeNumber(hosts, 'npm run bench -- slow-server 100 busy');
  for (const load of loads.filter(({ is }) => only === undefined || is === only)) await measure(report, count, load);
}

interface Load {
  is: 'slow' | 'busy';
  name: string;
  /** Runs before the entries are listed. */
  before?: (scene: Scene) => Promise<unknown>;
  /** Runs while hosts join. */
  during?: (scene: Scene) => Promise<unknown>;
}

const loads: readonly Load[] = [
  {
    is: 'slow',
    name: `${latencyMs / 1000} s per request`,
    before: scene => scene.change({ latencyMs, isBusy: false }),
  },
  {
    is: 'busy',
    name: `429 for ${busyMs / 1000} s`,
    during: async scene => {
      const third = Math.floor(scene.ready.entries.length / 3);
      const isPast = () => scene.instances.filter(hasPrograms).length >= third;
      await scene.until(isPast, `${third} hosts have their programs`);
      await scene.change({ latencyMs: 0, isBusy: true });
      await delay(busyMs);
      await scene.change({ latencyMs: 0, isBusy: false });
    },
  },
];

async function measure(report: Report, hosts: number, { name, before, during }: Load): Promise<void> {
  await using scene = await Scene.open({ hosts, payloadBytes });
  await scene.startOperator();
  const lease = await leaseOf(scene);
  await before?.(scene);
  await scene.list();
  const startMs = performance.now();
  await during?.(scene);
  await scene.untilReady(hosts);
  const seconds = (performance.now() - startMs) / 1000;
  const { cpuSeconds, memoryBytes, busiestStallMs } = await costOf(scene);
  const { rejected } = await scene.hostFigures();
  const attempts = scene.instances.flatMap(({ status }) => status?.timeline ?? []).map(step => step.attempts - 1);
  const warnings = await warningsOf(scene);
  report(`${name}: ${hosts} hosts until all are Ready`, seconds, 's');
  report(`${name}: requests answered with 429`, rejected, '');
  report(
    `${name}: failed attempts of steps`,
    attempts.reduce((sum, failed) => sum + failed, 0),
    '',
  );
  report(`${name}: Warning events`, warnings.length, '');
  for (const [reason, { length }] of Map.groupBy(warnings, warning => warning))
    report(`${name}: Warning events ${reason}`, length, '');
  report(`${name}: CPU of the operator`, cpuSeconds, 's');
  report(`${name}: memory of the operator, at most`, memoryBytes / 1e6, 'MB');
  report(`${name}: longest stall, its own work only`, busiestStallMs, 'ms');
  demand((await leaseOf(scene)) === lease, `${name}: the Lease has changed from ${lease} to ${await leaseOf(scene)}`);
}

const stepNames = configureSteps.map(({ name }) => name);

function hasPrograms({ status }: WindowsInstance): boolean {
  return status?.phase === 'Ready' || stepNames.indexOf(status?.step ?? '') > stepNames.indexOf('stage programs');
}

/** Holder and number of changes. */
async function leaseOf({ client, ready: { namespace } }: Scene): Promise<string> {
  const { items } = await client.list(leases, { namespace });
  return items.map(({ spec }) => `${spec?.holderIdentity} (${spec?.leaseTransitions} transitions)`).join();
}

async function warningsOf({ client }: Scene): Promise<string[]> {
  const { items } = await client.listAll(events);
  return items.flatMap(({ type, reason = '', count = 1 }) =>
    type === 'Warning' ? Array.from({ length: count }, () => reason) : [],
  );
}
