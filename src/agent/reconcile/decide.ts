import { AppError } from '#base/errors.ts';
import type { AgentReport } from '#contract/agent-report.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot } from '#contract/node-marks.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import { type EnvironmentPlan, variableKey } from '../environment/plan.ts';
import type { AgentState, RebootRecord } from '../state.ts';

/** Whether a pass has anything to do; decided before the host is inspected. */
export type PassStart = { go: true; version: string } | { go: false; why: string };

/**
 * The services are those of the set of files in place, so that programs and services are never of two versions; the
 * annotation counts when the version of the set is not known.
 */
export function decideStart(node: NodeView | undefined, setVersion: string): PassStart {
  if (node === undefined) return { go: false, why: 'the Node does not exist' };
  if (awaitsReboot(node)) return { go: false, why: `Node ${node.name} is waiting for a reboot` };
  const desired = node.annotations[nodeAnnotation.desiredVersion] ?? '';
  if (desired === '') return { go: false, why: `Node ${node.name} has no desired version` };
  return { go: true, version: setVersion === '' ? desired : setVersion };
}

export interface RebootInput {
  environment: EnvironmentPlan;
  /** Undefined when the bundle could not be read: then certificates cause no reboot. */
  certificates: CertificatePlan | undefined;
  /** The environment of the agent, and so of every service. */
  processEnvironment: Readonly<Record<string, string | undefined>>;
  requested: RebootRecord | undefined;
  bootId: string;
}

export interface RebootDecision {
  needed: boolean;
  /** Reasons without values, which may contain a password. */
  because: string[];
  /** Variables that processes see with another value than that in the registry. */
  variables: string[];
  /** Why a reboot does not help; services are reconciled nevertheless. */
  problem: AppError | undefined;
}

/** Compares actual with desired state instead of what this pass has changed, so that an interrupted pass decides the same. */
export function decideReboot(input: RebootInput): RebootDecision {
  const { environment, certificates, requested, bootId } = input;
  const stale = staleVariables(environment.expected, input.processEnvironment);
  const stubborn = stale.filter(name => wasRebootedFor(name, requested, bootId) && !environment.changed);
  const pending = stale.filter(name => !stubborn.includes(name));
  const because = [
    ...(environment.changed ? [`machine variables change: ${changedNames(environment).join(', ')}`] : []),
    ...(certificates?.changed
      ? [`trusted certificates change: ${certificates.add.length} added, ${certificates.remove.length} removed`]
      : []),
    ...(pending.length > 0 && !environment.changed ? [`processes do not see ${pending.join(', ')} yet`] : []),
    ...(isRebootRequired(requested, bootId) ? ['the requested reboot has not happened yet'] : []),
  ];
  return {
    needed: because.length > 0,
    because,
    variables: [...new Set([...stale, ...changedNames(environment)])],
    problem: stubborn.length === 0 ? undefined : notEffective(stubborn),
  };
}

/** The version is reported last, when the host is configured, and only if it has changed or this boot was not confirmed. */
export function needsVersion(
  node: NodeView | undefined,
  report: Pick<AgentReport, 'version' | 'confirmedBoot'>,
  { version, setVersion, bootId }: { version: string; setVersion: string; bootId: string },
): boolean {
  const start = decideStart(node, setVersion);
  // The desired version may have changed while the services were started.
  return start.go && start.version === version && (report.version !== version || report.confirmedBoot !== bootId);
}

/** A reboot requested in this boot has not happened yet; one of another boot has. */
export function isRebootRequired(requested: RebootRecord | undefined, bootId: string): boolean {
  return requested?.bootId === bootId;
}

/** The host was rebooted since the last pass, and nobody ordered that in the boot before. */
export function isUnplannedReboot(
  { lastBoot }: Pick<AgentState, 'lastBoot'>,
  { bootId, ordered }: { bootId: string; ordered: string | undefined },
): boolean {
  return lastBoot !== undefined && lastBoot !== bootId && ordered !== lastBoot;
}

function changedNames({ writes, restores, removals }: EnvironmentPlan): string[] {
  return [...[...writes, ...restores].map(({ name }) => name), ...removals];
}

function staleVariables(
  expected: Readonly<Record<string, string>>,
  process: RebootInput['processEnvironment'],
): string[] {
  const seen = new Map(Object.entries(process).map(([name, value]) => [variableKey(name), value]));
  return Object.keys(expected).filter(
    name => (expected[name] ?? '').trim() !== (seen.get(variableKey(name)) ?? '').trim(),
  );
}

/** A variable that has no effect after a reboot will not have one after another reboot. */
function wasRebootedFor(name: string, requested: RebootRecord | undefined, bootId: string): boolean {
  if (requested === undefined || requested.bootId === bootId) return false;
  return requested.variables.map(variableKey).includes(variableKey(name));
}

function notEffective(names: readonly string[]): AppError {
  return new AppError(
    'ENVIRONMENT_NOT_EFFECTIVE',
    `machine variables ${names.join(', ')} have other values in processes, even after a reboot`,
    { remedy: 'Remove them from the environment of the SYSTEM account (HKEY_USERS\\.DEFAULT\\Environment).' },
  );
}
