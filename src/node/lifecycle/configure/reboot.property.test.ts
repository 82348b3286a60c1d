import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { InstanceReboot } from '#contract/windows-instance/resource.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { LabHost } from '../../../../test/kit/lifecycle/lab-host.ts';
import type { Step } from '../step.ts';
import { takeInventory, uploadAgent } from './agent-program.ts';
import { rebootForSettings } from './agent-service.ts';
import { connect } from './connect.ts';
import type { ConfigureJourney } from './journey.ts';
import { packPrograms, prepareFiles } from './prepare-files.ts';
import { enableContainers, reboot, rename } from './prepare-windows.ts';
import { stageFiles, stagePrograms } from './stage.ts';

const steps: Step<ConfigureJourney>[] = [
  connect,
  prepareFiles,
  uploadAgent,
  takeInventory,
  packPrograms,
  rename,
  enableContainers,
  reboot,
  stagePrograms,
  stageFiles,
  rebootForSettings,
];

/** What outlives an operator: the host, the Node, and what was written to the status. */
interface CleanupFacts {
  host: LabHost;
  reboot: InstanceReboot | undefined;
  asksForReboot: boolean;
}

/** One life of an operator, which ends before its act of the number given; true when it came to the end of the way. */
async function live(remains: CleanupFacts, spec: { hostname?: string }, lastAct: number): Promise<boolean> {
  const { host } = remains;
  const record = { host: { name: 'win-5', addresses: [] } };
  const bench = new JourneyBench({ host, spec, record, reboot: remains.reboot });
  bench.pace = 2000;
  let acts = 0;
  const act = () => {
    acts += 1;
    if (acts === lastAct) bench.stop.abort(new Error('killed'));
    bench.stop.signal.throwIfAborted();
  };
  host.faults = {
    connect: act,
    upload: act,
    exec: command => {
      act();
      // Killed while the host has begun: what was ordered goes on without anybody who hears of it.
      if (acts + 1 === lastAct && command.includes(' reboot '))
        setTimeout(() => bench.stop.abort(new Error('killed')), 3);
      return undefined;
    },
  };
  const write = bench.journey.record.saveReboot.bind(bench.journey.record);
  bench.journey.record.saveReboot = async next => {
    act();
    await write(next);
    remains.reboot = next;
  };
  const annotations = remains.asksForReboot ? { [nodeAnnotation.rebootRequired]: '' } : {};
  bench.putNode({ metadata: { name: 'win-5', labels: { 'kubernetes.io/os': 'windows' }, annotations } });
  const { nodes } = bench.journey.deps;
  const clear = nodes.clearReport.bind(nodes);
  nodes.clearReport = async (...args) => {
    act();
    await clear(...args);
    remains.asksForReboot = false;
  };
  try {
    await bench.take(...steps);
    return true;
  } catch {
    return false;
  } finally {
    await bench.journey[Symbol.asyncDispose]();
  }
}

test('however often operators are killed on the way, a host is rebooted once for itself and once for its settings', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ isRenamed: fc.boolean(), needsFeature: fc.boolean(), asksForReboot: fc.boolean() }),
      fc.array(fc.integer({ min: 1, max: 16 }), { maxLength: 5 }),
      async ({ isRenamed, needsFeature, asksForReboot }, kills) => {
        const host = new LabHost('10.0.0.5');
        host.bootMs = 8;
        host.model.state.containersFeature = needsFeature ? 'disabled' : 'enabled';
        const remains: CleanupFacts = { host, reboot: undefined, asksForReboot };
        const spec = isRenamed ? { hostname: 'worker-7' } : {};
        for (const lastAct of kills) await live(remains, spec, lastAct);
        // Hosts that are still booting refuse the first attempts, as they refuse everybody.
        for (let attempt = 0; attempt < 20 && !(await live(remains, spec, Infinity)); attempt += 1) {
          await new Promise(resolve => setTimeout(resolve, 10));
        }
        const wanted = Number(isRenamed || needsFeature) + Number(asksForReboot);
        expect(host.boots - 1).toBe(wanted);
        expect(host.model.state.containersFeature).toBe('enabled');
        expect(host.model.state.hostName).toBe(isRenamed ? 'worker-7' : 'win-5');
        expect(host.uploads).toEqual([...new Set(host.uploads)]);
        expect(host.openConnections).toBe(0);
      },
    ),
    { numRuns: 40, seed: 20_260_301 },
  );
});
