import type { AgentReport } from '#contract/agent-report.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import type { EnvironmentPlan } from '../environment/plan.ts';
import type { AgentState } from '../state.ts';

/** Whether a pass has anything to do; decided before the host is inspected. */
export type PassStart = { go: true; version: string } | { go: false; why: string };

/**
 * The services are those of the set of files in place, so that programs and services are never of two versions; the
 * annotation counts when the version of the set is not known.
 */
export function decideStart(node: NodeView | undefined, setVersion: string): PassStart {
  if (node === undefined) return { go: false, why: 'the Node does not exist' };
  const desired = node.annotations[nodeAnnotation.desiredVersion] ?? '';
  if (desired === '') return { go: false, why: `Node ${node.name} has no desired version` };
  return { go: true, version: setVersion === '' ? desired : setVersion };
}

/** What changes on the host, without values, which may contain a password. */
export function describeSettings(environment: EnvironmentPlan, certificates: CertificatePlan | undefined): string[] {
  const { writes, restores, removals } = environment;
  const names = [...[...writes, ...restores].map(({ name }) => name), ...removals];
  return [
    ...(environment.changed ? [`machine variables ${names.join(', ')}`] : []),
    ...(certificates?.changed
      ? [`trusted certificates (${certificates.add.length} added, ${certificates.remove.length} removed)`]
      : []),
  ];
}

/** The version is reported last, when the host is configured, and only if it has changed or this boot was not confirmed. */
export function needsVersion(
  report: Pick<AgentReport, 'version' | 'confirmedBoot'>,
  { version, bootId }: { version: string; bootId: string },
): boolean {
  return report.version !== version || report.confirmedBoot !== bootId;
}

/** The desired version may have changed while the services were started. */
export function isStillDesired(
  node: NodeView | undefined,
  { version, setVersion }: { version: string; setVersion: string },
): boolean {
  const start = decideStart(node, setVersion);
  return start.go && start.version === version;
}

/** The host was rebooted since the last pass, and nobody ordered that in the boot before. */
export function isUnplannedReboot(
  { lastBoot }: Pick<AgentState, 'lastBoot'>,
  { bootId, ordered }: { bootId: string; ordered: string | undefined },
): boolean {
  return lastBoot !== undefined && lastBoot !== bootId && ordered !== lastBoot;
}
