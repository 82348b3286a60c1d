import { AppError, isAppError } from '#base/errors.ts';
import type { ActivationStatus } from '#contract/activation.ts';
import { keptSets } from '../activation/journal.ts';
import { orderActivation } from '../activation/order.ts';
import { runActivation } from '../activation/run.ts';
import { activationStatus } from '../activation/status.ts';
import { withHostLock } from '../lock/host-lock.ts';
import type { ServiceLife } from '../ports.ts';
import type { FlagValues } from './flags.ts';
import { logIn, waitingIn } from './one-shot.ts';
import type { Answer, Verb, VerbDeps } from './verb.ts';

export const activate: Verb = {
  name: 'activate',
  summary: 'order the swap to the next or the previous set of files, which a temporary Windows service carries out',
  required: [],
  optional: ['set', 'desired-version', 'windows-service', 'log-dir', 'log-file-max-size'],
  changesHost: true,
  async run(values, deps) {
    if (values['windows-service'] === 'true') {
      await deps.asService(life => carryOut(values, deps, life));
      return undefined;
    }
    const [set, version] = [keptSets.find(each => each === values.set), values['desired-version']];
    if (set === undefined || version === '') throw incomplete();
    const host = deps.host();
    await orderActivation({ set, version, program: deps.program }, host, waitingIn(deps));
    return answerOf(await activationStatus(host.files));
  },
};

export const activation: Verb = {
  name: 'activation',
  summary: 'print how far the swap to another set of files is',
  required: [],
  optional: [],
  async run(_values, deps) {
    return answerOf(await activationStatus(deps.host().files));
  },
};

/** The command that ordered the swap ends soon. */
const busyMs = 5000;
/** Neither set could be put in place: what the disk or a service needs may take a while. */
const retryMs = 10_000;

/** Repeats until the swap is over, because nobody else would finish it. */
async function carryOut(values: FlagValues, deps: VerbDeps, life: ServiceLife): Promise<void> {
  const { clock } = deps;
  const { signal } = life;
  const log = logIn(values, deps);
  life.ready();
  for (;;) {
    try {
      const host = deps.host();
      const order = { what: 'activate --windows-service', waitMs: busyMs };
      const swap = () => runActivation(host, waitingIn({ clock, signal }), log);
      return await withHostLock(order, { ports: host, clock, signal, pid: deps.pid }, swap);
    } catch (error) {
      signal.throwIfAborted();
      log.error('Swapping files failed; retrying', { error });
      if (!isAppError(error, 'HOST_BUSY')) await clock.sleep(retryMs, signal);
    }
  }
}

function answerOf(status: ActivationStatus): Answer {
  const { state, version, doing, problem } = status;
  const lines = [
    `Swap:    ${state}${doing === undefined ? '' : `, ${doing}`}`,
    `Version: ${version === '' ? 'unknown' : version}`,
    ...(problem === undefined ? [] : [`Problem: ${problem}`]),
  ];
  return { text: lines.join('\n'), data: status };
}

function incomplete(): AppError {
  return new AppError('USAGE', 'activate needs --set and --desired-version, or --windows-service', {
    remedy: 'Run `activate --set next --desired-version <version>`; the verb `inventory` prints the sets.',
  });
}
