import { demand, measureJoin } from './join/measure.ts';
import { machineLoad } from './join/scene.ts';
import type { Report } from './run.ts';

export const description = 'how much longer 43 good hosts take to join beside 7 bad ones [ROUNDS]';

const [good, dead, payloadBytes] = [43, 5, 2_000_000];
const most = 1.1;

/** `npm run bench -- isolation [ROUNDS]`; exit code 1 if it takes over 10 % longer on a quiet machine. */
export async function run(report: Report, [rounds = '3']: readonly string[]): Promise<void> {
  const isQuiet = machineLoad(report);
  const [alone, beside]: [number[], number[]] = [[], []];
  // Alternately, so that other load affects both.
  for (let round = 0; round < Math.max(1, Number(rounds)); round += 1) {
    alone.push((await measureJoin({ hosts: good, payloadBytes })).seconds);
    beside.push(await besideBad());
  }
  const [without, withBad] = [Math.min(...alone), Math.min(...beside)];
  report(`${good} hosts alone`, without, 's');
  report(`the same beside ${dead} dead hosts, an unknown name and a malformed entry`, withBad, 's');
  report(`ratio (at most ${most})`, withBad / without, 'times');
  demand(!isQuiet || withBad <= most * without, `good hosts take over ${most} times as long beside bad ones`);
}

async function besideBad(): Promise<number> {
  const faults = Array.from({ length: dead }, (_, index) => `unreachable@win-${good + 1 + index}`);
  const more = { 'nowhere.example.com': 'username=Administrator', '10.9.9.9': 'user is Administrator' };
  const { seconds } = await measureJoin({ hosts: good + dead, payloadBytes, faults, more, ready: good });
  return seconds;
}
