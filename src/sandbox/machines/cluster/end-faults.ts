import { parseFaultName } from '../faults.ts';
import type { Fleet } from '../fleet.ts';
import type { HostRequest } from './host-requests.ts';

/** On a WindowsInstance; the value is the name of a fault of its host, or `all`. */
export const endFaultAnnotation = 'sandbox.wmco/end-fault';

export type EndingFleet = Pick<Fleet, 'find' | 'faultsOf' | 'endFault'>;

export function endFaults(fleet: EndingFleet): HostRequest {
  return {
    annotation: endFaultAnnotation,
    done: 'FaultEnded',
    refused: 'FaultNotEnded',
    run(address, wanted) {
      const name = fleet.find(address)?.spec.name ?? address;
      const ended = wanted === 'all' ? fleet.faultsOf(name) : [parseFaultName(wanted)];
      for (const fault of ended) fleet.endFault(name, fault);
      return `ended: ${ended.join(', ') || 'none'}`;
    },
  };
}
