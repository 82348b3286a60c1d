import { sameData } from '#base/compare.ts';
import {
  type AgentReport,
  emptyReport,
  parseReport,
  printReport,
  reportName,
  type ReportEvent,
} from '#contract/agent-report.ts';
import { managedByLabel, nodeAnnotation } from '#contract/names.ts';
import { defaultRollout, type RolloutSettings } from '#contract/rollout.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { ConfigMap } from '#kube/resources.ts';

export const reportLabels: Readonly<Record<string, string>> = { [managedByLabel.key]: managedByLabel.value };

/** The report as the operator creates it. */
export function newReport(node: string, namespace: string): ConfigMap {
  return {
    metadata: { name: reportName(node), namespace, labels: { ...reportLabels } },
    data: printReport(emptyReport),
  };
}

export type Repair =
  | { do: 'none' }
  | { do: 'replace'; report: ConfigMap }
  /** The API server does not allow to make an immutable object mutable. */
  | { do: 'recreate' };

/**
 * Removes what an agent must not set on an object in the operator's namespace: finalizers and owner references keep or delete objects,
 * labels and annotations affect controllers.
 */
export function repairOf(report: ConfigMap): Repair {
  const { finalizers = [], ownerReferences = [], labels, annotations = {}, ...metadata } = report.metadata;
  const { binaryData, immutable, ...rest } = report as ConfigMap & { binaryData?: unknown };
  if (immutable === true) return { do: 'recreate' };
  const isClean =
    finalizers.length === 0 &&
    ownerReferences.length === 0 &&
    Object.keys(annotations).length === 0 &&
    sameData(labels, reportLabels) &&
    binaryData === undefined &&
    immutable === undefined;
  if (isClean) return { do: 'none' };
  return { do: 'replace', report: { ...rest, metadata: { ...metadata, labels: { ...reportLabels } } } };
}

/** Versions that are known without the Node. */
export interface KnownVersions {
  /** Of this operator. */
  own: string;
  /** In the record of the instance: those that its host ran, or is upgraded from and to. */
  recorded: readonly string[];
}

export function knownVersions({ version, upgrade }: WindowsInstanceStatus, own: string): KnownVersions {
  const recorded = [version, upgrade?.from, upgrade?.to].filter(each => each !== undefined);
  return { own, recorded };
}

/** Annotations of the Node that differ from the report; null for one to remove. */
export function mirrorMarks(
  report: AgentReport,
  annotations: Readonly<Record<string, string>>,
  known: KnownVersions,
  { rebootsForVariables }: Pick<RolloutSettings, 'rebootsForVariables'> = defaultRollout,
): Record<string, string | null> {
  const { version, variablesBoot, bootId } = report;
  // After the reboot the agent reports another boot.
  const isForVariables = rebootsForVariables && variablesBoot !== '' && variablesBoot === bootId;
  const rebootRequired = report.rebootRequired || isForVariables;
  const marks: Record<string, string | null> = {};
  const claimed = annotations[nodeAnnotation.version];
  const isNews = version !== '' && claimed !== version;
  if (isNews && !isUpgradeRequest(claimed, known)) marks[nodeAnnotation.version] = version;
  const isMarked = Object.hasOwn(annotations, nodeAnnotation.rebootRequired);
  if (rebootRequired !== isMarked) marks[nodeAnnotation.rebootRequired] = rebootRequired ? '' : null;
  return marks;
}

/**
 * A user who sets a version that no one else would write wants the host to be upgraded; the upgrade removes it. Other differences are
 * news of the agent, or a Node that claims to be upgraded already.
 */
function isUpgradeRequest(claimed: string | undefined, { own, recorded }: KnownVersions): boolean {
  return claimed !== undefined && recorded.length > 0 && claimed !== own && !recorded.includes(claimed);
}

/** Events that are not in the earlier report, oldest first. */
export function newEvents(before: ConfigMap | undefined, now: AgentReport): ReportEvent[] {
  const known = new Set(parseReport(before?.data).events.map(idOf));
  return now.events.filter(event => !known.has(idOf(event)));
}

function idOf({ reason, message, time }: ReportEvent): string {
  return `${time} ${reason} ${message}`;
}
