import { countedHosts, demand, type JoinFigures, measureJoin, reportEffort } from './join/measure.ts';
import { machineLoad } from './join/scene.ts';
import type { Report } from './run.ts';

export const description =
  'many hosts at once with a payload of 2 MB: time beside that of one, memory, stalls [HOSTS…]';

const payloadBytes = 2_000_000;
/** Compared with one host. */
const [comparedHosts, mostTimes] = [50, 4];
const [mostMegabytes, mostStallMs] = [180, 200];

/** `npm run bench -- parallelism [HOSTS…]`; exit code 1 if a target is missed. */
export async function run(report: Report, words: readonly string[]): Promise<void> {
  const isQuiet = machineLoad(report);
  const one = await measure(report, 1);
  for (const hosts of words.length === 0 ? [comparedHosts, 200] : words.map(Number)) {
    const many = await measure(report, hosts);
    const times = many.seconds / one.seconds;
    const wanted = hosts === comparedHosts ? ` (at most ${mostTimes})` : '';
    report(`${countedHosts(hosts)}: beside one${wanted}`, times, 'times');
    demand(wanted === '' || times <= mostTimes, `${hosts} hosts took ${times.toFixed(1)} times as long as one`);
    const { memoryBytes, busiestStallMs, longestStallMs } = many;
    demand(memoryBytes <= mostMegabytes * 1e6, `the operator took over ${mostMegabytes} MB for ${hosts} hosts`);
    const stallMs = isQuiet ? longestStallMs : busiestStallMs;
    demand(stallMs <= mostStallMs, `the operator stood still for over ${mostStallMs} ms with ${hosts} hosts`);
  }
}

async function measure(report: Report, hosts: number): Promise<JoinFigures> {
  const figures = await measureJoin({ hosts, payloadBytes });
  report(`${countedHosts(hosts)}: until all are Ready`, figures.seconds, 's');
  reportEffort(report, countedHosts(hosts), figures);
  return figures;
}
