import { findCondition, type NewCondition } from '#base/condition.ts';
import { sentence } from '#base/trim-end.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type InstanceUpgrade, instanceCondition } from '#contract/windows-instance/resource.ts';
import { isHeldByPin } from '#contract/windows-instance/upgrade-state.ts';
import { conditionReason } from '../instance-status.ts';
import { choicesText } from './choices-text.ts';

/** The condition RolledBack. It is stored together with the record of the upgrade, so that an operator that is killed loses neither. */

export function rolledBackCondition(instance: WindowsInstance, upgrade: InstanceUpgrade): NewCondition {
  const { rolledBack: type } = instanceCondition;
  return { type, status: 'True', reason: upgrade.failed?.code ?? '', message: rolledBackMessage(instance, upgrade) };
}

/** A condition about an earlier upgrade is over. */
export function rollbackIsOver({ status }: WindowsInstance, version: string): NewCondition[] {
  const { rolledBack: type } = instanceCondition;
  if (findCondition(status?.conditions, type)?.status !== 'True') return [];
  return [{ type, status: 'False', reason: conditionReason.upgraded, message: `The host runs version ${version}` }];
}

function rolledBackMessage(instance: WindowsInstance, { from, to, failed }: InstanceUpgrade): string {
  const { name = '', namespace = '' } = instance.metadata;
  const choices = choicesText({ name, namespace, from, to, isPinned: isHeldByPin(instance, to) });
  return (
    `The host runs version ${from} again, because the upgrade to ${to} failed: ${sentence(failed?.message ?? '')} The roll-out ` +
    `of ${to} is stopped. ${choices}`
  );
}
