import { AppError } from '#base/errors.ts';
import type { AgentReport } from '#contract/agent-report.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot } from '#contract/node-marks.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import { type EnvironmentPlan, variableKey } from '../environment/plan.ts';
import type { RebootRecord } from '../state.ts';

/** Whether a pass has anything to do, asked before anything on the host is looked at. */
export type PassStart = { go: true; version: string } | { go: false; why: string };

/** `launchedFor` is the only version this agent may apply, if it was told one. */
export function decideStart(node: NodeView | undefined, launchedFor?: string): PassStart {
  if (node === undefined) return { go: false, why: 'the Node does not exist' };
  if (awaitsReboot(node)) return { go: false, why: `Node ${node.name} awaits a reboot` };
  const version = node.annotations[nodeAnnotation.desiredVersion] ?? '';
  if (version === '') return { go: false, why: `Node ${node.name} has no desired version` };
  if (launchedFor !== undefined && launchedFor !== version) {
    return { go: false, why: `Node ${node.name} wants version ${version}, and this agent is for ${launchedFor}` };
  }
  return { go: true, version };
}

export interface RebootInput {
  environment: EnvironmentPlan;
  /** Undefined when the bundle could not be read: then certificates are no reason for anything. */
  certificates: CertificatePlan | undefined;
  /** What the agent itself, and so every service, sees. */
  processEnvironment: Readonly<Record<string, string | undefined>>;
  asked: RebootRecord | undefined;
  bootId: string;
}

export interface RebootDecision {
  needed: boolean;
  /** Reasons without values, for values may hold a password. */
  because: string[];
  /** Variables whose value in processes is not the one in the registry. */
  variables: string[];
  /** Why the host cannot become as wanted by a reboot; the services may still be taken care of. */
  problem: AppError | undefined;
}

/**
 * Compares what is with what has to be instead of asking what this pass has changed, so that a pass cut short anywhere
 * comes to the same answer the next time.
 */
export function decideReboot(input: RebootInput): RebootDecision {
  const { environment, certificates, asked, bootId } = input;
  const stale = staleVariables(environment.expected, input.processEnvironment);
  const stubborn = stale.filter(name => wasRebootedFor(name, asked, bootId) && !environment.changed);
  const hopeful = stale.filter(name => !stubborn.includes(name));
  const because = [
    ...(environment.changed ? [`machine variables change: ${changedNames(environment).join(', ')}`] : []),
    ...(certificates?.changed
      ? [`trusted certificates change: ${certificates.add.length} added, ${certificates.remove.length} removed`]
      : []),
    ...(hopeful.length > 0 && !environment.changed ? [`processes do not see ${hopeful.join(', ')} yet`] : []),
    ...(isRebootRequired(asked, bootId) ? ['a reboot asked for has not happened yet'] : []),
  ];
  return {
    needed: because.length > 0,
    because,
    variables: [...new Set([...stale, ...changedNames(environment)])],
    problem: stubborn.length === 0 ? undefined : notEffective(stubborn),
  };
}

/** The version is reported last, when all is true, and only if the report does not say so already. */
export function needsVersion(
  node: NodeView | undefined,
  report: Pick<AgentReport, 'version'>,
  version: string,
): boolean {
  const start = decideStart(node);
  // The operator may have changed its mind while the services were started.
  return start.go && start.version === version && report.version !== version;
}

/** A reboot that was asked for in this boot has not happened yet; in any other boot it has. */
export function isRebootRequired(asked: RebootRecord | undefined, bootId: string): boolean {
  return asked?.bootId === bootId;
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

/** After a reboot for a variable it must be in effect; if it is not, another reboot will not help either. */
function wasRebootedFor(name: string, asked: RebootRecord | undefined, bootId: string): boolean {
  if (asked === undefined || asked.bootId === bootId) return false;
  return asked.variables.map(variableKey).includes(variableKey(name));
}

function notEffective(names: readonly string[]): AppError {
  return new AppError(
    'ENVIRONMENT_NOT_EFFECTIVE',
    `machine variables ${names.join(', ')} are not what processes see, even after a reboot`,
    { remedy: 'Remove them from the own environment of the SYSTEM account (HKEY_USERS\\.DEFAULT\\Environment).' },
  );
}
