import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Starts the files that take minutes first, so that no worker is left alone with one of them at the end. */
const long = [
  'test/windows/rollback.test.ts',
  'test/windows/kills.test.ts',
  'test/windows/upgrade-kills.test.ts',
  'test/windows/operator.test.ts',
  'test/windows/cleanup.test.ts',
  'test/windows/drift.test.ts',
  'test/windows/cycles.test.ts',
  'test/windows/settings.test.ts',
  'test/windows/upgrade.test.ts',
  'test/windows/power-cuts.test.ts',
  'test/windows/rotation.test.ts',
  'test/windows/services.test.ts',
  'test/windows/service-host.test.ts',
  'test/windows/host-ports.test.ts',
  'test/windows/verbs.test.ts',
  'test/cluster/uninstall.test.ts',
  'test/cluster/leader.test.ts',
  'test/cluster/informer.test.ts',
  'test/cluster/parity.test.ts',
  'test/cluster/agent-access.test.ts',
  'test/cluster/agent-identity.test.ts',
  'test/scenarios/story-rollout.test.ts',
  'test/scenarios/operator-kills.test.ts',
  'test/scenarios/sandbox-command.test.ts',
  'test/scenarios/removal-kills.test.ts',
  'test/scenarios/upgrade-kills.test.ts',
  'test/scenarios/faulty-hosts.test.ts',
  'test/scenarios/remedies.test.ts',
  'test/scenarios/cut-short.test.ts',
  'test/scenarios/upgrade.test.ts',
  'test/scenarios/status.test.ts',
  'src/controllers/lifecycle/upgrade-resume.test.ts',
  'test/unit/removal-schedules.test.ts',
  'tools/build-agent/build-agent.test.ts',
  'src/controllers/lifecycle/resume.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = long.findIndex(name => moduleId.endsWith(name));
      return index === -1 ? long.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
