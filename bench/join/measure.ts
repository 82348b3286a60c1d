import type { Report } from '../run.ts';
import { Scene, type SceneOptions } from './scene.ts';

/** Cost of a join of several hosts. */
export interface JoinFigures {
  seconds: number;
  commands: number;
  fileTransfers: number;
  /** Maximum of a single host. */
  mostSessions: number;
  receivedBytes: number;
  cpuSeconds: number;
  simulationSeconds: number;
  memoryBytes: number;
  longestStallMs: number;
  busiestStallMs: number;
}

export interface JoinWish extends SceneOptions {
  /** More entries. */
  more?: Record<string, string>;
  /** How many hosts must become Ready; defaults to all. */
  ready?: number;
}

/** Lists all hosts at once for a running operator, and waits until they are Ready. */
export async function measureJoin({ more = {}, ready, ...options }: JoinWish): Promise<JoinFigures> {
  await using scene = await Scene.open(options);
  await scene.startOperator();
  await scene.list(more);
  const seconds = await scene.untilReady(ready ?? options.hosts);
  return { seconds, ...(await costOf(scene)) };
}

export async function costOf(scene: Scene): Promise<Omit<JoinFigures, 'seconds'>> {
  const { hosts, cpuSeconds: simulationSeconds } = await scene.hostFigures();
  const seen = Object.values(hosts);
  const sum = (pick: (one: (typeof seen)[number]) => number) => seen.reduce((all, one) => all + pick(one), 0);
  return {
    commands: sum(({ execSessions }) => execSessions),
    fileTransfers: sum(({ sftpSessions }) => sftpSessions),
    mostSessions: Math.max(...seen.map(({ execSessions, sftpSessions }) => execSessions + sftpSessions)),
    receivedBytes: sum(({ uploadedBytes }) => uploadedBytes),
    simulationSeconds,
    ...(await scene.operatorFigures()),
  };
}

export function countedHosts(hosts: number): string {
  return `${hosts} host${hosts === 1 ? '' : 's'}`;
}

/** Figures that depend on the machine. */
export function reportEffort(report: Report, name: string, figures: JoinFigures, goMegabytes?: number): void {
  const go = goMegabytes === undefined ? '' : ` (Go: ${goMegabytes})`;
  report(`${name}: CPU of the operator`, figures.cpuSeconds, 's');
  report(`${name}: CPU of the simulated hosts and cluster`, figures.simulationSeconds, 's');
  report(`${name}: memory of the operator, at most${go}`, figures.memoryBytes / 1e6, 'MB');
  report(`${name}: longest stall of the operator`, figures.longestStallMs, 'ms');
  report(`${name}: longest stall, its own work only`, figures.busiestStallMs, 'ms');
}

/** Prints a missed target and sets the exit code. */
export function demand(isMet: boolean, what: string): void {
  if (isMet) return;
  console.error(`not met: ${what}`);
  process.exitCode = 1;
}
