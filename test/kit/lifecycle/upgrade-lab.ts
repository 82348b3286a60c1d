import { readRecord } from '../../../src/agent/stage/record.ts';
import type { WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '../../../src/contract/names.ts';
import type { WindowsInstanceStatus } from '../../../src/contract/windows-instance/resource.ts';
import type { LifecycleParts } from '../../../src/controllers/lifecycle/controller.ts';
import { until } from '../until.ts';
import { type JoinLab, version } from './join-lab.ts';
import type { LabHost } from './lab-host.ts';
import { memoryPayload } from './memory-payload.ts';
import { joinedLab } from './removal-lab.ts';

export const newer = '11.1.0-def5678';

/** Of an operator of the newer version. */
export const newerParts = { version: newer, payload: memoryPayload('two') };

/** A host that the former version configured, and no operator. */
export async function upgradeLab(spec: Partial<WindowsInstance['spec']> = {}) {
  const { lab, host, operator } = await joinedLab({}, spec);
  await operator.stop();
  await lab.addServices(newer);
  host.commands.splice(0);
  host.uploads.splice(0);
  return { lab, host, start: (over: Partial<LifecycleParts> = {}) => lab.start({ ...newerParts, ...over }) };
}

/** Until the upgrade to this version is in service. */
export function upgraded(lab: JoinLab, to = newer): Promise<WindowsInstanceStatus> {
  return lab.statusWhen(
    ({ phase, upgrade, version: now }) =>
      phase === 'Ready' && upgrade?.to === to && upgrade.ready !== undefined && now === to,
  );
}

export function rolledBack(lab: JoinLab): Promise<WindowsInstanceStatus> {
  return lab.statusWhen(({ phase, upgrade }) => phase === 'Ready' && upgrade?.rolledBack !== undefined);
}

/** The Node takes pods and runs this version, as far as it says. */
export async function untilInService(lab: JoinLab, of = version): Promise<void> {
  await until(async () => {
    const node = await lab.node();
    const { annotations = {}, labels = {} } = node?.metadata ?? {};
    const isMarked =
      nodeAnnotation.cordoned in annotations || Object.keys(labels).some(key => key.endsWith('upgrading'));
    return node?.spec?.unschedulable === undefined && !isMarked && annotations[nodeAnnotation.version] === of;
  }, `the Node is in service with ${of}`);
}

/** Hash of the agent program of the files in place. */
export async function agentOf({ model }: LabHost): Promise<string> {
  return (await readRecord(model.files)).agent;
}

/** Hashes of the packed copies on the host. */
export function copiesOf({ model }: LabHost): string[] {
  return [...model.fileTexts.keys()].flatMap(path => /\\staged\\([0-9a-f]{64})/.exec(path)?.[1] ?? []);
}
