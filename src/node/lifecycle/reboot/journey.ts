import { awaitsReboot } from '#contract/node-marks.ts';
import { AgentJourney } from '../host-journey.ts';
import { openRequest } from './due.ts';

/** A host that is rebooted because its agent or an administrator asked for it. */
export class RebootJourney extends AgentJourney {
  /** Set when this attempt orders the reboot. */
  hasRebooted = false;

  /** Why the host has to be rebooted still; undefined when that is not so any more. */
  get reason(): string | undefined {
    const request = openRequest(this.instance, this.record.known);
    if (request !== undefined) return `request ${request}`;
    return this.node !== undefined && awaitsReboot(this.node) ? 'variables and certificates' : undefined;
  }
}
