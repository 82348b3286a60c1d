import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Controller } from '../../apiserver/ports.ts';
import type { FaultName } from '../faults.ts';
import type { Fleet } from '../fleet.ts';
import type { Times } from '../times.ts';
import { createCloud } from './cloud.ts';
import { createEndFaults } from './end-faults.ts';
import { createMachineApprover } from './machine-approver.ts';
import { createMachineSets } from './machine-sets.ts';
import { createMachines } from './machines.ts';
import { createNodeMonitor } from './node-monitor.ts';
import { createOverlaySubnets } from './overlay-subnets.ts';
import { Waits } from './waits.ts';

export interface ClusterOptions {
  fleet: Fleet;
  platform: string;
  /** By name. */
  machineFaults: ReadonlyMap<string, readonly FaultName[]>;
  times: Times;
  clock: Clock;
  speed: number;
  log: Log;
}

/** Simulated OpenShift controllers that Windows nodes depend on. */
export function clusterControllers(options: ClusterOptions): Controller[] {
  const { fleet, platform, machineFaults: faults, times, clock, speed, log } = options;
  const waits = () => new Waits(clock, speed);
  return [
    createMachineSets(log),
    createMachines({
      cloud: createCloud({ fleet, platform, faults }),
      waits: waits(),
      provisionMs: times.provisionMs,
      log,
    }),
    createMachineApprover(log),
    createOverlaySubnets({
      waits: waits(),
      subnetMs: times.subnetMs,
      isServed: address => fleet.at(address)?.spec.traits.getsSubnet ?? true,
      log,
    }),
    createNodeMonitor(clock, log),
    createEndFaults(fleet, log),
  ];
}
