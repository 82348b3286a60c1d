import { countedHosts, demand, type JoinFigures, measureJoin, reportEffort } from './join/measure.ts';
import { machineLoad } from './join/scene.ts';
import type { Report } from './run.ts';
import { wholeNumber } from './whole-number.ts';

export const description =
  'many hosts at once with a payload of 2 MB: time beside that of one, CPU, memory, stalls [HOSTS…]';

const payloadBytes = 2_000_000;

/** At most so many times as long as one host, and so many megabytes. */
const targets: ReadonlyMap<number, { times: number; megabytes: number }> = new Map([
  [50, { times: 2.2, megabytes: 150 }],
  [200, { times: 6, megabytes: 180 }],
  [1000, { times: 30, megabytes: 300 }],
]);
const mostStallMs = 150;
/** CPU of the operator per host, among most hosts beside fewest. */
const mostCpuRatio = 1.3;
const usage = 'npm run bench -- parallelism 50 200 1000';

/** `npm run bench -- parallelism [HOSTS…]`; exit code 1 if a target is missed. */
export async function run(report: Report, words: readonly string[]): Promise<void> {
  const isQuiet = machineLoad(report);
  const counts = words.length === 0 ? [...targets.keys()] : words.map(word => wholeNumber(word, usage));
  const one = await measure(report, 1);
  const cpuMs = new Map<number, number>();
  for (const hosts of counts) {
    const many = await measure(report, hosts);
    const { times: mostTimes = Infinity, megabytes = Infinity } = targets.get(hosts) ?? {};
    const times = many.seconds / one.seconds;
    report(`${countedHosts(hosts)}: beside one (at most ${mostTimes})`, times, 'times');
    demand(!isQuiet || times <= mostTimes, `${hosts} hosts took ${times.toFixed(1)} times as long as one`);
    demand(many.memoryBytes <= megabytes * 1e6, `the operator took over ${megabytes} MB for ${hosts} hosts`);
    demand(
      many.busiestStallMs <= mostStallMs,
      `the operator stood still for over ${mostStallMs} ms with ${hosts} hosts`,
    );
    cpuMs.set(hosts, (1000 * many.cpuSeconds) / hosts);
    report(`${countedHosts(hosts)}: CPU of the operator per host`, cpuMs.get(hosts) ?? 0, 'ms');
  }
  const [least = 0, most = 0] = [Math.min(...counts), Math.max(...counts)].map(hosts => cpuMs.get(hosts));
  report(`CPU per host, most hosts beside fewest (at most ${mostCpuRatio})`, most / least, 'times');
  demand(most <= mostCpuRatio * least, 'a host takes more CPU of the operator among many');
}

async function measure(report: Report, hosts: number): Promise<JoinFigures> {
  const figures = await measureJoin({ hosts, payloadBytes });
  report(`${countedHosts(hosts)}: until all are Ready`, figures.seconds, 's');
  reportEffort(report, countedHosts(hosts), figures);
  return figures;
}
