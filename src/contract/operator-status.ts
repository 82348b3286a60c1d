import type { Condition, NewCondition } from '#base/condition.ts';
import { isRecord } from '#base/fields.ts';

/**
 * Conditions of the operator itself, in the ConfigMap `windows-machine-config-operator-status`: nothing in every cluster has a status
 * for them.
 */

/** Key of the ConfigMap's data; the value is a JSON list. */
export const conditionsKey = 'conditions';
/** Key of the version of the operator: the version of the roll-out. */
export const versionKey = 'version';
/** Key of the version of the kubelet in the payload of the operator. */
export const kubeletVersionKey = 'kubeletVersion';

/** Whether the cluster supports Windows nodes. */
export const clusterSuitable = 'ClusterSuitable';
/** Whether the settings of the disruption budget, in the ConfigMap `windows-rollout`, are valid. */
export const rolloutSettings = 'RolloutSettings';
/** Whether all profiles in the ConfigMap `windows-kubelet-config` can be used. */
export const kubeletSettings = 'KubeletSettings';
/** Whether everything is there that settings of hosts are made of. */
export const hostSettings = 'HostSettings';

export interface ReportedProblem {
  code: string;
  message: string;
  remedy: string;
}

const maxCharacters = 100_000;
const maxConditions = 20;
const maxProblems = 20;
const maxLine = 1000;

export function printConditions(conditions: readonly Condition[]): Record<string, string> {
  return { [conditionsKey]: `${JSON.stringify(conditions, undefined, 2)}\n` };
}

/** Reads what `printConditions` wrote; anything else is left out. */
export function readConditions(data: Readonly<Record<string, unknown>> | undefined): Condition[] {
  const text = data?.[conditionsKey];
  if (typeof text !== 'string' || text.length > maxCharacters) return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.slice(0, maxConditions).flatMap(readCondition) : [];
  } catch {
    return [];
  }
}

/** The condition for these problems: the reason is the code of the first, the message has a line for each. */
export function suitabilityCondition(problems: readonly ReportedProblem[]): NewCondition {
  return conditionFor(clusterSuitable, problems, { reason: 'AllChecksPassed', message: 'All checks pass.' });
}

/** The condition for invalid settings of the disruption budget, in the same form. */
export function rolloutCondition(problems: readonly ReportedProblem[]): NewCondition {
  return conditionFor(rolloutSettings, problems, { reason: 'Valid', message: 'All settings are valid.' });
}

/** The condition for profiles of kubelet settings that are ignored, in the same form. */
export function kubeletCondition(problems: readonly ReportedProblem[]): NewCondition {
  return conditionFor(kubeletSettings, problems, { reason: 'Valid', message: 'All profiles can be used.' });
}

/** The condition for what is missing for settings of hosts, in the same form. */
export function hostCondition(problems: readonly ReportedProblem[]): NewCondition {
  return conditionFor(hostSettings, problems, { reason: 'Complete', message: 'Hosts get changed settings.' });
}

function conditionFor(
  type: string,
  problems: readonly ReportedProblem[],
  without: Pick<NewCondition, 'reason' | 'message'>,
): NewCondition {
  const [first] = problems;
  if (first === undefined) return { type, status: 'True', ...without };
  const lines = problems.slice(0, maxProblems).map(problemLine);
  return { type, status: 'False', reason: first.code, message: lines.join('\n') };
}

/** The problems in a condition, for `wmco status`. */
export function problemsIn({ status, reason = '', message = '' }: Condition): ReportedProblem[] {
  if (status !== 'False') return [];
  return message
    .split('\n', maxProblems)
    .filter(line => line !== '')
    .map(line => {
      const [, code = reason, rest = line] = /^([A-Z][A-Z_]{2,63}): (.+)$/.exec(line) ?? [];
      const arrow = rest.lastIndexOf(separator);
      return arrow === -1
        ? { code, message: rest, remedy: '' }
        : { code, message: rest.slice(0, arrow), remedy: rest.slice(arrow + separator.length) };
    });
}

const separator = ' -> ';

function problemLine({ code, message, remedy }: ReportedProblem): string {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, maxLine);
  return `${code}: ${oneLine(message)}${separator}${oneLine(remedy)}`;
}

function readCondition(value: unknown): Condition[] {
  if (!isRecord(value)) return [];
  const { type, status, reason, message, lastTransitionTime } = value;
  if (typeof type !== 'string' || typeof status !== 'string') return [];
  return [
    {
      type,
      status,
      ...(typeof reason === 'string' && { reason }),
      ...(typeof message === 'string' && { message }),
      ...(typeof lastTransitionTime === 'string' && { lastTransitionTime }),
    },
  ];
}
