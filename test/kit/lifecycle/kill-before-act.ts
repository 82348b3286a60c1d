import type { Client } from '../../../src/kube/client.ts';
import type { JoinLab, LabOperator } from './join-lab.ts';
import type { LabHost } from './lab-host.ts';

/** Kills an operator right before its act of a number, counting all it does to the host, and these verbs of its client. */
export class KillBeforeAct {
  /** For the operator that is killed. */
  readonly client: Client;
  operator: LabOperator | undefined;
  readonly #number: number;
  #acts = 0;

  constructor(lab: JoinLab, { faults }: LabHost, number: number, verbs: readonly (keyof Client)[]) {
    this.#number = number;
    const act = () => this.#act();
    faults.exec = () => {
      act();
      return undefined;
    };
    faults.upload = act;
    faults.removeFolder = act;
    faults.connect = act;
    this.client = new Proxy(lab.client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (verbs.some(verb => verb === name)) act();
        return typeof member === 'function' ? (member as (...args: unknown[]) => unknown).bind(target) : member;
      },
    });
  }

  get isReached(): boolean {
    return this.#acts >= this.#number;
  }

  #act(): void {
    this.#acts += 1;
    if (this.#acts === this.#number) void this.operator?.kill();
  }
}
