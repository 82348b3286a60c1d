import { AppError } from '#base/errors.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { UpgradeJourney } from '#node/lifecycle/upgrade/journey.ts';
import { RollbackJourney } from '#node/lifecycle/upgrade/rollback-journey.ts';
import { rollback, upgrade } from '#node/lifecycle/upgrade/steps.ts';
import { changeFailureEvents } from '../events.ts';
import type { JourneyKind, JourneyParts } from './run-journey.ts';

export const upgradeKind: JourneyKind<UpgradeJourney> = {
  name: 'upgrade',
  run: upgrade,
  phase: 'Upgrading',
  create: (instance, deps, record, parts) =>
    new UpgradeJourney(instance, deps, record, { version: parts.version, announce: announcer(instance, parts) }),
  needsAcceptance: true,
  failure: error => error,
  failureEvents: (instance, error) => changeFailureEvents(instance, error, 'upgrade'),
  waitsFor: ({ wait }) => wait,
  finish: async (journey, { version }, log) => {
    const { node, record, from, wait, address } = journey;
    if (wait !== undefined) {
      log.info('Upgrade waits', { why: wait });
      await record.hold(node, version, `upgrade ${from} -> ${version} is staged and waits: ${wait}`);
      return;
    }
    if (node === undefined) return;
    log.info('Upgraded node', { Node: node.name, from, to: version, ...journey.host.usage() });
    journey.announce(eventText.instanceUpgraded(address, node.name, from, version));
    await record.finish(node, version);
  },
};

export const rollbackKind: JourneyKind<RollbackJourney> = {
  name: 'rollback',
  run: rollback,
  phase: 'RollingBack',
  create: (instance, deps, record, parts) =>
    new RollbackJourney(instance, deps, record, { announce: announcer(instance, parts) }),
  // A host that is rejected meanwhile must not stay out of service.
  needsAcceptance: false,
  failure: withFirstCause,
  failureEvents: (instance, error) => changeFailureEvents(instance, error, 'rollback'),
  waitsFor: ({ wait }) => wait,
  finish: async (journey, { version }, log) => {
    const { node, record, target, wait } = journey;
    const { to } = journey.upgrade;
    if (wait !== undefined) {
      log.info('Rollback waits', { why: wait });
      await record.hold(node, version, `rollback ${to} -> ${target} waits: ${wait}`);
      return;
    }
    if (node === undefined) return;
    log.warn('Rolled back node', { Node: node.name, from: to, to: target, ...journey.host.usage() });
    await record.finish(node, version);
  },
};

/** The failure of a rollback does not hide why it was started. */
function withFirstCause(error: AppError, { record }: RollbackJourney): AppError {
  const { failed, from, to } = record.known.upgrade ?? {};
  const message = `the rollback to version ${from} failed: ${error.message}; the upgrade to ${to} had failed with ${failed?.code}: ${failed?.message}`;
  return new AppError(error.code, message, { remedy: error.remedy, cause: error });
}

function announcer(instance: WindowsInstance, { recorder }: JourneyParts): (text: EventText) => void {
  return text => recordEvent(recorder, instance, text);
}
