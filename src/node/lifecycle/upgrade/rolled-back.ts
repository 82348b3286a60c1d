import { findCondition, type NewCondition } from '#base/condition.ts';
import { sentence } from '#base/trim-end.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { type InstanceUpgrade, instanceCondition } from '#contract/windows-instance/resource.ts';
import { conditionReason } from '../instance-status.ts';

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

function rolledBackMessage({ metadata }: WindowsInstance, { from, to, failed }: InstanceUpgrade): string {
  const { name, namespace } = metadata;
  const annotate = `kubectl annotate windowsinstance ${name} -n ${namespace} --overwrite`;
  const { retry, acceptedRollback, pinnedVersion } = instanceAnnotation;
  return (
    `The host runs version ${from} again, because the upgrade to ${to} failed: ${sentence(failed?.message ?? '')} The roll-out ` +
    `of ${to} is stopped. To try it again, run \`${annotate} ${retry}=$(date +%s)\`. To upgrade the other hosts nevertheless, run ` +
    `\`${annotate} ${acceptedRollback}=${to}\`. To keep this host at its version, run \`${annotate} ${pinnedVersion}=${from}\`.`
  );
}
