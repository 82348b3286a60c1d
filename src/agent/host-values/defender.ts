import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { checkPlaces } from '#contract/host-path.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { HostPorts, ScriptRunner } from '../ports.ts';
import { changeState, readState } from '../state.ts';

type Ports = Pick<HostPorts, 'files' | 'scripts' | 'system'>;
type Asking = { clock: Clock; signal: AbortSignal };

const defenderProcess = 'MsMpEng';
const scriptLimitMs = 60_000;

/** Keeps Defender from looking at everything that a program reads and writes; asked for once, not in every pass. */
export async function excludeFromDefender(path: string, ports: Ports, asking: Asking): Promise<void> {
  checkPlaces([path], what => malformed(what));
  const { defenderExclusions: before } = await readState(ports.files);
  const others = before.filter(exclusion => exclusion.path !== path);
  if (before.some(exclusion => exclusion.path === path && exclusion.done)) return;
  if (!(await ports.system.isProcessRunning(defenderProcess))) return;
  // First the wish, so that what was half done is taken back too.
  await changeState(ports.files, { defenderExclusions: [...others, { path, done: false }] });
  await runBounded(`Add-MpPreference -ExclusionProcess ${quoted(path)} -ErrorAction Stop`, ports.scripts, asking);
  await changeState(ports.files, { defenderExclusions: [...others, { path, done: true }] });
}

/** Takes back the exclusions that were made here. What Defender itself has forgotten, or is not there to hear, is fine. */
export async function includeInDefender(ports: Ports, asking: Asking): Promise<void> {
  const { defenderExclusions } = await readState(ports.files);
  if (defenderExclusions.length === 0) return;
  if (await ports.system.isProcessRunning(defenderProcess)) {
    const paths = defenderExclusions.map(({ path }) => quoted(path)).join(',');
    await runBounded(`Remove-MpPreference -ExclusionProcess ${paths} -ErrorAction Stop`, ports.scripts, asking);
  }
  await changeState(ports.files, { defenderExclusions: [] });
}

async function runBounded(text: string, scripts: ScriptRunner, { clock, signal }: Asking): Promise<void> {
  const error = () =>
    new AppError('SCRIPT_TIMEOUT', `${shown(text)} did not end within ${scriptLimitMs} ms`, {
      remedy: 'See whether Microsoft Defender answers on the host.',
    });
  await withDeadline({ clock, ms: scriptLimitMs, error, signal }, deadline => scripts.run(text, deadline));
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}

function malformed(what: string): AppError {
  return new AppError('SERVICES_MALFORMED', `preparation defender-exclusion: ${what}`, {
    remedy: 'Delete the ConfigMap; the operator writes it anew.',
  });
}
