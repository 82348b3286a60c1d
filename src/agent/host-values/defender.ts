import { AppError, shown } from '#base/errors.ts';
import { checkPlaces } from '#contract/host-path.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import type { HostPorts, ScriptRunner } from '../ports.ts';
import { changeState, readState } from '../state.ts';

type Ports = Pick<HostPorts, 'files' | 'scripts' | 'system'>;
type Limits = Omit<Waiting, 'patience'>;

const defenderProcess = 'MsMpEng';
const scriptLimitMs = 60_000;

/** Excludes a program from Defender scans; done once, not in every pass. */
export async function excludeFromDefender(path: string, ports: Ports, limits: Limits): Promise<void> {
  checkPlaces([path], malformed);
  const { defenderExclusions: before } = await readState(ports.files);
  const others = before.filter(exclusion => exclusion.path !== path);
  if (before.some(exclusion => exclusion.path === path && exclusion.done)) return;
  if (!(await ports.system.isProcessRunning(defenderProcess))) return;
  // Recorded first, so that an interrupted change is reverted, too.
  await changeState(ports.files, { defenderExclusions: [...others, { path, done: false }] });
  await runBounded(`Add-MpPreference -ExclusionProcess ${quoted(path)} -ErrorAction Stop`, ports.scripts, limits);
  await changeState(ports.files, { defenderExclusions: [...others, { path, done: true }] });
}

/** Removes the exclusions that the agent has added. */
export async function includeInDefender(ports: Ports, limits: Limits): Promise<void> {
  const { defenderExclusions } = await readState(ports.files);
  if (defenderExclusions.length === 0) return;
  if (await ports.system.isProcessRunning(defenderProcess)) {
    const paths = defenderExclusions.map(({ path }) => quoted(path)).join(',');
    await runBounded(`Remove-MpPreference -ExclusionProcess ${paths} -ErrorAction Stop`, ports.scripts, limits);
  }
  await changeState(ports.files, { defenderExclusions: [] });
}

async function runBounded(text: string, scripts: ScriptRunner, { clock, signal }: Limits): Promise<void> {
  const error = () =>
    new AppError('SCRIPT_TIMEOUT', `${shown(text)} did not end within ${scriptLimitMs / 1000} s`, {
      remedy: 'Check that Microsoft Defender responds on the host: Get-MpComputerStatus.',
    });
  await withDeadline({ clock, ms: scriptLimitMs, error, signal }, deadline => scripts.run(text, deadline));
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}

function malformed(what: string): AppError {
  return new AppError('SERVICES_MALFORMED', `preparation defender-exclusion: ${what}`, {
    remedy: 'Delete the services ConfigMap; the operator creates it again.',
  });
}
