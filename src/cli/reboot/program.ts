import { timestamp } from '#base/clock.ts';
import { commandHelp } from '#base/command-line.ts';
import { AppError, shown } from '#base/errors.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { parseRollout } from '#contract/rollout.ts';
import { nextRebootMs } from '#node/lifecycle/reboot/due.ts';
import { annotateInstance } from '../annotate-instance.ts';
import { apiRefused } from '../api-refused.ts';
import { printable, type SafeText, safe } from '../safe-text.ts';
import { shellWord } from '../shell-quote.ts';
import { watchCluster } from '../status/cluster-reader.ts';
import { type ClusterSession, withCluster } from '../status/cluster-session.ts';
import { findInstance, type InstanceTarget, requestRefused } from '../status/instance-target.ts';
import { timeText } from '../status/screen/time-text.ts';
import { durationText } from '../status/view/amounts.ts';
import { budgetText } from '../status/view/budget.ts';
import { rebootsOf } from '../status/view/reboots.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { readRebootOptions, rebootLine, type RebootOptions } from './options.ts';
import { type RebootEnd, type RebootRequest, watchReboot } from './watch-reboot.ts';

/** Runs `wmco reboot`. */
export async function rebootProgram(words: readonly string[], terminal: LiveTerminal): Promise<ExitCode> {
  const options = readRebootOptions(words, terminal.environment);
  if (options === undefined) {
    terminal.out(printable(commandHelp(rebootLine)));
    return 0;
  }
  try {
    return await withCluster(options, terminal, session => requestReboot(session, options, terminal));
  } catch (error) {
    throw apiRefused(error, options);
  }
}

async function requestReboot(
  session: ClusterSession,
  options: RebootOptions,
  terminal: LiveTerminal,
): Promise<ExitCode> {
  const { view, print, clock } = session;
  const target = findInstance(view, options.host);
  const { host, instance } = target;
  const node = host.nodeName;
  if (node === undefined) {
    throw requestRefused(
      `host ${shown(host.name)} has no Node: it is ${host.phase}`,
      `Run the command again when \`wmco status ${shellWord(host.name)}\` shows Ready.`,
    );
  }
  const value = timestamp(clock.now());
  print(await annotateInstance(instance, { [instanceAnnotation.reboot]: value }, session));
  print(
    `The operator drains Node ${node}, reboots the host and uncordons the Node; it waits while ` +
      `${budgetText(view)} or more other Windows Nodes are out of service.`,
  );
  const waits = waitTexts(target, session);
  for (const line of waits) print(line);
  if (!options.wait) return 0;
  if (waits.length > 0) {
    print(`The reboot stays requested. ${cancelText(host.name, session)}`);
    return 1;
  }
  if (!view.isOperatorRunning && !view.unread.includes('lease')) {
    print('The reboot starts when the operator runs.');
    return 1;
  }
  const end = await watch({ uid: instance.metadata.uid, value }, session, options, terminal);
  return printEnd(end, { name: host.name, node }, session, options);
}

/** What keeps the host waiting, as far as it is known. */
function waitTexts({ host, instance }: InstanceTarget, { view, clock }: ClusterSession): string[] {
  const reboots = rebootsOf(host);
  const nextMs = nextRebootMs(reboots?.ordered, clock.now());
  return [
    ...(nextMs === undefined
      ? []
      : [`It was rebooted ${reboots?.limit} times in 24 h; the next reboot is after ${timeText(timestamp(nextMs))}.`]),
    ...(instance.spec.paused === true
      ? ['spec.paused of the host is true; the reboot waits until you remove it.']
      : []),
    ...(parseRollout(view.rollout).settings.isPaused
      ? ['The roll-out is paused, and the reboot waits; to go on, run `wmco rollout resume`.']
      : []),
  ];
}

function cancelText(name: string, { namespace }: ClusterSession): string {
  const annotate = `kubectl annotate windowsinstance ${name} -n ${namespace}`;
  return `To cancel it before it starts, run \`${annotate} ${instanceAnnotation.reboot}-\`.`;
}

async function watch(
  request: RebootRequest,
  session: ClusterSession,
  { timeoutMs }: RebootOptions,
  terminal: LiveTerminal,
): Promise<RebootEnd> {
  const { signal, clock } = session;
  const print = (line: SafeText) => terminal.out(safe`${line}\n`);
  try {
    await using cluster = await watchCluster(session, signal);
    // Awaited here: the cluster is no longer watched after this function.
    return await watchReboot(request, { cluster, print, clock, signal, timeoutMs });
  } catch (error) {
    if (!signal.aborted) throw error;
    return 'stopped';
  }
}

function printEnd(
  end: RebootEnd,
  { name, node }: { name: string; node: string },
  session: ClusterSession,
  { timeoutMs }: RebootOptions,
): ExitCode {
  const { print } = session;
  const following = `\`wmco status -w ${shellWord(name)}\` follows it`;
  if (end === 'timed out') {
    throw new AppError('REBOOT_UNFINISHED', `host ${name} was not rebooted after ${durationText(timeoutMs)}`, {
      remedy: `The reboot goes on; ${following}.`,
    });
  }
  if (end === 'rebooted') print(`Host ${name} was rebooted; Node ${node} is Ready.`);
  if (end === 'replaced') print('The request was canceled, or another one has replaced it.');
  if (end === 'gone') print(`WindowsInstance of host ${name} is gone.`);
  if (end === 'stopped') print(`The reboot goes on; ${following}. ${cancelText(name, session)}`);
  return end === 'rebooted' ? 0 : 1;
}
