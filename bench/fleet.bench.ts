import { setTimeout as delay } from 'node:timers/promises';
import { requestKeyHash } from '../test/kit/csr.ts';
import { FleetScene, type PhaseFigures } from './fleet/fleet-scene.ts';
import { renewalKinds, requestRenewals, type RenewalKind } from './fleet/renewals.ts';
import { demand } from './join/measure.ts';
import { machineLoad } from './join/scene.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description =
  'cost of configured nodes: start, restart, label, heartbeats, certificates, memory [NODES …]';

const [imagesPerNode, podsPerNode] = [50, 100];
/** Of the operator in `bench/join/operator-process.ts`. */
const version = '11.0.0-sandbox';
/** So many events in each phase, whatever the number of Nodes, so that warm code is compared. */
const eventsWanted = 1000;
const [idleSeconds, heartbeatSeconds, renewalSeconds] = [10, 30, 30];
const mostGrowth = 1.3;

/** For a restart with so many Nodes or fewer. */
const [restartNodes, restartSeconds] = [200, 10];

type Phase = 'start' | 'restart' | 'idle' | 'label' | 'heartbeats' | RenewalKind;

interface FleetFigures {
  count: number;
  phases: Map<Phase, PhaseFigures & { events: number }>;
  /** After a garbage collection. */
  residentBytes: number;
  heapBytes: number;
}

/** `npm run bench -- fleet [NODES …]`; exit code 1 if a target is missed. */
export async function run(report: Report, words: readonly string[]): Promise<void> {
  const counts =
    words.length === 0 ? [100, 200, 1000] : words.map(word => wholeNumber(word, 'npm run bench -- fleet 200'));
  machineLoad(report);
  const base = await measureFleet(1, 'start');
  const all: FleetFigures[] = [];
  for (const count of counts) {
    const figures = await measureFleet(count);
    reportFleet(report, figures, base);
    all.push(figures);
  }
  console.log(tableOf(all, base));
  for (const figures of all) reportRestart(figures);
  checkGrowth(all, base);
}

async function measureFleet(count: number, what: 'start' | 'all' = 'all'): Promise<FleetFigures> {
  await using scene = await FleetScene.open({ count, imagesPerNode, podsPerNode, version, keyHash: requestKeyHash });
  const phases: FleetFigures['phases'] = new Map();
  const add = (phase: Phase, events: number, figures: PhaseFigures) => {
    console.error(JSON.stringify({ count, phase, events, ...figures }));
    phases.set(phase, { ...figures, events });
  };
  const rounds = Math.max(1, Math.ceil(eventsWanted / count));
  add('start', count, await scene.measureStart());
  add('restart', count, await scene.measureRestart());
  add('idle', 0, await scene.measure(() => delay(idleSeconds * 1000)));
  const { residentBytes, heapBytes } = await scene.operatorFigures('collect');
  if (what === 'start') return { count, phases, residentBytes, heapBytes };
  add('label', rounds * count, await scene.measure(() => scene.ask({ do: 'label', rounds })));
  const heartbeats = { do: 'heartbeats', rounds: 3 * rounds, seconds: heartbeatSeconds } as const;
  add('heartbeats', 3 * rounds * count, await scene.measure(() => scene.ask(heartbeats)));
  let wanted = 0;
  for (const kind of renewalKinds) {
    wanted += rounds * count;
    const renewals = { count, rounds, seconds: renewalSeconds };
    add(kind, rounds * count, await scene.measure(() => requestRenewals(scene.ready.kubeconfig, kind, renewals)));
    const { issued } = await scene.ask({ do: 'count' });
    demand(issued === wanted, `${issued} certificates were issued for ${wanted} requests`);
  }
  for (const phase of ['idle', 'label', 'heartbeats'] as const)
    demand(writesOf(phases.get(phase)?.requests ?? {}) === 0, `${count} nodes: the operator wrote in phase ${phase}`);
  return { count, phases, residentBytes, heapBytes };
}

/** CPU time for each event of a phase: without the idle load, and for a start without that of one Node. */
function cpuMsPerEvent({ phases }: FleetFigures, phase: Phase, base: FleetFigures): number {
  const figures = phases.get(phase);
  const idle = phases.get('idle');
  if (figures === undefined || idle === undefined) return Number.NaN;
  const isStart = phase === 'start' || phase === 'restart';
  const startSeconds = isStart ? (base.phases.get(phase)?.cpuSeconds ?? 0) : 0;
  const idleSecondsOf = isStart ? 0 : (idle.cpuSeconds / idle.seconds) * figures.seconds;
  return ((figures.cpuSeconds - startSeconds - idleSecondsOf) * 1000) / figures.events;
}

function reportFleet(report: Report, figures: FleetFigures, base: FleetFigures): void {
  const { count, phases, residentBytes, heapBytes } = figures;
  for (const [phase, { seconds, cpuSeconds, stallMs, requests }] of phases) {
    const name = `${count} nodes, ${phase}`;
    report(`${name}: time`, seconds, 's');
    report(`${name}: CPU of the operator`, cpuSeconds, 's');
    if (phase !== 'idle') report(`${name}: CPU per node and event`, cpuMsPerEvent(figures, phase, base), 'ms');
    report(`${name}: longest stall, its own work only`, stallMs, 'ms');
    for (const [verb, all] of Map.groupBy(Object.entries(requests), ([request]) => request.split(' ', 1)[0] ?? ''))
      report(`${name}: requests of the operator, ${verb}`, sum(all.map(([, times]) => times)), '');
  }
  report(`${count} nodes: memory after garbage collection`, residentBytes / 1e6, 'MB');
  report(`${count} nodes: memory per node`, (residentBytes - base.residentBytes) / 1000 / count, 'KB');
  report(`${count} nodes: heap per node`, (heapBytes - base.heapBytes) / 1000 / count, 'KB');
}

/** A restart must not be noticed by hosts, whatever the number of Nodes. */
function reportRestart({ count, phases }: FleetFigures): void {
  const restart = phases.get('restart');
  if (restart === undefined) return;
  const { sshConnections, requests, seconds } = restart;
  const [writes, time] = [writesOf(requests), `${seconds.toFixed(1)} s`];
  const found = `${sshConnections} SSH connections, ${writes} writes but Leases, settled after ${time}`;
  console.log(`restart with ${count} configured nodes: ${found} (Go operator, 5 nodes: 25 logins, 75 commands)`);
  demand(
    sshConnections === 0 && writes === 0,
    `${count} nodes: a restart must change nothing: ${JSON.stringify(requests)}`,
  );
  if (count <= restartNodes) demand(seconds <= restartSeconds, `${count} nodes: a restart settles after ${time}`);
}

function checkGrowth(all: readonly FleetFigures[], base: FleetFigures): void {
  const [first] = all;
  if (first === undefined) return;
  for (const figures of all.slice(1)) {
    for (const phase of figures.phases.keys()) {
      if (phase === 'idle' || phase === 'restart') continue;
      const growth = cpuMsPerEvent(figures, phase, base) / cpuMsPerEvent(first, phase, base);
      const what = `${phase}: CPU per node at ${figures.count} nodes is ${growth.toFixed(2)} times that at ${first.count}`;
      demand(growth <= mostGrowth, `${what}, more than ${mostGrowth}`);
    }
  }
}

/** As in docs/performance.md. */
function tableOf(all: readonly FleetFigures[], base: FleetFigures): string {
  const head = ['phase', 'nodes', 'events', 'time', 'CPU', 'CPU per event', 'own stall', 'requests', 'passes'];
  const phases: Phase[] = ['start', 'restart', 'idle', 'label', 'heartbeats', ...renewalKinds];
  const rows = phases.flatMap(phase =>
    all.flatMap(figures => {
      const of = figures.phases.get(phase);
      if (of === undefined) return [];
      const perEvent = of.events === 0 ? '' : `${cpuMsPerEvent(figures, phase, base).toFixed(2)} ms`;
      const [time, cpu, stall] = [`${of.seconds.toFixed(1)} s`, `${of.cpuSeconds.toFixed(2)} s`, of.stallMs.toFixed(0)];
      const counts = [sum(Object.values(of.requests)), of.passes];
      return [[phase, figures.count, of.events, time, cpu, perEvent, `${stall} ms`, ...counts].join(' | ')];
    }),
  );
  const memory = all.map(({ count, residentBytes, heapBytes }) => {
    const per = (bytes: number) => `${(bytes / 1000 / count).toFixed(1)} KB`;
    const rest = `${per(residentBytes - base.residentBytes)} | ${per(heapBytes - base.heapBytes)}`;
    return `| ${count} | ${(residentBytes / 1e6).toFixed(0)} MB | ${(heapBytes / 1e6).toFixed(1)} MB | ${rest} |`;
  });
  return [
    '',
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...rows.map(row => `| ${row} |`),
    '',
    '| nodes | memory | heap | memory per node | heap per node |',
    `|${'---|'.repeat(5)}`,
    ...memory,
    '',
    `${imagesPerNode} images and ${podsPerNode} pods per node. CPU per event is without the idle load.`,
    `The renewals of an hour are sent within ${renewalSeconds} s: for an hour divide the load of the CPU by 120.`,
  ].join('\n');
}

function writesOf(requests: Readonly<Record<string, number>>): number {
  const writes = Object.entries(requests).filter(([request]) => /^(?:create|update|patch|delete)/.test(request));
  return sum(writes.map(([, count]) => count));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
