import { Fields, jsonIn } from '#base/fields.ts';

/** What the verb `activation` prints: how far the swap to another set of files is. */
export interface ActivationStatus {
  /**
   * `idle`: no swap was ordered since the next set was staged. `reverted`: the new agent did not report, and the host runs the former
   * files again. `failed`: neither set could be put in place; it is retried.
   */
  state: 'idle' | 'running' | 'done' | 'reverted' | 'failed';
  /** Of the set in place; '' when unknown. */
  version: string;
  /** What is being done, in words. */
  doing?: string;
  /** Why it was reverted or failed. */
  problem?: string;
}

const states = ['idle', 'running', 'done', 'reverted', 'failed'] as const;

/** Parses the answer of the agent. */
export function parseActivation(text: string, host: string): ActivationStatus {
  const fields = new Fields(jsonIn(text), `activation of ${host}`);
  const state = fields.requiredString('state');
  const [doing, problem] = [fields.string('doing'), fields.string('problem')];
  return {
    state: states.find(one => one === state) ?? 'failed',
    version: fields.string('version') ?? '',
    ...(doing !== undefined && { doing }),
    ...(problem !== undefined && { problem }),
  };
}
