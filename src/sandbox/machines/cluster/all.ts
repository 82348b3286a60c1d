import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Controller } from '../../apiserver/ports.ts';
import type { FaultName } from '../faults.ts';
import type { Fleet } from '../fleet.ts';
import type { Times } from '../times.ts';
import { createCloud } from './cloud.ts';
import { endFaults } from './end-faults.ts';
import { createHostRequests } from './host-requests.ts';
import { createMachineApprover } from './machine-approver.ts';
import { createMachineSets } from './machine-sets.ts';
import { createMachines } from './machines.ts';
import { createNodeMonitor } from './node-monitor.ts';
import { createOverlaySubnets } from './overlay-subnets.ts';
import { createServiceCa } from './service-ca.ts';
import { setKeys } from './set-keys.ts';
import { Waits } from './waits.ts';

export interface ClusterOptions {
  /** Defaults to OpenShift. */
  kind?: 'openshift' | 'kubernetes';
  fleet: Fleet;
  platform: string;
  /** By name. */
  machineFaults: ReadonlyMap<string, readonly FaultName[]>;
  times: Times;
  clock: Clock;
  speed: number;
  log: Log;
}

/** Simulated controllers that Windows nodes depend on. */
export function clusterControllers(options: ClusterOptions): Controller[] {
  const { kind = 'openshift', fleet, times, clock, speed, log } = options;
  return [
    ...(kind === 'openshift' ? openshiftControllers(options) : []),
    createOverlaySubnets({
      waits: new Waits(clock, speed),
      subnetMs: times.subnetMs,
      isServed: address => fleet.at(address)?.spec.traits.getsSubnet ?? true,
      log,
    }),
    createNodeMonitor(clock, log),
    createHostRequests([endFaults(fleet), setKeys(fleet)], log),
  ];
}

function openshiftControllers(options: ClusterOptions): Controller[] {
  const { fleet, platform, machineFaults: faults, times, clock, speed, log } = options;
  return [
    createMachineSets(log),
    createMachines({
      cloud: createCloud({ fleet, platform, faults }),
      waits: new Waits(clock, speed),
      provisionMs: times.provisionMs,
      log,
    }),
    createMachineApprover(log),
    createServiceCa(clock, log),
  ];
}
