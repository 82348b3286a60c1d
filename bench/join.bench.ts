import { setTimeout as delay } from 'node:timers/promises';
import { countedHosts, demand, measureJoin, reportEffort } from './join/measure.ts';
import { machineLoad, Scene } from './join/scene.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description =
  'hosts that join at once, by the delays of the Go operator’s measurement [MEGABYTES] [HOSTS | resumed | idle …]';

const usage = 'npm run bench -- join 207 1 10';

/** Figures of the Go operator, and our targets. */
const goSeconds = new Map([
  [1, 84.5],
  [10, 848],
]);
const wantedSeconds = new Map([
  [1, 20],
  [10, 70],
]);
const [goCommands, goTransfers, wantedSessions] = [81, 26, 8];
const [goMegabytes, wantedMegabytes] = [76, new Map([[10, 150]])];

/** `npm run bench -- join [MEGABYTES] [HOSTS | resumed | idle …]`; exit code 1 if a target is missed. */
export async function run(report: Report, [size = '207', ...rounds]: readonly string[]): Promise<void> {
  const bytes = wholeNumber(size, usage) * 1_000_000;
  const isQuiet = machineLoad(report);
  for (const round of rounds.length === 0 ? ['1', '10', 'resumed', '50'] : rounds) {
    if (round === 'resumed') await measureResumed(report, bytes);
    else if (round === 'idle') await measureIdle(report, bytes);
    else await measureHosts(report, wholeNumber(round, usage), { bytes, isQuiet });
  }
}

async function measureHosts(
  report: Report,
  hosts: number,
  { bytes, isQuiet }: { bytes: number; isQuiet: boolean },
): Promise<void> {
  const name = countedHosts(hosts);
  const figures = await measureJoin({ hosts, payloadBytes: bytes });
  const { seconds, commands, fileTransfers, mostSessions, receivedBytes } = figures;
  const [go, wanted] = [goSeconds.get(hosts), wantedSeconds.get(hosts)];
  report(`${name}: until all are Ready${compared(go, wanted)}`, seconds, 's');
  report(`${name}: commands per host${compared(goCommands)}`, commands / hosts, 'sessions');
  report(`${name}: file transfers per host${compared(goTransfers)}`, fileTransfers / hosts, 'sessions');
  report(`${name}: most sessions of a host${compared(undefined, wantedSessions)}`, mostSessions, 'sessions');
  report(`${name}: commands and file transfers in all`, commands + fileTransfers, 'sessions');
  report(`${name}: received by hosts`, receivedBytes / 1e6, 'MB');
  reportEffort(report, name, figures, goMegabytes);
  demand(mostSessions <= wantedSessions, `${mostSessions} sessions on a host are more than ${wantedSessions}`);
  demand(receivedBytes >= hosts * bytes * 0.99, 'less than the payload has arrived');
  const mostMegabytes = wantedMegabytes.get(hosts) ?? Infinity;
  demand(figures.memoryBytes <= mostMegabytes * 1e6, `${name} took over ${mostMegabytes} MB`);
  demand(!isQuiet || wanted === undefined || seconds <= wanted, `${name} took longer than ${wanted} s`);
}

/** Kills the operator while all hosts wait for their Nodes; the next one must not send programs again. */
async function measureResumed(report: Report, payloadBytes: number): Promise<void> {
  const hosts = 3;
  await using scene = await Scene.open({ hosts, payloadBytes });
  const received = async () => {
    const { hosts: seen } = await scene.hostFigures();
    return Object.values(seen).reduce((sum, { uploadedBytes }) => sum + uploadedBytes, 0);
  };
  await scene.startOperator();
  await scene.list();
  const isPastUpload = () =>
    scene.instances.length === hosts && scene.instances.every(({ status }) => waits.has(status?.step ?? ''));
  await scene.until(isPastUpload, `all ${hosts} hosts wait for their Nodes`);
  await scene.killOperator();
  const before = await received();
  await scene.startOperator();
  const seconds = await scene.untilReady(hosts);
  const again = (await received()) - before;
  report('resumed after kill -9: received before', before / 1e6, 'MB');
  report('resumed after kill -9: sent again, texts with fresh tokens included', again / 1e6, 'MB');
  report('resumed after kill -9: from the next operator’s start until all are Ready', seconds, 's');
  demand(before >= hosts * payloadBytes * 0.99, 'the operator was killed before the payload had arrived');
  demand(again < hosts * 1_000_000, `${again} bytes were sent again`);
}

/** Memory some time after the last host has joined. */
async function measureIdle(report: Report, payloadBytes: number): Promise<void> {
  const hosts = 10;
  await using scene = await Scene.open({ hosts, payloadBytes });
  await scene.startOperator();
  await scene.list();
  await scene.untilReady(hosts);
  const most = (await scene.operatorFigures()).memoryBytes;
  report('idle: memory of the operator while 10 hosts joined, at most', most / 1e6, 'MB');
  await delay(idleMs);
  const { residentBytes } = await scene.operatorFigures();
  const megabytes = residentBytes / 1e6;
  report(`idle: memory of the operator ${idleMs / 1000} s later (at most ${idleMegabytes})`, megabytes, 'MB');
  demand(megabytes <= idleMegabytes, `the idle operator took over ${idleMegabytes} MB`);
}

const [idleMs, idleMegabytes] = [60_000, 110];

/** Steps that mostly wait. */
const waits: ReadonlySet<string> = new Set(['bootstrap', 'find node', 'mark node', 'agent service', 'wait for agent']);

function compared(go: number | undefined, wanted?: number): string {
  const parts = [...(go === undefined ? [] : [`Go: ${go}`]), ...(wanted === undefined ? [] : [`at most ${wanted}`])];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
