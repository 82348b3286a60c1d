import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { isRetryRequested } from '#contract/windows-instance/upgrade-state.ts';
import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { annotateInstance } from '../annotate-instance.ts';
import { jsonText, oneLine, safe, yamlText } from '../safe-text.ts';
import type { ClusterSession } from '../status/cluster-session.ts';
import { findInstance } from '../status/instance-target.ts';
import { rolloutLines } from '../status/screen/rollout-lines.ts';
import { countText, valueText } from '../status/view/amounts.ts';
import { rolloutOf } from '../status/view/rollout.ts';
import type { AskingTerminal, ExitCode } from '../terminal.ts';
import { acceptableRollbacks, checkRetry, pinnedVersion, remainingWaits, retriedText, versionToPin } from './decide.ts';
import type { RolloutCommandName, RolloutOptions } from './options.ts';
import { setPaused } from './pause.ts';

interface RolloutContext {
  session: ClusterSession;
  options: RolloutOptions;
  terminal: AskingTerminal;
}

type Run = (context: RolloutContext) => Promise<ExitCode>;

/** What each command of `wmco rollout` does in a cluster. */
export const rolloutCommands: Readonly<Record<RolloutCommandName, Run>> = {
  show: async ({ session, options, terminal }) => {
    const rollout = rolloutOf(session.view);
    if (options.form === 'json') terminal.out(jsonText({ rollout: rollout ?? null }), 'data');
    else if (options.form === 'yaml') terminal.out(yamlText({ rollout: rollout ?? null }), 'data');
    else if (rollout === undefined) session.print('No version is known yet: the operator has not reported it.');
    else for (const line of rolloutLines(rollout, terminal.clock.now())) terminal.out(safe`${line}\n`);
    for (const note of options.form === 'text' ? session.view.notes : []) session.print(`Note: ${note}`);
    return rollout?.isStopped === true ? 1 : 0;
  },

  pause: async ({ session }) => {
    const { view, print } = session;
    const isPaused = view.rollout['paused'] === 'true';
    if (!isPaused) await setPaused(true, session);
    print(
      isPaused ? 'The roll-out was paused already.' : 'The roll-out is paused. To go on, run `wmco rollout resume`.',
    );
    const inService = new Set(
      view.nodes.flatMap(({ name, ready, unschedulable }) => (ready && !unschedulable ? [name] : [])),
    );
    const isKnown = !view.unread.includes('nodes');
    const nodes = view.grants.flatMap(({ node }) => (isKnown && !inService.has(node) ? [node] : []));
    const names = `${nodes.slice(0, 5).join(', ')}${nodes.length > 5 ? ', …' : ''}`;
    if (nodes.length > 0)
      print(`Out of service, and finished nevertheless: ${countText(nodes.length, 'node')} (${names}).`);
    return 0;
  },

  resume: async ({ session }) => {
    const { view, print } = session;
    const isPaused = !['', 'false'].includes(view.rollout['paused'] ?? '');
    if (isPaused) await setPaused(false, session);
    print(isPaused ? 'The roll-out goes on.' : 'The roll-out was not paused.');
    const rollout = rolloutOf({ ...view, rollout: { ...view.rollout, paused: 'false' } });
    for (const line of remainingWaits(rollout)) print(line);
    return 0;
  },

  continue: async context => {
    const { session } = context;
    const { view, print } = session;
    const rollout = rolloutOf(view);
    const rollbacks = acceptableRollbacks(rollout);
    const version = rollout?.version ?? '';
    print(`The upgrade to ${version} failed on ${countText(rollbacks.length, 'host')}:`);
    for (const { host, from, isStuck, code, message } of rollbacks) {
      const runs = isStuck ? `still with ${version}, because its rollback to ${from} failed, too` : `back at ${from}`;
      print(`- ${host}, ${runs}: ${code}: ${message}`);
    }
    if (!(await isConfirmed(`Type yes to upgrade the other hosts to ${version} nevertheless: `, context))) {
      print('The roll-out stays stopped.');
      return 1;
    }
    const hosts = new Set(rollbacks.map(({ host }) => host));
    for (const instance of view.instances.filter(({ metadata }) => hosts.has(metadata.name ?? ''))) {
      const annotation = { [instanceAnnotation.acceptedRollback]: version };
      const done = await annotateInstance(instance, annotation, session).catch(unless(isGone));
      print(done ?? `WindowsInstance ${instance.metadata.name} is gone.`);
    }
    print('The roll-out goes on. Hosts that went back keep their version.');
    const stuck = rollbacks.flatMap(({ host, isStuck }) => (isStuck ? [host] : []));
    for (const host of stuck)
      print(`The rollback of ${host} is still tried; \`wmco status ${host}\` says why it fails.`);
    if (rollout?.isPaused === true) print('It is paused, too; to go on, run `wmco rollout resume`.');
    return 0;
  },

  retry: async ({ session, options }) => {
    const { view, print, clock } = session;
    const target = findInstance(view, options.host);
    checkRetry(target);
    const { retry, acceptedRollback } = instanceAnnotation;
    print(await annotateInstance(target.instance, { [retry]: timestamp(clock.now()) }, session));
    // Otherwise a second failure would not stop the roll-out.
    if (Object.hasOwn(target.instance.metadata.annotations ?? {}, acceptedRollback))
      print(await annotateInstance(target.instance, { [acceptedRollback]: null }, session));
    print(retriedText(target));
    for (const line of remainingWaits(rolloutOf(view), target.host.name)) print(line);
    return 0;
  },

  pin: async ({ session, options }) => {
    const { view, print } = session;
    const target = findInstance(view, options.host);
    const version = versionToPin(target, options.version);
    print(await annotateInstance(target.instance, { [instanceAnnotation.pinnedVersion]: version }, session));
    print(`Host ${target.host.name} stays at ${version}, until \`wmco rollout unpin ${target.host.name}\`.`);
    if (rolloutOf(view)?.isStopped === true)
      print('The roll-out is still stopped; to upgrade the other hosts, run `wmco rollout continue`.');
    return 0;
  },

  unpin: async ({ session, options }) => {
    const { view, print } = session;
    const target = findInstance(view, options.host);
    const version = pinnedVersion(target);
    print(await annotateInstance(target.instance, { [instanceAnnotation.pinnedVersion]: null }, session));
    print(`Host ${target.host.name} was pinned to ${valueText(version)}, and is upgraded with the others again.`);
    // A host that was retried meanwhile is tried now, and stops nothing.
    const freed = isRetryRequested(target.instance) ? target.host.name : undefined;
    for (const line of remainingWaits(rolloutOf(view), freed)) print(line);
    return 0;
  },
};

/** Deleted meanwhile, or deleted and created again. */
function isGone(error: unknown): boolean {
  return isNotFound(error) || isConflict(error);
}

async function isConfirmed(question: string, { options, terminal }: RolloutContext): Promise<boolean> {
  const { ask, signal } = terminal;
  if (options.yes) return true;
  if (ask === undefined) {
    throw new AppError('USAGE', 'there is no terminal to confirm it', {
      remedy: 'Pass --yes to go on without a question.',
    });
  }
  const answer = await ask(oneLine(question)).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return '';
  });
  return answer.trim().toLowerCase() === 'yes';
}
