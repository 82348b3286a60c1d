import { findCondition, type NewCondition } from '#base/condition.ts';
import { recordEvent } from '#cluster/instance-events.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { eventText } from '#contract/events.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { appliedSettingsCondition } from '#node/lifecycle/instance-status.ts';
import { RefreshJourney, RestartJourney } from '#node/lifecycle/refresh/journey.ts';
import { refresh, restart } from '#node/lifecycle/refresh/steps.ts';
import { settingsFailureEvents } from '../events.ts';
import type { JourneyKind } from './run-journey.ts';

export const refreshKind: JourneyKind<RefreshJourney> = {
  name: 'refresh',
  run: refresh,
  phase: 'Refreshing',
  create: (instance, deps, record) => new RefreshJourney(instance, deps, record),
  needsAcceptance: true,
  failure: error => error,
  failureEvents: settingsFailureEvents,
  finish: async ({ node, changedFiles, instance, record, host }, { version }, log) => {
    if (node === undefined) return;
    log.info('Refreshed files of host', { Node: node.name, changedFiles, ...host.usage() });
    await record.finish(node, version, appliedCondition(instance));
  },
};

export const restartKind: JourneyKind<RestartJourney> = {
  name: 'restart',
  run: restart,
  phase: 'Restarting',
  create: (instance, deps, record) => new RestartJourney(instance, deps, record),
  needsAcceptance: true,
  failure: error => error,
  failureEvents: settingsFailureEvents,
  finish: async ({ node, instance, record, address }, { version, recorder }, log) => {
    if (node === undefined) return;
    log.info('Applied settings of services', { Node: node.name });
    recordEvent(recorder, instance, eventText.settingsApplied(address, node.name));
    await record.finish(node, version, appliedCondition(instance));
  },
};

/** A host that never failed or waited needs no condition. */
function appliedCondition({ status }: WindowsInstance): NewCondition[] {
  const known = findCondition(status?.conditions, instanceCondition.settingsApplied);
  return known?.status === 'False' ? [appliedSettingsCondition] : [];
}
